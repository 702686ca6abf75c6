package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestImportsFollowTheLaw(t *testing.T) {
	report(t, unlawful(read(t)))
}

func TestEveryTreeHasItsLaw(t *testing.T) {
	report(t, unlisted(read(t)))
}

func TestDependenciesStayInTheirTrees(t *testing.T) {
	report(t, misplaced(read(t)))
}

func TestEveryPackageHasItsComment(t *testing.T) {
	report(t, undocumented(read(t)))
}

func TestNoFileIsTooLongToRead(t *testing.T) {
	files, err := filesBelow(os.DirFS("."), ".go", ".sql")
	if err != nil {
		t.Fatal(err)
	}
	report(t, tooLong(files))
}

func TestServersListenByHTTPD(t *testing.T) {
	files, err := filesBelow(os.DirFS("."), ".go")
	if err != nil {
		t.Fatal(err)
	}
	report(t, listening(files))
}

// A law that cannot fail is advice. Each planted file breaks one law, and only that law may report it.
func TestEachLawCanFail(t *testing.T) {
	const doc = "// Package planted breaks a law.\n"
	cases := []struct {
		law, path, text string
		want            string
	}{
		{"imports", "queryapi/planted/planted.go", doc + "package planted\nimport _ \"" + module + "/ingest/event\"\n",
			`"queryapi" must not import ingest/event`},
		{"imports", "ingest/event/planted/planted.go",
			doc + "package planted\nimport _ \"" + module + "/internal/problem\"\n",
			`"ingest/event" must not import internal/problem`},
		{"imports", "pipeline/planted/planted.go",
			doc + "package planted\nimport _ \"" + module + "/internal/testkit\"\n",
			`internal/testkit is private to ["internal/bench" "internal/system" "docs/pictures"]`},
		{"imports", "queryapi/rest/planted/planted.go",
			doc + "package planted\nimport _ \"" + module + "/sql/postgres\"\n",
			`"queryapi/rest" must not import sql/postgres`},
		{"trees", "pkg/planted/planted.go", doc + "package planted\n", "pkg/planted is a new tree"},
		{"dependencies", "pipeline/planted/planted.go", doc + "package planted\nimport _ \"github.com/jackc/pgx/v5\"\n",
			`github.com/jackc/pgx/v5 is for ["sql/postgres"`},
		{"dependencies", "pipeline/planted/planted.go", doc + "package planted\nimport _ \"example.org/stranger\"\n",
			"example.org/stranger is not listed as a dependency"},
		{"docs", "pipeline/planted/planted.go", "package planted\n", "pipeline/planted: no file opens with"},
		{"listeners", "pipeline/planted/planted.go",
			doc + "package planted\nfunc run() { http.ListenAndServe(\"\", nil) }\n", "listen by httpd.Listen"},
		{"lines", "sql/planted.sql", strings.Repeat("SELECT 1;\n", maxLines+1), "451 lines, over 450"},
	}
	for _, c := range cases {
		t.Run(c.law, func(t *testing.T) {
			planted := fstest.MapFS{c.path: {Data: []byte(c.text)}}
			files, err := sources(planted)
			if err != nil {
				t.Fatal(err)
			}
			texts, err := filesBelow(planted, ".go", ".sql")
			if err != nil {
				t.Fatal(err)
			}
			found := map[string][]string{
				"imports": unlawful(files), "trees": unlisted(files), "dependencies": misplaced(files),
				"docs": undocumented(files), "lines": tooLong(texts),
				"listeners": listening(texts),
			}
			if !slices.ContainsFunc(found[c.law], func(said string) bool { return strings.Contains(said, c.want) }) {
				t.Errorf("reported %q, want %q", found[c.law], c.want)
			}
			delete(found, c.law)
			for other, said := range found {
				if len(said) > 0 {
					t.Errorf("the law of %s reported too: %q", other, said)
				}
			}
		})
	}
}

func read(t *testing.T) []source {
	t.Helper()
	files, err := sources(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("found no source: the laws would hold over nothing")
	}
	return files
}

func report(t *testing.T, broken []string) {
	t.Helper()
	for _, b := range broken {
		t.Error(b)
	}
}
