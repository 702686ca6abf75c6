package postgres

import (
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/testkit"
)

var placeholder = regexp.MustCompile(`\$(\d+)`)

// Every file is a declared statement, starts with its own name, and asks for $1 to $n, all of them. Needs no server.
func TestStatementsAndTheirFilesAgree(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(files, "query/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != len(declared) {
		t.Errorf("%d files in query/, %d declared", len(names), len(declared))
	}
	for _, s := range declared {
		t.Run(s.name, func(t *testing.T) {
			if !slices.Contains(names, path.Join("query", s.name+".sql")) {
				t.Fatalf("no file")
			}
			if want := "-- " + s.name + ": "; !strings.HasPrefix(s.text, want) {
				t.Errorf("first line should start %q", want)
			}
			var asks []int
			for _, m := range placeholder.FindAllStringSubmatch(withoutComments(s.text), -1) {
				n, err := strconv.Atoi(m[1])
				if err != nil {
					t.Fatal(err)
				}
				asks = append(asks, n)
			}
			slices.Sort(asks)
			asks = slices.Compact(asks)
			if len(asks) > 0 && (asks[0] != 1 || asks[len(asks)-1] != len(asks)) {
				t.Errorf("file asks for %v", asks)
			}
		})
	}
}

// The server agrees that each statement can be run, and names its columns as the Go type does.
func TestTheServerKnowsEveryStatement(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), migratedDSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := become(t.Context(), conn, serviceRole); err != nil {
		t.Fatal(err)
	}
	for _, s := range declared {
		prepared, err := conn.Prepare(t.Context(), s.name, s.text)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		if s.row == reflect.TypeFor[none]() {
			continue
		}
		var gives []string
		for _, f := range prepared.Fields {
			gives = append(gives, f.Name)
		}
		if s.row.Kind() != reflect.Struct || s.row == reflect.TypeFor[time.Time]() {
			if len(gives) != 1 {
				t.Errorf("%s gives %v, want one column, a %v", s.name, gives, s.row)
			}
			continue
		}
		takes := tags(s.row)
		slices.Sort(gives)
		slices.Sort(takes)
		if !slices.Equal(gives, takes) {
			t.Errorf("%s gives %v, %v takes %v", s.name, gives, s.row, takes)
		}
	}
}

func migratedDSN(t *testing.T) string {
	t.Helper()
	dsn := testkit.Postgres(t)
	if err := Migrate(t.Context(), dsn, func(uint, string) {}); err != nil {
		t.Fatal(err)
	}
	return dsn
}

var comment = regexp.MustCompile(`--[^\n]*`)

func withoutComments(text string) string { return comment.ReplaceAllString(text, "") }

func tags(row reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(row) {
		if name, ok := f.Tag.Lookup("db"); ok {
			names = append(names, name)
		}
	}
	return names
}
