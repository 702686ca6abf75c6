package consume

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// scope is the instrumentation scope of the spans.
const scope = "github.com/answerscope/answerscope/pipeline/consume"

// batchTrace is the trace of one batch, from its first record to its commit. The spans of a batch that is not sampled
// do nothing.
type batchTrace struct {
	root       trace.Span
	collecting trace.Span
	decoding   time.Duration // sum over the records
}

// beginTrace starts the trace of a batch at its first record.
func (p *partition[T]) beginTrace() *batchTrace {
	c := p.consumer
	ctx, root := c.tracer.Start(context.Background(), "batch "+c.cfg.Topic,
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			semconv.MessagingSystemKafka,
			semconv.MessagingOperationTypeProcess,
			semconv.MessagingDestinationName(c.cfg.Topic),
			semconv.MessagingDestinationPartitionID(strconv.Itoa(int(p.id))),
			semconv.MessagingConsumerGroupName(c.cfg.Group),
		))
	_, collecting := c.tracer.Start(ctx, "collect")
	return &batchTrace{root: root, collecting: collecting}
}

// within returns ctx with the trace's root span.
func (t *batchTrace) within(ctx context.Context) context.Context {
	return trace.ContextWithSpan(ctx, t.root)
}

// now is the time before a record is decoded; zero for a batch that is not sampled, which saves reading the clock.
func (t *batchTrace) now() (began time.Time) {
	if t.collecting.IsRecording() {
		began = time.Now()
	}
	return began
}

// decoded adds the time that one record took.
func (t *batchTrace) decoded(began time.Time) {
	if !began.IsZero() {
		t.decoding += time.Since(began)
	}
}

// collected records that the batch is complete.
func (t *batchTrace) collected(first, last int64, records, bytes int) {
	t.root.SetAttributes(
		semconv.MessagingBatchMessageCount(records),
		attribute.Int64("answerscope.batch.first", first),
		attribute.Int64("answerscope.batch.last", last),
		attribute.Int("answerscope.batch.bytes", bytes),
	)
	t.collecting.SetAttributes(attribute.Float64("answerscope.read.seconds", t.decoding.Seconds()))
	t.collecting.End()
}

// replayed records that an earlier consumer had planned the batch.
func (t *batchTrace) replayed() {
	t.root.SetAttributes(attribute.Bool("answerscope.batch.replay", true))
}

// end ends the trace at the commit of the batch, or with the error that prevents it. The trace is nil before the first
// record.
func (t *batchTrace) end(err error) {
	if t == nil {
		return
	}
	t.collecting.End() // a second End does nothing
	endSpan(t.root, err)
}

// step runs f in a span of the batch that ctx belongs to.
func step(ctx context.Context, name string, f func(context.Context) error) error {
	ctx, span := trace.SpanFromContext(ctx).TracerProvider().Tracer(scope).Start(ctx, name)
	err := f(ctx)
	endSpan(span, err)
	return err
}

func endSpan(span trace.Span, err error) {
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// traceRetry adds an event to the trace of the batch that ctx belongs to.
func traceRetry(ctx context.Context, step string, cause error) {
	trace.SpanFromContext(ctx).AddEvent("retry",
		trace.WithAttributes(attribute.String("step", step), attribute.String("cause", cause.Error())))
}
