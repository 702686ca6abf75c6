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

// scope names this package as the maker of its spans.
const scope = "github.com/answerscope/answerscope/sql/clickhouse"

// openSpan opens a span such as `SELECT entity_visibility` below the one in ctx. The server gets its context over the
// native protocol, and adds its own spans to the trace (system.opentelemetry_span_log). Where none is recorded the span
// is nil.
func openSpan(ctx context.Context, operation, target string) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, nil
	}
	name := operation + " " + target
	ctx, opened := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		semconv.DBSystemNameClickHouse,
		semconv.DBOperationName(operation),
		semconv.DBQuerySummary(name),
	))
	return clickhouse.Context(ctx, clickhouse.WithSpan(opened.SpanContext())), opened
}

// answered ends the span of a question with the number of its rows.
func answered(s trace.Span, rows int, err error) {
	finish(s, err, semconv.DBResponseReturnedRows(rows))
}

// inserted ends the span of an insert of so many rows into a table.
func inserted(s trace.Span, table string, rows int, err error) {
	finish(s, err, semconv.DBCollectionName(table), semconv.DBOperationBatchSize(rows))
}

func finish(s trace.Span, err error, about ...attribute.KeyValue) {
	if s == nil {
		return
	}
	s.SetAttributes(about...)
	if err != nil {
		if refused, ok := errors.AsType[*clickhouse.Exception](err); ok {
			s.SetAttributes(semconv.DBResponseStatusCode(strconv.Itoa(int(refused.Code))), semconv.ErrorTypeKey.String(refused.Name))
		}
		s.RecordError(err)
		s.SetStatus(codes.Error, "")
	}
	s.End()
}
