package docs_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The dictionary is what an analyst can read, as the server describes it: tables with their comments, views with the opening
// comment of their file, their parameters and columns, and functions. Its section Words is written by hand and says what each
// parameter and column of a view means.
func TestDictionaryIsWhatAnAnalystCanRead(t *testing.T) {
	s := setStage(t)
	d := readDictionary(t)
	views := s.rows(t, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View' ORDER BY name")
	tables := s.rows(t, "SELECT name, comment, sorting_key FROM system.tables WHERE database = currentDatabase() AND engine != 'View' ORDER BY name")
	functions := s.rows(t, "SELECT name FROM system.functions WHERE origin = 'SQLUserDefined' AND startsWith(name, 'answerscope_') ORDER BY name")
	if len(views) < 9 || len(tables) < 12 || len(functions) < 5 {
		t.Fatalf("an analyst sees %d views, %d tables, %d functions", len(views), len(tables), len(functions))
	}
	d.line("## Views\n\nA view wants all of its parameters.")
	for _, v := range views {
		d.view(t, s, v[0])
	}
	d.tables(t, s, tables)
	d.line("\n## Functions\n")
	for _, f := range functions {
		says, code := definition(t, "function", f[0])
		arguments, _, _ := strings.Cut(code, " ->")
		d.line("- `" + f[0] + arguments + "`: " + says)
	}
	for _, word := range slices.Concat(d.parameters, d.columns) {
		if !d.used[word] {
			t.Errorf("Words has %s, which no view has", word)
		}
	}
	d.compare(t)
}

type dictionary struct {
	text                strings.Builder
	parameters, columns []string // words of the section Words, in its order
	used                map[string]bool
}

var wordLine = regexp.MustCompile("(?m)^- `([a-z_.]+)`: \\S.*$")

// readDictionary starts a dictionary with what the page says by hand: everything up to the section Views.
func readDictionary(t *testing.T) *dictionary {
	t.Helper()
	written, _, _ := strings.Cut(read(t, "dictionary.md"), "## Views\n")
	parameters, columns, ok := strings.Cut(written, "\nColumns of views:\n")
	if !ok {
		t.Fatal("dictionary.md has no words of columns")
	}
	d := &dictionary{parameters: wordsOf(parameters), columns: wordsOf(columns), used: map[string]bool{}}
	d.text.WriteString(written)
	return d
}

func wordsOf(text string) (words []string) {
	for _, m := range wordLine.FindAllStringSubmatch(text, -1) {
		words = append(words, m[1])
	}
	return words
}

// line writes a paragraph, an item or a heading, in lines of at most 120 columns.
func (d *dictionary) line(text string) {
	for line := range strings.Lines(text + "\n") {
		column := 0
		for i, word := range strings.Split(strings.TrimSuffix(line, "\n"), " ") {
			width := utf8.RuneCountInString(word)
			switch {
			case i == 0:
			case column+1+width > 120 && !strings.HasPrefix(line, "`"):
				d.text.WriteString("\n")
				column = 0
				if strings.HasPrefix(line, "- ") {
					d.text.WriteString("  ")
					column = 2
				}
			default:
				d.text.WriteString(" ")
				column++
			}
			d.text.WriteString(word)
			column += width
		}
		d.text.WriteString("\n")
	}
}

// use marks the word that explains a name of a view.
func (d *dictionary) use(t *testing.T, words []string, view, name string) {
	t.Helper()
	for _, word := range []string{view + "." + name, name} {
		if slices.Contains(words, word) {
			d.used[word] = true
			return
		}
	}
	t.Errorf("%s of view %s has no meaning: give it a line under Words in dictionary.md", name, view)
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
	var signature, call, columns []string
	for _, p := range d.parameters {
		if kind, ok := types[p]; ok {
			signature = append(signature, p+" "+kind)
			call = append(call, p+" = "+valueOf(kind))
		}
	}
	for p := range types {
		d.use(t, d.parameters, name, p)
	}
	for _, column := range s.rows(t, fmt.Sprintf("DESCRIBE (SELECT * FROM %s(%s))", name, strings.Join(call, ", "))) {
		columns = append(columns, fmt.Sprintf("`%s` %s", column[0], column[1]))
		d.use(t, d.columns, name, column[0])
	}
	d.line(fmt.Sprintf("\n### %s\n\n%s\n\n`%s(%s)`\n\nColumns: %s", name, capital(says), name, strings.Join(signature, ", "), strings.Join(columns, ", ")))
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

// tables lists the columns that three or more tables share once, before those of each table.
func (d *dictionary) tables(t *testing.T, s *stage, tables [][]string) {
	t.Helper()
	rows := s.rows(t, "SELECT table, name, type, comment FROM system.columns WHERE database = currentDatabase() ORDER BY table, position")
	columns, count := map[string][]string{}, map[string]int{}
	var shared []string
	for _, row := range rows {
		if !slices.ContainsFunc(tables, func(t []string) bool { return t[0] == row[0] }) {
			continue
		}
		if row[3] == "" {
			t.Errorf("column %s of %s has no comment", row[1], row[0])
		}
		line := fmt.Sprintf("- `%s` %s: %s", row[1], row[2], row[3])
		columns[row[0]] = append(columns[row[0]], line)
		if count[line]++; count[line] == 3 {
			shared = append(shared, line)
		}
	}
	d.line("\n## Tables\n\nPartitions are months. A question is fast when it filters by what a table is sorted by. Columns of three or more tables:\n")
	d.line(strings.Join(shared, "\n"))
	for _, table := range tables {
		if table[1] == "" {
			t.Errorf("table %s has no comment", table[0])
		}
		var others []string
		var also []string
		for _, line := range columns[table[0]] {
			if name, _, _ := strings.Cut(strings.TrimPrefix(line, "- "), " "); slices.Contains(shared, line) {
				also = append(also, name)
			} else {
				others = append(others, line)
			}
		}
		d.line(fmt.Sprintf("\n### %s\n\n%s Sorted by `%s`. It shares %s.\n\n%s", table[0], table[1], table[2], strings.Join(also, ", "), strings.Join(others, "\n")))
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
	if got != read(t, "dictionary.md") {
		t.Errorf("dictionary.md is not what an analyst can read; review the change and run with -update. It should be:\n%s", got)
	}
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
