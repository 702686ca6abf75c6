package clickhouse

import (
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Every file is a declared Query, starts with its own name, and binds exactly
// the parameters that its Go type has. Needs no server.
func TestQueriesAndTheirTypesAgree(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(Files, "query/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != len(declared) {
		t.Errorf("%d files in query/, %d declared", len(names), len(declared))
	}
	for _, q := range declared {
		t.Run(q.name, func(t *testing.T) {
			if !slices.Contains(names, path.Join("query", q.name+".sql")) {
				t.Fatalf("no file")
			}
			if want := "-- " + q.name + ": "; !strings.HasPrefix(q.text, want) {
				t.Errorf("first line should start %q", want)
			}
			var asks, gives []string
			for _, m := range placeholder.FindAllStringSubmatch(q.text, -1) {
				asks = append(asks, m[1])
			}
			for _, f := range reflect.VisibleFields(q.params) {
				if name, ok := f.Tag.Lookup("ch"); ok {
					gives = append(gives, name)
				}
			}
			slices.Sort(asks)
			slices.Sort(gives)
			if asks = slices.Compact(asks); !slices.Equal(asks, gives) {
				t.Errorf("file asks for %v, %v gives %v", asks, q.params, gives)
			}
		})
	}
}

// The view of citations has a copy of the function, since functions are made after migrations, and the questions have
// copies of the types in their order.
func TestSourceTypesAreDefinedOnce(t *testing.T) {
	_, function, _ := strings.Cut(mustRead("function/answerscope_source_type.sql"), "multiIf")
	if view := mustRead("migrate/0005_citation_daily.up.sql"); !strings.Contains(view,
		"multiIf"+strings.TrimSpace(function)) {
		t.Errorf("citation_daily_view has no multiIf%s", function)
	}
	types := "['" + strings.Join(SourceTypes, "', '") + "'] AS types"
	for _, question := range []string{"citation_sources", "citation_buckets", "source_matrix"} {
		if !strings.Contains(mustRead("query/"+question+".sql"), types) {
			t.Errorf("%s has no %s", question, types)
		}
	}
}
