package consume

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// scope names this package as the maker of its spans.
const scope = "github.com/answerscope/answerscope/pipeline/consume"

// errAbandoned ends the trace of a batch that was collected but not planned.
var errAbandoned = errors.New("the partition went to another consumer before the batch was planned")

// traces starts the traces of batches.
type traces struct {
	tracer trace.Tracer // nil when nothing is traced
	group  string
}

func newTraces(cfg Config) traces {
	if cfg.Traces == nil {
		return traces{}
	}
	return traces{cfg.Traces.Tracer(scope), cfg.Group}
}

// batchTrace is the trace of one batch, from its first record to its commit. A nil one, of a batch that is not traced,
// takes every call and costs nothing.
type batchTrace struct {
	root       trace.Span
	collecting trace.Span
	reading    time.Duration // of the records, in between their fetches
}

// begin starts the trace at the first record of a batch; nil when it is not sampled.
func (t traces) begin(topic string, partition int32) *batchTrace {
	if t.tracer == nil {
		return nil
	}
	ctx, root := t.tracer.Start(context.Background(), "batch "+topic, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		semconv.MessagingSystemKafka,
		semconv.MessagingOperationTypeProcess,
		semconv.MessagingDestinationName(topic),
		semconv.MessagingDestinationPartitionID(strconv.Itoa(int(partition))),
		semconv.MessagingConsumerGroupName(t.group),
	))
	if !root.IsRecording() {
		return nil
	}
	_, collecting := t.tracer.Start(ctx, "collect")
	return &batchTrace{root: root, collecting: collecting}
}

// within puts ctx into the trace.
func (t *batchTrace) within(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, t.root)
}

// now is when a record begins to be read.
func (t *batchTrace) now() time.Time {
	if t == nil {
		return time.Time{}
	}
	return time.Now()
}

// read adds what one record took.
func (t *batchTrace) read(began time.Time) {
	if t != nil {
		t.reading += time.Since(began)
	}
}

// collected notes that the batch is whole.
func (t *batchTrace) collected(first, last int64, records, bytes int) {
	if t == nil {
		return
	}
	about := []attribute.KeyValue{
		semconv.MessagingBatchMessageCount(records),
		attribute.Int64("answerscope.batch.first", first),
		attribute.Int64("answerscope.batch.last", last),
		attribute.Int("answerscope.batch.bytes", bytes),
	}
	t.root.SetAttributes(about...)
	t.collecting.SetAttributes(attribute.Float64("answerscope.read.seconds", t.reading.Seconds()))
	t.collecting.End()
}

// replayed notes that a predecessor had planned the batch.
func (t *batchTrace) replayed() {
	if t != nil {
		t.root.SetAttributes(attribute.Bool("answerscope.batch.replay", true))
	}
}

// end is the commit of the batch, or why there is none.
func (t *batchTrace) end(err error) {
	if t == nil {
		return
	}
	t.collecting.End() // of a batch that never was whole; of another it has ended
	failed(t.root, err)
	t.root.End()
}

// step traces do as a part of the batch that ctx belongs to.
func step(ctx context.Context, name string, do func(context.Context) error) error {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return do(ctx)
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name)
	defer span.End()
	err := do(ctx)
	failed(span, err)
	return err
}

func failed(span trace.Span, err error) {
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, "")
	}
}

// traceRetry notes on the batch that ctx belongs to that a step is tried again.
func traceRetry(ctx context.Context, what string, cause error) {
	span := trace.SpanFromContext(ctx)
	if span.IsRecording() {
		span.AddEvent("retry", trace.WithAttributes(attribute.String("step", what), attribute.String("cause", cause.Error())))
	}
}
