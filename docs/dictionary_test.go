package docs_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The dictionary is what an analyst can read, told by the server: tables with their comments, views with the opening comment
// of their file, their parameters and columns in the words of sql.md, and functions.
func TestDictionaryIsWhatAnAnalystCanRead(t *testing.T) {
	s := setStage(t)
	d := &dictionary{parameters: words(t, "parameter"), columns: words(t, "column"), used: map[string]bool{}}
	d.line("# Data dictionary\n")
	d.line("Everything that an analyst can read, as the server tells it: `go test ./docs -update` writes this page. How to ask is in [sql.md](sql.md).")
	views := s.rows(t, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View' ORDER BY name")
	tables := s.rows(t, "SELECT name, comment, sorting_key FROM system.tables WHERE database = currentDatabase() AND engine != 'View' ORDER BY name")
	functions := s.rows(t, "SELECT name FROM system.functions WHERE origin = 'SQLUserDefined' AND startsWith(name, 'answerscope_') ORDER BY name")
	if len(views) < 9 || len(tables) < 12 || len(functions) < 5 {
		t.Fatalf("an analyst sees %d views, %d tables, %d functions", len(views), len(tables), len(functions))
	}
	d.contents(views, tables)
	d.line("\n## Views\n\nA view wants all of its parameters.\n\n| parameter | type | |\n|---|---|---|")
	d.listParameters(t, views)
	for _, v := range views {
		d.view(t, s, v[0])
	}
	d.line("\n## Tables\n\nPartitions are months. What a table is sorted by is what makes a question fast.")
	for _, table := range tables {
		d.table(t, s, table[0], table[1], table[2])
	}
	d.line("\n## Functions\n")
	for _, f := range functions {
		says, code := definition(t, "function", f[0])
		arguments, _, _ := strings.Cut(code, " ->")
		d.line("- `" + f[0] + arguments + "`: " + says)
	}
	for _, word := range append(d.parameters, d.columns...) {
		if !d.used[word.name] {
			t.Errorf("sql.md has a word %s that no view has", word.name)
		}
	}
	d.compare(t)
}

type dictionary struct {
	text                strings.Builder
	parameters, columns []word
	used                map[string]bool
}

// A word of sql.md: a parameter or a column of the named views.
type word struct{ name, meaning string }

var wordLine = regexp.MustCompile(`^\| ([a-z_.]+) \| (.+) \|$`)

// words are those of the table in sql.md whose first heading is kind, in its order.
func words(t *testing.T, kind string) (all []word) {
	t.Helper()
	text, err := os.ReadFile("sql.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| "+kind+" | meaning |\n|---|---|\n")
	for line := range strings.Lines(table) {
		m := wordLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			break
		}
		all = append(all, word{m[1], m[2]})
	}
	if len(all) == 0 {
		t.Fatalf("sql.md has no words of a %s", kind)
	}
	return all
}

func (d *dictionary) line(text string) { d.text.WriteString(text + "\n") }

// meaning is that of a word in a view.
func (d *dictionary) meaning(t *testing.T, words []word, view, name string) string {
	t.Helper()
	for _, wanted := range []string{view + "." + name, name} {
		if i := slices.IndexFunc(words, func(w word) bool { return w.name == wanted }); i >= 0 {
			d.used[wanted] = true
			return words[i].meaning
		}
	}
	t.Errorf("%s of view %s has no meaning: give it a line under Words in sql.md", name, view)
	return ""
}

func (d *dictionary) contents(views, tables [][]string) {
	for _, list := range []struct {
		name string
		of   [][]string
	}{{"Views", views}, {"Tables", tables}} {
		var links []string
		for _, one := range list.of {
			links = append(links, fmt.Sprintf("[`%s`](#%s)", one[0], one[0]))
		}
		d.line("\n" + list.name + ": " + strings.Join(links, ", ") + ".")
	}
}

// listParameters tells those of all views once, in the order of sql.md.
func (d *dictionary) listParameters(t *testing.T, views [][]string) {
	t.Helper()
	types := map[string]string{}
	for _, v := range views {
		for name, kind := range parametersOf(t, v[0]) {
			d.meaning(t, d.parameters, v[0], name)
			if types[name] != "" && types[name] != kind {
				t.Errorf("parameter %s is %s and %s", name, types[name], kind)
			}
			types[name] = kind
		}
	}
	for _, p := range d.parameters {
		d.line(fmt.Sprintf("| `%s` | %s | %s |", p.name, types[p.name], p.meaning))
	}
}

var placeholder = regexp.MustCompile(`\{(\w+):([^}]+)\}`)

func parametersOf(t *testing.T, view string) map[string]string {
	t.Helper()
	_, text := definition(t, "query", view)
	types := map[string]string{}
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		types[m[1]] = m[2]
	}
	return types
}

// definition is a file of sql/clickhouse: what its opening comment says, and the rest.
func definition(t *testing.T, kind, name string) (says, text string) {
	t.Helper()
	file, err := os.ReadFile("../sql/clickhouse/" + kind + "/" + name + ".sql")
	if err != nil {
		t.Fatal(err)
	}
	text = string(file)
	for strings.HasPrefix(text, "-- ") {
		line, rest, _ := strings.Cut(text, "\n")
		says, text = says+" "+strings.TrimPrefix(line, "-- "), rest
	}
	return strings.TrimPrefix(says, " "+name+": "), text
}

func (d *dictionary) view(t *testing.T, s *stage, name string) {
	t.Helper()
	says, _ := definition(t, "query", name)
	types := parametersOf(t, name)
	var signature, call []string
	for _, p := range d.parameters {
		kind, ok := types[p.name]
		if !ok {
			continue
		}
		signature = append(signature, p.name)
		call = append(call, p.name+" = "+valueOf(kind))
	}
	d.line(fmt.Sprintf("\n### %s\n\n%s\n\n`%s(%s)`\n\n| column | type | |\n|---|---|---|", name, capital(says), name, strings.Join(signature, ", ")))
	for _, column := range s.rows(t, fmt.Sprintf("DESCRIBE (SELECT * FROM %s(%s))", name, strings.Join(call, ", "))) {
		d.line(fmt.Sprintf("| `%s` | %s | %s |", column[0], column[1], d.meaning(t, d.columns, name, column[0])))
	}
}

// valueOf is any value of a parameter's type.
func valueOf(kind string) string {
	switch kind {
	case "UUID":
		return "'" + idOf().String() + "'"
	case "Date":
		return "'2026-03-01'"
	case "String":
		return "''"
	}
	if strings.HasPrefix(kind, "Array") {
		return "[]"
	}
	return "1"
}

func (d *dictionary) table(t *testing.T, s *stage, name, says, sorted string) {
	t.Helper()
	if says == "" {
		t.Errorf("table %s has no comment", name)
	}
	d.line(fmt.Sprintf("\n### %s\n\n%s Sorted by `%s`.\n\n| column | type | |\n|---|---|---|", name, says, sorted))
	for _, column := range s.rows(t, "SELECT name, type, comment FROM system.columns WHERE database = currentDatabase() AND table = '"+name+"' ORDER BY position") {
		if column[2] == "" {
			t.Errorf("column %s of %s has no comment", column[0], name)
		}
		d.line(fmt.Sprintf("| `%s` | %s | %s |", column[0], column[1], column[2]))
	}
}

func (d *dictionary) compare(t *testing.T) {
	t.Helper()
	got := d.text.String()
	if *update && !t.Failed() {
		if err := os.WriteFile("dictionary.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("dictionary.md")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("dictionary.md is not what an analyst can read; review the change and run with -update. It should be:\n%s", got)
	}
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
