package postgres

import (
	"context"
	"embed"
	"errors"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed migrate/*.sql query/*.sql roles.sql
var files embed.FS

// A statement is one file of query/ with the Go type of its rows. The text sent to the server is the file, byte for
// byte; its columns are the fields of R by db tags, or its only column is an R.
type statement[R any] struct {
	name string
	text string
	row  pgx.RowToFunc[R]
}

// querier is a pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error)
}

// all runs the statement and returns every row; never nil.
func (s statement[R]) all(ctx context.Context, on querier, args ...any) (all []R, err error) {
	ctx, span := s.openSpan(ctx)
	defer func() { closeSpan(span, len(all), err) }()
	rows, _ := on.Query(ctx, s.text, notNil(args)...) // the rows have its error
	all, err = pgx.CollectRows(rows, s.row)
	return all, s.failed(err)
}

// one runs the statement and returns its only row; ErrNotFound if it has none.
func (s statement[R]) one(ctx context.Context, on querier, args ...any) (row R, err error) {
	ctx, span := s.openSpan(ctx)
	defer func() { closeSpan(span, 1, err) }()
	rows, _ := on.Query(ctx, s.text, notNil(args)...) // the rows have its error
	row, err = pgx.CollectExactlyOneRow(rows, s.row)
	return row, s.failed(err)
}

// run runs the statement and returns how many rows it touched.
func (s statement[R]) run(ctx context.Context, on querier, args ...any) (touched int64, err error) {
	ctx, span := s.openSpan(ctx)
	defer func() { closeSpan(span, int(touched), err) }()
	tag, err := on.Exec(ctx, s.text, notNil(args)...)
	return tag.RowsAffected(), s.failed(err)
}

func (s statement[R]) failed(err error) error {
	err = typed(err)
	_, conflict := errors.AsType[ErrConflict](err)
	_, refused := errors.AsType[refusedValue](err)
	if conflict || refused || errors.Is(err, ErrNotFound) {
		return err // the caller says of what
	}
	return wrap(err, "query %s", s.name)
}

// none is the row of a statement that returns nothing.
type none struct{}

// declared lists every statement, for the tests.
var declared []declaration

type declaration struct {
	name string
	text string
	row  reflect.Type
}

func query[R any](name string) statement[R] {
	text := mustRead("query/" + name + ".sql")
	row := reflect.TypeFor[R]()
	declared = append(declared, declaration{name, text, row})
	if row.Kind() == reflect.Struct && row != reflect.TypeFor[time.Time]() {
		return statement[R]{name, text, pgx.RowToStructByName[R]}
	}
	return statement[R]{name, text, pgx.RowTo[R]}
}

// mustRead panics on a missing file, which is a mistake of the build.
func mustRead(path string) string {
	text, err := files.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// notNil makes a nil list an empty one: no column is null because a Go list is nil.
func notNil(args []any) []any {
	for i, arg := range args {
		if v := reflect.ValueOf(arg); v.Kind() == reflect.Slice && v.IsNil() {
			args[i] = reflect.MakeSlice(v.Type(), 0, 0).Interface()
		}
	}
	return args
}
