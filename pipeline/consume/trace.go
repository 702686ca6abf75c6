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
var errAbandoned = errors.New("the partition was given up before the batch was planned")

// traces opens a trace of every batch.
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

// journey is the trace of one batch, from its first record to its commit. A nil
// journey, of a batch that nobody traces, takes every call and costs nothing.
type journey struct {
	root       trace.Span
	collecting trace.Span
	reading    time.Duration // of the records, in between their fetches
}

// depart begins a journey at the first record of a batch; nil when it is not kept.
func (t traces) depart(topic string, partition int32) *journey {
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
	return &journey{root: root, collecting: collecting}
}

// within puts ctx into the trace.
func (j *journey) within(ctx context.Context) context.Context {
	if j == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, j.root)
}

// now is when a record begins to be read.
func (j *journey) now() time.Time {
	if j == nil {
		return time.Time{}
	}
	return time.Now()
}

// read adds what one record took.
func (j *journey) read(began time.Time) {
	if j != nil {
		j.reading += time.Since(began)
	}
}

// collected says that the batch is whole.
func (j *journey) collected(first, last int64, records, bytes int) {
	if j == nil {
		return
	}
	about := []attribute.KeyValue{
		semconv.MessagingBatchMessageCount(records),
		attribute.Int64("answerscope.batch.first", first),
		attribute.Int64("answerscope.batch.last", last),
		attribute.Int("answerscope.batch.bytes", bytes),
	}
	j.root.SetAttributes(about...)
	j.collecting.SetAttributes(attribute.Float64("answerscope.read.seconds", j.reading.Seconds()))
	j.collecting.End()
}

// replayed says that a predecessor had planned the batch.
func (j *journey) replayed() {
	if j != nil {
		j.root.SetAttributes(attribute.Bool("answerscope.batch.replay", true))
	}
}

// end is the commit of the batch, or why there is none.
func (j *journey) end(err error) {
	if j == nil {
		return
	}
	j.collecting.End() // of a batch that never was whole; of another it has ended
	failed(j.root, err)
	j.root.End()
}

// step is a part of the journey that ctx is in; without one it is only done.
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

// again notes on the journey that ctx is in that something is tried once more.
func again(ctx context.Context, what string, cause error) {
	span := trace.SpanFromContext(ctx)
	if span.IsRecording() {
		span.AddEvent("retry", trace.WithAttributes(attribute.String("step", what), attribute.String("cause", cause.Error())))
	}
}
