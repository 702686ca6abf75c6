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
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Files has the folders query, function and migrate.
//
//go:embed query/*.sql function/*.sql migrate/*.sql
var Files embed.FS

// A Query is a file of query/ with the Go types of its parameters and rows.
type Query[P, R any] struct {
	Name string
	Text string

	settings clickhouse.Settings // of this query
}

// All returns every row. It retries for some seconds while the server is away.
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

// each runs the query once and passes its rows to take as they arrive; an error of take stops it. The query's name is
// its log_comment in audit.query_log.
func (q Query[P, R]) each(
	ctx context.Context, conn *Conn, params P, settings clickhouse.Settings, take func(*R) error,
) (err error) {
	ctx, span := openSpan(ctx, "SELECT", q.Name)
	count := 0
	defer func() { endSpan(span, err, semconv.DBResponseReturnedRows(count)) }()
	all := clickhouse.Settings{"log_comment": q.Name}
	for _, some := range []clickhouse.Settings{q.settings, conn.settings(), settings} {
		maps.Copy(all, some)
	}
	values := bind(params)
	text := specialize(q.Text, values)
	rows, err := conn.Query(clickhouse.Context(ctx, clickhouse.WithSettings(all)), text, named(values)...)
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

// declared lists all queries, for the tests.
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

// rollup declares a query of few rows, which are sums already, so planning is most of its cost. With a second thread it
// took 33 ms of CPU, without one 28; with the optimizer 17, without it 15, since the query is flat already.
func rollup[P, R any](name string) Query[P, R] {
	q := query[P, R](name)
	q.settings = clickhouse.Settings{
		"max_threads":                       1,
		"query_plan_enable_optimizations":   0,
		"optimize_move_to_prewhere":         0,
		"compile_expressions":               0, // it raises the 99th percentile
		"compile_aggregate_expressions":     0,
		"compile_sort_description":          0,
		"optimize_use_projections":          0, // the search for them takes half a millisecond
		"optimize_use_implicit_projections": 0,
		"optimize_syntax_fuse_functions":    0,
		"optimize_group_by_function_keys":   0,   // it drops a platform as a group beside its name
		"log_queries_min_query_duration_ms": 100, // a row of query_log costs a millisecond
	}
	return q
}

// mustRead panics on a missing file, which is a mistake of the build.
func mustRead(path string) string {
	text, err := Files.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// bind returns the values of fields with a tag ch by its name.
func bind(params any) map[string]any {
	v := reflect.ValueOf(params)
	values := map[string]any{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name, ok := f.Tag.Lookup("ch"); ok {
			values[name] = parameter(v.FieldByIndex(f.Index))
		}
	}
	return values
}

func named(values map[string]any) (args []any) {
	for name, value := range values {
		args = append(args, clickhouse.Named(name, value))
	}
	return args
}

// parameter converts a value to the form in which the driver writes parameters: days and ids as text, a nil list as an
// empty one.
func parameter(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case UUID:
		return x.String()
	case []UUID:
		return mapSlice(x, UUID.String)
	case []Day:
		return mapSlice(x, func(d Day) string { return string(d) })
	}
	switch {
	case v.Kind() == reflect.String: // the driver would quote a named string type twice
		return v.String()
	case v.Kind() == reflect.Slice && v.IsNil():
		return reflect.MakeSlice(v.Type(), 0, 0).Interface()
	}
	return v.Interface()
}

func mapSlice[T, S any](list []T, f func(T) S) []S {
	mapped := make([]S, len(list))
	for i, x := range list {
		mapped[i] = f(x)
	}
	return mapped
}

// QuoteText quotes a text as a literal.
func QuoteText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// QuoteName quotes a name as an identifier.
func QuoteName(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}
