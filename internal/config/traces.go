package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Names of the variables that tell every program where traces go (OpenTelemetry, "OTLP Exporter Configuration").
const (
	otelEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otelTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	otelHeaders        = "OTEL_EXPORTER_OTLP_HEADERS"
	otelTracesHeaders  = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
	otelDisabled       = "OTEL_SDK_DISABLED"
)

// tracesPath is added to the base of a collector.
const tracesPath = "/v1/traces"

// A Collector is what takes traces, as the environment names it.
type Collector struct {
	Own           DSN    // ANSWERSCOPE_OTLP_ENDPOINT: a base, for us alone; goes before the others
	Traces        DSN    // OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: a whole address
	Base          DSN    // OTEL_EXPORTER_OTLP_ENDPOINT: a base
	Headers       Secret // OTEL_EXPORTER_OTLP_HEADERS, name=value,…: they often hold a key; the exporter reads them itself
	TracesHeaders Secret // OTEL_EXPORTER_OTLP_TRACES_HEADERS, the same
	Disabled      bool   // OTEL_SDK_DISABLED=true: trace nothing, whatever else is set
}

func collector(env map[string]string) Collector {
	return Collector{
		Own:           NewDSN(env[Prefix+"OTLP_ENDPOINT"]),
		Traces:        NewDSN(env[otelTracesEndpoint]),
		Base:          NewDSN(env[otelEndpoint]),
		Headers:       NewSecret(env[otelHeaders]),
		TracesHeaders: NewSecret(env[otelTracesHeaders]),
		Disabled:      strings.EqualFold(env[otelDisabled], "true"),
	}
}

// Endpoint is the whole address that traces are posted to; "" when nothing is traced.
func (c Collector) Endpoint() string {
	switch {
	case c.Disabled:
		return ""
	case c.Own.IsSet():
		return strings.TrimSuffix(c.Own.Reveal(), "/") + tracesPath
	case c.Traces.IsSet():
		return c.Traces.Reveal()
	case c.Base.IsSet():
		return strings.TrimSuffix(c.Base.Reveal(), "/") + tracesPath
	}
	return ""
}

func (c Collector) variables() []Variable {
	disabled := ""
	if c.Disabled {
		disabled = "true"
	}
	return []Variable{
		{Prefix + "OTLP_ENDPOINT", c.Own.Masked()},
		{otelTracesEndpoint, c.Traces.Masked()},
		{otelEndpoint, c.Base.Masked()},
		{otelHeaders, c.Headers.Masked()},
		{otelTracesHeaders, c.TracesHeaders.Masked()},
		{otelDisabled, disabled},
	}
}

// validate looks at what will be used. A mistake must be found here: the exporter would print what it cannot read, a
// secret too, on stderr.
func (c Collector) validate() error {
	if c.Endpoint() == "" {
		return nil
	}
	return errors.Join(
		endpoint(Prefix+"OTLP_ENDPOINT", c.Own),
		endpoint(otelTracesEndpoint, c.Traces),
		endpoint(otelEndpoint, c.Base),
		headers(otelHeaders, c.Headers),
		headers(otelTracesHeaders, c.TracesHeaders),
	)
}

// endpoint takes no credentials: the exporter would leave them out.
func endpoint(name string, given DSN) error {
	if !given.IsSet() {
		return nil
	}
	base, err := url.Parse(given.Reveal())
	if err != nil || webAddress(given.Reveal()) != nil || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return fmt.Errorf("%s is %q: want http://HOST:PORT or https://…, without credentials and without ?; a key goes into %s", name, given.Masked(), otelHeaders)
	}
	return nil
}

// headers are as the exporter takes them.
func headers(name string, given Secret) error {
	if !given.IsSet() {
		return nil
	}
	for pair := range strings.SplitSeq(given.Reveal(), ",") {
		header, value, ok := strings.Cut(pair, "=")
		if _, err := url.PathUnescape(value); !ok || err != nil || strings.Trim(strings.TrimSpace(header), tokenLetters) != "" || strings.TrimSpace(header) == "" {
			return fmt.Errorf("%s is %q: want name=value,name=value with values percent-encoded", name, given.Masked())
		}
	}
	return nil
}

// tokenLetters are those of a header's name (RFC 9110 §5.6.2).
const tokenLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"
