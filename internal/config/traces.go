package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Names of OpenTelemetry's own variables ("OTLP Exporter Configuration").
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
	Own           DSN      // ANSWERSCOPE_OTLP_ENDPOINT: a base; goes before the others
	Traces        DSN      // OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: a whole address
	Base          DSN      // OTEL_EXPORTER_OTLP_ENDPOINT: a base
	Headers       Secret   // OTEL_EXPORTER_OTLP_HEADERS, name=value,…: often with a key; the exporter reads them itself
	TracesHeaders Secret   // OTEL_EXPORTER_OTLP_TRACES_HEADERS, the same
	Disabled      trueFlag // OTEL_SDK_DISABLED=true: trace nothing, whatever else is set
}

// A trueFlag is a variable that is true or not set.
type trueFlag bool

func (t *trueFlag) set(value string) { *t = trueFlag(strings.EqualFold(value, "true")) }

// Masked is "" where it is not set.
func (t *trueFlag) Masked() string {
	if *t {
		return "true"
	}
	return ""
}

// Endpoint is the whole address that traces are posted to; "" when nothing is traced.
func (c Collector) Endpoint() string {
	switch {
	case bool(c.Disabled):
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

// validate checks the settings in use. A mistake must be found here: the exporter would print a malformed value, even a
// secret, on stderr.
func (c Collector) validate(m *mistakes) {
	if c.Endpoint() == "" {
		return
	}
	for _, e := range []struct {
		name  string
		given DSN
	}{{Prefix + "OTLP_ENDPOINT", c.Own}, {otelTracesEndpoint, c.Traces}, {otelEndpoint, c.Base}} {
		base, err := url.Parse(e.given.Reveal())
		// It takes no credentials: the exporter would leave them out.
		if e.given.IsSet() && (err != nil || !IsWeb(e.given.Reveal()) || base.User != nil || base.RawQuery != "" ||
			base.Fragment != "") {
			m.add(fmt.Errorf("%s is %q: want http://HOST:PORT or https://…, without credentials and without ?; a "+
				"key goes into %s", e.name, e.given.Masked(), otelHeaders))
		}
	}
	for _, h := range []struct {
		name  string
		given Secret
	}{{otelHeaders, c.Headers}, {otelTracesHeaders, c.TracesHeaders}} {
		if h.given.IsSet() && slices.ContainsFunc(strings.Split(h.given.Reveal(), ","), notHeader) {
			m.add(fmt.Errorf("%s is %q: want name=value,name=value with values percent-encoded", h.name,
				h.given.Masked()))
		}
	}
}

// notHeader reports whether the exporter could not read a pair as name=value.
func notHeader(pair string) bool {
	name, value, ok := strings.Cut(pair, "=")
	name = strings.TrimSpace(name)
	_, err := url.PathUnescape(value)
	return !ok || err != nil || name == "" || strings.Trim(name, tokenLetters) != ""
}

// tokenLetters may be in a header's name (RFC 9110 §5.6.2).
const tokenLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"
