package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// scope is the instrumentation scope of the spans.
const scope = "github.com/answerscope/answerscope/sql/postgres"

// openSpan opens the span of a statement, such as `SELECT resolve_key`, below the one in ctx; nil if that is not
// recorded.
func (s statement[R]) openSpan(ctx context.Context) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, nil
	}
	operation := verb(s.text)
	name := operation + " " + s.name
	return parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		semconv.DBSystemNamePostgreSQL,
		semconv.DBOperationName(operation),
		semconv.DBQuerySummary(name),
	))
}

// closeSpan ends the span of a statement that returned or changed so many rows. That there is no row is no failure.
func closeSpan(span trace.Span, rows int, err error) {
	if span == nil {
		return
	}
	if err == nil {
		span.SetAttributes(semconv.DBResponseReturnedRows(rows))
	} else if !errors.Is(err, ErrNotFound) {
		if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
			span.SetAttributes(semconv.DBResponseStatusCode(refused.Code), semconv.ErrorTypeKey.String(refused.Code))
		}
		span.RecordError(err)
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// verb is the first word of a statement after its comments.
func verb(text string) string {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "--") {
			return words[0]
		}
	}
	return ""
}
