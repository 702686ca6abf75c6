package clickhouse

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Files are the folders query, function and migrate of this release.
//
//go:embed query/*.sql function/*.sql migrate/*.sql
var Files embed.FS

// A Query is one file of query/ with the Go types of its parameters and rows.
// The text sent to the server is the file, byte for byte.
type Query[P, R any] struct {
	Name string
	Text string

	settings clickhouse.Settings // for the server, beside its own
}

// All asks the question and returns every row. It asks again for some seconds while the server is away.
func (q Query[P, R]) All(ctx context.Context, conn *Conn, params P) (rows []R, err error) {
	err = Retry(ctx, func() error {
		rows = []R{}
		return q.each(ctx, conn, params, nil, func(row *R) error {
			rows = append(rows, *row)
			return nil
		})
	})
	return rows, err
}

// each asks the question once and gives its rows to take as they come; an error of take ends it. The query's name is
// its log_comment in audit.query_log.
func (q Query[P, R]) each(ctx context.Context, conn *Conn, params P, more clickhouse.Settings, take func(*R) error) (err error) {
	ctx, span := openSpan(ctx, "SELECT", q.Name)
	count := 0
	defer func() { answered(span, count, err) }()
	settings := clickhouse.Settings{"log_comment": q.Name}
	for _, some := range []clickhouse.Settings{q.settings, conn.settings(), more} {
		maps.Copy(settings, some)
	}
	rows, err := conn.Query(clickhouse.Context(ctx, clickhouse.WithSettings(settings)), q.Text, Bind(params)...)
	if err != nil {
		return fmt.Errorf("query %s: %w", q.Name, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row R
		if err := rows.ScanStruct(&row); err != nil {
			return fmt.Errorf("query %s: %w", q.Name, err)
		}
		count++
		if err := take(&row); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("query %s: %w", q.Name, err)
	}
	return nil
}

var placeholder = regexp.MustCompile(`\{(\w+):[^}]+\}`)

// declared are all queries, for the tests.
var declared []declaration

type declaration struct {
	name   string
	text   string
	params reflect.Type
}

func query[P, R any](name string) Query[P, R] {
	text := mustRead("query/" + name + ".sql")
	declared = append(declared, declaration{name, text, reflect.TypeFor[P]()})
	return Query[P, R]{Name: name, Text: text}
}

// rollup is a query of few rows that are sums already, so that planning is most of its cost. A second thread took a
// sixth longer (33 against 28 ms of CPU), and the optimizer another sixth (17 against 15), since the question is flat
// already.
func rollup[P, R any](name string) Query[P, R] {
	q := query[P, R](name)
	q.settings = clickhouse.Settings{
		"max_threads":                       1,
		"query_plan_enable_optimizations":   0,
		"optimize_move_to_prewhere":         0,
		"compile_expressions":               0, // it shows in the slowest of a hundred
		"compile_aggregate_expressions":     0,
		"compile_sort_description":          0,
		"optimize_use_projections":          0, // looking for them takes half a millisecond each time
		"optimize_use_implicit_projections": 0,
		"optimize_syntax_fuse_functions":    0,
		"log_queries_min_query_duration_ms": 100, // a row of query_log costs a millisecond
	}
	return q
}

// mustRead panics on a missing file: that is a build mistake.
func mustRead(path string) string {
	text, err := Files.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Bind gives each field of params that has a tag ch to the placeholder of that name.
func Bind(params any) []any {
	v := reflect.ValueOf(params)
	var args []any
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name, ok := f.Tag.Lookup("ch"); ok {
			args = append(args, clickhouse.Named(name, parameter(v.FieldByIndex(f.Index))))
		}
	}
	return args
}

// parameter gives a value the form in which the driver writes it as a
// parameter: days and ids as text, a nil list as an empty one.
func parameter(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case UUID:
		return x.String()
	case []UUID:
		return texts(x, UUID.String)
	case []Day:
		return texts(x, func(d Day) string { return string(d) })
	}
	switch {
	case v.Kind() == reflect.String: // of a type of its own the driver would send the quotes too
		return v.String()
	case v.Kind() == reflect.Slice && v.IsNil():
		return reflect.MakeSlice(v.Type(), 0, 0).Interface()
	}
	return v.Interface()
}

func texts[T any, S ~string](all []T, text func(T) S) []S {
	made := make([]S, len(all))
	for i, x := range all {
		made[i] = text(x)
	}
	return made
}

// QuoteText makes a text a literal.
func QuoteText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// QuoteName makes a name an identifier.
func QuoteName(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}
