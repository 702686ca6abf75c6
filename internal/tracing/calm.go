package tracing

import (
	"context"
	"log/slog"
	"sync"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// seldom is how far apart two complaints about one collector are.
const seldom = 5 * time.Minute

// calm is an exporter that says itself, seldom, that spans are lost. The SDK would print every failure past our log.
type calm struct {
	sdk.SpanExporter

	log  *slog.Logger
	mu   sync.Mutex
	said time.Time
	lost int // spans since then
}

// ExportSpans never fails: nobody above could do anything about it.
func (c *calm) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := c.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost += len(spans)
	if !c.said.IsZero() && time.Since(c.said) < seldom {
		return nil
	}
	c.log.Warn("traces not sent", "spans", c.lost, "cause", err, "next", "nothing but traces is lost; see the collector of ANSWERSCOPE_OTLP_ENDPOINT")
	c.said, c.lost = time.Now(), 0
	return nil
}
