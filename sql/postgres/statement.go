package postgres

import (
	"context"
	"embed"
	"errors"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

//go:embed migrate/*.sql query/*.sql roles.sql
var files embed.FS

// statements holds the files of query/ by name, without .sql. Each is sent to the server byte for byte.
var statements = func() map[string]string {
	list, err := files.ReadDir("query")
	if err != nil {
		panic(err) // the build embeds it
	}
	texts := make(map[string]string, len(list))
	for _, file := range list {
		texts[strings.TrimSuffix(file.Name(), ".sql")] = mustRead(path.Join("query", file.Name()))
	}
	return texts
}()

// querier is a pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error)
}

// queryAll runs a statement and returns its rows, never nil. An R is a struct that names the columns in its db tags, or
// the type of the only column.
func queryAll[R any](ctx context.Context, on querier, statement string, args ...any) (all []R, err error) {
	ctx, span := openSpan(ctx, statement)
	defer func() { closeSpan(span, len(all), err) }()
	rows, _ := on.Query(ctx, statements[statement], notNil(args)...) // CollectRows returns the error
	all, err = pgx.CollectRows(rows, scanRow[R]())
	return all, typed(err, statement)
}

// queryOne runs a statement and returns its only row; ErrNotFound if it has none.
func queryOne[R any](ctx context.Context, on querier, statement string, args ...any) (row R, err error) {
	ctx, span := openSpan(ctx, statement)
	defer func() { closeSpan(span, 1, err) }()
	rows, _ := on.Query(ctx, statements[statement], notNil(args)...) // CollectExactlyOneRow returns the error
	row, err = pgx.CollectExactlyOneRow(rows, scanRow[R]())
	return row, typed(err, statement)
}

// execRows runs a statement and returns how many rows it affected.
func execRows(ctx context.Context, on querier, statement string, args ...any) (affected int64, err error) {
	ctx, span := openSpan(ctx, statement)
	defer func() { closeSpan(span, int(affected), err) }()
	tag, err := on.Exec(ctx, statements[statement], notNil(args)...)
	return tag.RowsAffected(), typed(err, statement)
}

// exec runs a statement that may affect no row.
func exec(ctx context.Context, on querier, statement string, args ...any) error {
	_, err := execRows(ctx, on, statement, args...)
	return err
}

// execOne runs a statement that must affect a row; ErrNotFound if it affects none.
func execOne(ctx context.Context, on querier, statement string, args ...any) error {
	affected, err := execRows(ctx, on, statement, args...)
	if err == nil && affected == 0 {
		return ErrNotFound
	}
	return err
}

func scanRow[R any]() pgx.RowToFunc[R] {
	if t := reflect.TypeFor[R](); t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() {
		return pgx.RowToStructByName[R]
	}
	return pgx.RowTo[R]
}

// notNil replaces nil lists and maps by empty ones: no column is null because they are nil in Go.
func notNil(args []any) []any {
	for i, arg := range args {
		switch v := reflect.ValueOf(arg); {
		case v.Kind() == reflect.Slice && v.IsNil():
			args[i] = reflect.MakeSlice(v.Type(), 0, 0).Interface()
		case v.Kind() == reflect.Map && v.IsNil():
			args[i] = reflect.MakeMap(v.Type()).Interface()
		}
	}
	return args
}

// mustRead panics on a missing file, which is a mistake of the build.
func mustRead(path string) string {
	text, err := files.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// scope is the instrumentation scope of the spans.
const scope = "github.com/answerscope/answerscope/sql/postgres"

// openSpan opens the span of a statement, such as `SELECT resolve_key`, below the one in ctx; nil if that is not
// recorded.
func openSpan(ctx context.Context, statement string) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, nil
	}
	operation := verb(statements[statement])
	name := operation + " " + statement
	return parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(
			semconv.DBSystemNamePostgreSQL, semconv.DBOperationName(operation), semconv.DBQuerySummary(name)))
}

// closeSpan ends the span of a statement that returned or affected rows. A missing row is no failure.
func closeSpan(span trace.Span, rows int, err error) {
	if span == nil {
		return
	}
	if err == nil {
		span.SetAttributes(semconv.DBResponseReturnedRows(rows))
	} else if !errors.Is(err, ErrNotFound) {
		if code := sqlState(err); code != "" {
			span.SetAttributes(semconv.DBResponseStatusCode(code), semconv.ErrorTypeKey.String(code))
		}
		span.RecordError(err)
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// verb returns the first word of a statement after its comments.
func verb(text string) string {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "--") {
			return words[0]
		}
	}
	return ""
}
