// Package tracing sends OpenTelemetry traces to a collector, over OTLP as HTTP and protobuf.
//
// Traces never delay the work: a span that the collector does not accept is dropped, and a warning is logged at most
// every five minutes. Nothing here is global: what opens spans is handed the provider, or finds its parent in the
// context.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/gofrs/uuid/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
)

// Config is where traces go and which are kept. Headers, certificates, timeout and compression are read by the
// exporter from the standard variables OTEL_EXPORTER_OTLP_…, and the sizes of its queue from OTEL_BSP_….
type Config struct {
	Endpoint string  // URL that traces are posted to, http://collector:4318/v1/traces; "" traces nothing
	Part     string  // which part of answerscope this process is: all, pipeline, queryapi
	Ratio    float64 // share of the traces begun here that are kept, 0 to 1; a caller decides for its own
}

// DefaultConfig traces nothing until it has an Endpoint.
func DefaultConfig() Config { return Config{Ratio: 1} }

// Validate returns everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	address, err := url.Parse(c.Endpoint)
	if c.Endpoint != "" && (err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https") {
		// The address is not shown: it may hold a secret.
		errs = append(errs, errors.New("traces endpoint: want http://… or https://…"))
	}
	if !(c.Ratio >= 0 && c.Ratio <= 1) { // NaN is neither
		errs = append(errs, fmt.Errorf("traces ratio %v: want 0 to 1", c.Ratio))
	}
	return errors.Join(errs...)
}

// Traces are the traces of this process.
type Traces struct {
	provider *sdk.TracerProvider // nil when nothing is traced
	flush    time.Duration       // how long the end waits for the last spans to be sent
	log      *slog.Logger
}

// New connects to nothing: the first spans do.
func New(cfg Config, log *slog.Logger) (*Traces, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	t := &Traces{flush: 5 * time.Second, log: log}
	if cfg.Endpoint == "" {
		return t, nil
	}
	ctx := context.Background() // the exporter only checks whether it has ended
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(cfg.Endpoint))
	if err != nil {
		return nil, fmt.Errorf("open traces exporter: %w", err)
	}
	version := "unknown"
	if build, ok := debug.ReadBuildInfo(); ok {
		version = build.Main.Version
	}
	process, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(
			semconv.ServiceName("answerscope"),
			semconv.ServiceVersion(version),
			semconv.ServiceInstanceID(uuid.Must(uuid.NewV4()).String()),
			attribute.String("answerscope.part", cfg.Part),
		),
		resource.WithFromEnv(), // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override the above
	)
	if err != nil {
		return nil, fmt.Errorf("describe traces: %w", err)
	}
	t.provider = sdk.NewTracerProvider(
		sdk.WithBatcher(&dropping{SpanExporter: exporter, log: log, seldom: rate.Sometimes{Interval: 5 * time.Minute}}),
		sdk.WithResource(process),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(cfg.Ratio))),
	)
	return t, nil
}

// Provider hands out tracers; nil when nothing is traced.
func (t *Traces) Provider() trace.TracerProvider {
	if t.provider == nil {
		return nil
	}
	return t.provider
}

// Run waits for ctx to end, then sends the remaining spans, for at most 5 s. It is listed before every part that opens
// spans, so that it stops after them.
func (t *Traces) Run(ctx context.Context) error {
	<-ctx.Done()
	if t.provider == nil {
		return nil
	}
	flushing, done := context.WithTimeout(context.WithoutCancel(ctx), t.flush)
	defer done()
	if err := t.provider.Shutdown(flushing); err != nil {
		t.log.Warn("last traces not sent", "cause", err, "next", "nothing: only traces are lost")
	}
	return nil
}

// dropping is an exporter that logs dropped spans itself: the SDK would print every failure, and not to our log.
type dropping struct {
	sdk.SpanExporter
	log *slog.Logger

	seldom  rate.Sometimes // for warnings of dropped spans
	dropped int            // spans since the last one
}

// ExportSpans never fails, since the SDK could do nothing about it. The SDK calls it once at a time.
func (d *dropping) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := d.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	d.dropped += len(spans)
	d.seldom.Do(func() {
		d.log.Warn("traces not sent", "spans", d.dropped, "cause", err,
			"next", "only traces are lost; check the collector of ANSWERSCOPE_OTLP_ENDPOINT")
		d.dropped = 0
	})
	return nil
}
