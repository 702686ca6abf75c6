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

// batchTrace is the trace of one batch, from its first record to its commit. Of a batch that is not sampled its spans
// do nothing.
type batchTrace struct {
	root       trace.Span
	collecting trace.Span
	decoding   time.Duration // of the records, in between their fetches
}

// beginTrace starts the trace of a batch at its first record.
func (p *partition[T]) beginTrace() *batchTrace {
	ctx, root := p.tracer.Start(context.Background(), "batch "+p.cfg.Topic, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		semconv.MessagingSystemKafka,
		semconv.MessagingOperationTypeProcess,
		semconv.MessagingDestinationName(p.cfg.Topic),
		semconv.MessagingDestinationPartitionID(strconv.Itoa(int(p.id))),
		semconv.MessagingConsumerGroupName(p.cfg.Group),
	))
	_, collecting := p.tracer.Start(ctx, "collect")
	return &batchTrace{root: root, collecting: collecting}
}

// within puts ctx into the trace.
func (t *batchTrace) within(ctx context.Context) context.Context {
	return trace.ContextWithSpan(ctx, t.root)
}

// now is when a record begins to be decoded. Of a batch that is not sampled the clock is not read.
func (t *batchTrace) now() (began time.Time) {
	if t.collecting.IsRecording() {
		began = time.Now()
	}
	return began
}

// decoded adds the time of one record.
func (t *batchTrace) decoded(began time.Time) {
	if !began.IsZero() {
		t.decoding += time.Since(began)
	}
}

// collected notes that the batch is complete.
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

// replayed notes that an earlier consumer had planned the batch.
func (t *batchTrace) replayed() {
	t.root.SetAttributes(attribute.Bool("answerscope.batch.replay", true))
}

// end ends the trace at the commit of the batch, or with the reason why there is none. It is nil before the first
// record.
func (t *batchTrace) end(err error) {
	if t == nil {
		return
	}
	t.collecting.End() // of a batch that was never complete; of another it has ended
	endSpan(t.root, err)
}

// step runs do in a span of the batch that ctx belongs to.
func step(ctx context.Context, name string, do func(context.Context) error) error {
	ctx, span := trace.SpanFromContext(ctx).TracerProvider().Tracer(scope).Start(ctx, name)
	err := do(ctx)
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

// traceRetry notes on the batch that ctx belongs to that a step is tried again.
func traceRetry(ctx context.Context, what string, cause error) {
	trace.SpanFromContext(ctx).AddEvent("retry", trace.WithAttributes(attribute.String("step", what), attribute.String("cause", cause.Error())))
}
