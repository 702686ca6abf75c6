package clickhouse

import (
	"context"
	"errors"
	"strconv"

	"github.com/ClickHouse/clickhouse-go/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// tracerName identifies this package's spans.
const tracerName = "github.com/answerscope/answerscope/sql/clickhouse"

// openSpan opens a span such as `SELECT entity_visibility` below the one in ctx; nil when that is not recorded. The
// server gets its context over the native protocol, and adds spans to the trace (system.opentelemetry_span_log).
func openSpan(ctx context.Context, operation, target string) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, nil
	}
	name := operation + " " + target
	ctx, span := parent.TracerProvider().Tracer(tracerName).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(
			semconv.DBSystemNameClickHouse, semconv.DBOperationName(operation), semconv.DBQuerySummary(name)))
	return clickhouse.Context(ctx, clickhouse.WithSpan(span.SpanContext())), span
}

// endSpan ends a span with attributes and the error of its statement.
func endSpan(s trace.Span, err error, attributes ...attribute.KeyValue) {
	if s == nil {
		return
	}
	s.SetAttributes(attributes...)
	if err != nil {
		if exception, ok := errors.AsType[*clickhouse.Exception](err); ok {
			code := strconv.Itoa(int(exception.Code))
			s.SetAttributes(semconv.DBResponseStatusCode(code), semconv.ErrorTypeKey.String(exception.Name))
		}
		s.RecordError(err)
		s.SetStatus(codes.Error, "")
	}
	s.End()
}
