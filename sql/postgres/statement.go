package postgres

import (
	"context"
	"embed"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed migrate/*.sql query/*.sql roles.sql
var files embed.FS

// A statement is one file of query/ with the Go types of its parameters and rows. The text sent to the server is the
// file, byte for byte; the fields of P are $1, $2, … in their order, and the columns are the fields of R by db tags.
type statement[P, R any] struct {
	name string
	text string
}

// querier is a pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error)
}

// all runs the statement and returns every row; never nil.
func (s statement[P, R]) all(ctx context.Context, on querier, params P) (all []R, err error) {
	ctx, span := s.openSpan(ctx)
	defer func() { closeSpan(span, len(all), err) }()
	rows, _ := on.Query(ctx, s.text, arguments(params)...) // the rows have its error
	all, err = pgx.CollectRows(rows, pgx.RowToStructByName[R])
	return all, s.failed(err)
}

// one runs the statement and returns its only row; ErrNotFound if it has none.
func (s statement[P, R]) one(ctx context.Context, on querier, params P) (row R, err error) {
	ctx, span := s.openSpan(ctx)
	defer func() { closeSpan(span, 1, err) }()
	rows, _ := on.Query(ctx, s.text, arguments(params)...) // the rows have its error
	row, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[R])
	return row, s.failed(err)
}

// run runs the statement and returns how many rows it touched.
func (s statement[P, R]) run(ctx context.Context, on querier, params P) (touched int64, err error) {
	ctx, span := s.openSpan(ctx)
	defer func() { closeSpan(span, int(touched), err) }()
	tag, err := on.Exec(ctx, s.text, arguments(params)...)
	return tag.RowsAffected(), s.failed(err)
}

func (s statement[P, R]) failed(err error) error {
	return wrap(typed(err), "query %s", s.name)
}

// none is the row of a statement that returns nothing, and the parameters of one that takes none.
type none struct{}

// declared lists every statement, for the tests.
var declared []declaration

type declaration struct {
	name   string
	text   string
	params reflect.Type
	row    reflect.Type
}

func query[P, R any](name string) statement[P, R] {
	text := mustRead("query/" + name + ".sql")
	declared = append(declared, declaration{name, text, reflect.TypeFor[P](), reflect.TypeFor[R]()})
	return statement[P, R]{name, text}
}

// mustRead panics on a missing file, which is a mistake of the build.
func mustRead(path string) string {
	text, err := files.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// arguments are the fields of params in their order, those of an embedded struct in its place. A nil list is an empty
// one: no column is null because a Go list is nil.
func arguments(params any) []any { return appendFields(nil, reflect.ValueOf(params)) }

func appendFields(args []any, params reflect.Value) []any {
	for i := range params.NumField() {
		switch field := params.Field(i); {
		case params.Type().Field(i).Anonymous:
			args = appendFields(args, field)
		case field.Kind() == reflect.Slice && field.IsNil():
			args = append(args, reflect.MakeSlice(field.Type(), 0, 0).Interface())
		default:
			args = append(args, field.Interface())
		}
	}
	return args
}
