// Package tracing sends OpenTelemetry traces to a collector, over OTLP as HTTP and protobuf.
//
// A trace is told beside the work and never holds it up: a span that nobody takes is dropped, and that is said seldom.
// Nothing here is global. Who opens spans is handed the provider, or finds its parent in the context.
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
)

// Config says where traces go and which are kept. Headers, certificates, timeout and compression are those of the
// standard variables OTEL_EXPORTER_OTLP_…, which the exporter reads itself, and the sizes of its queue OTEL_BSP_….
type Config struct {
	Endpoint string        // address that traces are posted to, http://collector:4318/v1/traces; "" traces nothing
	Part     string        // which part of answerscope this process is: all, pipeline, queryapi
	Ratio    float64       // share of the traces begun here that are kept, 0 to 1; of others their caller has decided
	Flush    time.Duration // how long the end waits for the last spans to be taken
}

// DefaultConfig traces nothing until it has an Endpoint.
func DefaultConfig() Config { return Config{Ratio: 1, Flush: 5 * time.Second} }

// Validate says everything that is wrong.
func (c Config) Validate() error {
	var errs []error
	if address, err := url.Parse(c.Endpoint); c.Endpoint != "" && (err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https") {
		errs = append(errs, errors.New("traces endpoint: want http://… or https://…")) // it may hold what must not be shown
	}
	if !(c.Ratio >= 0 && c.Ratio <= 1) { // NaN is neither
		errs = append(errs, fmt.Errorf("traces ratio %v: want 0 to 1", c.Ratio))
	}
	if c.Flush <= 0 {
		errs = append(errs, fmt.Errorf("traces flush %s: want more than 0", c.Flush))
	}
	return errors.Join(errs...)
}

// Traces are those of this process.
type Traces struct {
	provider *sdk.TracerProvider // nil when nothing is traced
	flush    time.Duration
	log      *slog.Logger
}

// New reaches nobody yet: the first spans do.
func New(cfg Config, log *slog.Logger) (*Traces, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	t := &Traces{flush: cfg.Flush, log: log}
	if cfg.Endpoint == "" {
		return t, nil
	}
	ctx := context.Background() // the exporter only looks whether it has ended
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(cfg.Endpoint))
	if err != nil {
		return nil, fmt.Errorf("open traces exporter: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(
			semconv.ServiceName("answerscope"),
			semconv.ServiceVersion(version()),
			semconv.ServiceInstanceID(uuid.Must(uuid.NewV4()).String()),
			attribute.String("answerscope.part", cfg.Part),
		),
		resource.WithFromEnv(), // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES have the last word
	)
	if err != nil {
		return nil, fmt.Errorf("describe traces: %w", err)
	}
	t.provider = sdk.NewTracerProvider(
		sdk.WithBatcher(&calm{SpanExporter: exporter, log: log}),
		sdk.WithResource(about),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(cfg.Ratio))),
	)
	return t, nil
}

// version is that of the module, (devel) for one that was built from a working copy.
func version() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return build.Main.Version
}

// Provider hands out tracers; nil when nothing is traced.
func (t *Traces) Provider() trace.TracerProvider {
	if t.provider == nil {
		return nil
	}
	return t.provider
}

// Run waits for ctx to end, then sends what is left, for as long as Config.Flush. It belongs before every part that
// opens spans, so that it stops after them.
func (t *Traces) Run(ctx context.Context) error {
	<-ctx.Done()
	if t.provider == nil {
		return nil
	}
	patience, done := context.WithTimeout(context.WithoutCancel(ctx), t.flush)
	defer done()
	if err := t.provider.Shutdown(patience); err != nil {
		t.log.Warn("last traces not sent", "cause", err, "next", "nothing but traces is lost") // no reason to fail
	}
	return nil
}
