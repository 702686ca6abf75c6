package clickhouse

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"reflect"
	"regexp"

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

// All asks the question and returns every row; for some seconds again, while the
// server is away. The query's name is the log_comment by which system.query_log
// tells who asked.
func (q Query[P, R]) All(ctx context.Context, conn *Conn, params P) (rows []R, err error) {
	ctx, span := openSpan(ctx, "SELECT", q.Name)
	defer func() { answered(span, len(rows), err) }()
	settings := clickhouse.Settings{"log_comment": q.Name}
	maps.Copy(settings, q.settings)
	maps.Copy(settings, conn.settings())
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(settings))
	err = Retry(ctx, func() error {
		rows = []R{}
		return conn.Select(ctx, &rows, q.Text, Bind(params)...)
	})
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", q.Name, err)
	}
	return rows, nil
}

var placeholder = regexp.MustCompile(`\{(\w+):[^}]+\}`)

// declared is what every Query says of itself, for the tests.
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

// rollup is a query of rows that are sums already. It reads few, so that planning
// it is most of its cost: for two threads that took a sixth longer than for one (33
// against 28 ms of CPU), and with the optimizer's rearranging of what is flat already
// another sixth (17 against 15). Reading by primary key needs neither.
func rollup[P, R any](name string) Query[P, R] {
	q := query[P, R](name)
	q.settings = clickhouse.Settings{
		"max_threads":                       1,
		"query_plan_enable_optimizations":   0,
		"optimize_move_to_prewhere":         0,
		"compile_expressions":               0, // compiling for so few rows shows in the slowest of a hundred
		"compile_aggregate_expressions":     0,
		"compile_sort_description":          0,
		"optimize_use_projections":          0, // there are none here, and looking for them takes half a millisecond each time
		"optimize_use_implicit_projections": 0,
		"optimize_syntax_fuse_functions":    0,
		"log_queries_min_query_duration_ms": 100, // what is fast is not worth a row of query_log, which costs a millisecond
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
		texts := make([]string, len(x))
		for i, id := range x {
			texts[i] = id.String()
		}
		return texts
	case []Day:
		texts := make([]string, len(x))
		for i, day := range x {
			texts[i] = string(day)
		}
		return texts
	}
	switch {
	case v.Kind() == reflect.String: // of a type of its own the driver would send the quotes too
		return v.String()
	case v.Kind() == reflect.Slice && v.IsNil():
		return reflect.MakeSlice(v.Type(), 0, 0).Interface()
	}
	return v.Interface()
}

// bind is Bind.
func bind(params any) []any { return Bind(params) }
