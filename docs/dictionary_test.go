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

// The dictionary is what an analyst can read, as the server describes it: tables with their comments, views with the
// opening comment of their file, their parameters and columns, and functions. Its section Words is written by hand and
// says what each parameter and column of a view means.
func TestDictionaryIsWhatAnAnalystCanRead(t *testing.T) {
	s := setStage(t)
	d := readDictionary(t)
	views := s.rows(t, "SELECT name, comment FROM system.tables WHERE database = currentDatabase() AND engine = "+
		"'View' ORDER BY name")
	tables := s.rows(t, "SELECT name, comment, sorting_key FROM system.tables WHERE database = currentDatabase() "+
		"AND engine != 'View' ORDER BY name")
	functions := s.rows(t, "SELECT name FROM system.functions WHERE origin = 'SQLUserDefined' AND startsWith(name, "+
		"'answerscope_') ORDER BY name")
	if len(views) < 9 || len(tables) < 12 || len(functions) < 5 {
		t.Fatalf("an analyst sees %d views, %d tables, %d functions", len(views), len(tables), len(functions))
	}
	d.columns.known = map[string]bool{}
	for _, c := range s.rows(t, "SELECT DISTINCT name, type FROM system.columns WHERE database = currentDatabase() "+
		"AND table NOT IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View')") {
		d.columns.known[c[0]+" "+c[1]] = true
	}
	for _, v := range views {
		if !strings.HasSuffix(v[0], plain) {
			d.view(t, s, v[0])
		}
	}
	d.line("\n## Views without parameters\n\nTheir columns: `organization_id`, `brand_id`, `brand_name`, " +
		"then those of the view that they are made of.\n")
	for _, v := range views {
		if strings.HasSuffix(v[0], plain) {
			d.plainView(t, s, v[0], v[1])
		}
	}
	d.tables(t, s, tables)
	d.line("\n## Functions\n")
	for _, f := range functions {
		says, code := definition(t, "function", f[0])
		says, _, _ = strings.Cut(says, ". ") // what follows is for readers of the code
		arguments, _, _ := strings.Cut(code, " ->")
		d.line("- `" + f[0] + arguments + "`: " + strings.TrimSuffix(says, "."))
	}
	d.compare(t)
}

type dictionary struct {
	text                strings.Builder // what the server says
	parameters, columns *words
}

// words are those of one half of the section Words, with the text around them.
type words struct {
	text  string
	names []string
	types map[string]string
	known map[string]bool // columns of tables with their types: a word may be missing where one says the same
}

var wordLine = regexp.MustCompile("(?m)^- `([a-z_.]+)`[^:\n]*: ")

// readDictionary reads what the page says by hand: everything up to the section Views.
func readDictionary(t *testing.T) *dictionary {
	t.Helper()
	written, _, _ := strings.Cut(read(t, "dictionary.md"), "## Views\n")
	parameters, columns, ok := strings.Cut(written, "\nColumns of views:\n")
	if !ok {
		t.Fatal("dictionary.md has no words of columns")
	}
	return &dictionary{parameters: wordsOf(parameters), columns: wordsOf("\nColumns of views:\n" + columns)}
}

func wordsOf(text string) *words {
	w := &words{text: text, types: map[string]string{}}
	for _, m := range wordLine.FindAllStringSubmatch(text, -1) {
		w.names = append(w.names, m[1])
	}
	return w
}

// use gives the word that explains a name of a view the type that it has there.
func (w *words) use(t *testing.T, view, name, kind string) {
	t.Helper()
	for _, word := range []string{view + "." + name, name} {
		if !slices.Contains(w.names, word) {
			continue
		}
		if known := w.types[word]; known != "" && known != kind {
			t.Errorf("%s is %s in view %s and %s elsewhere: give it a line `%s.%s` under Words in dictionary.md", name,
				kind, view, known, view, name)
		}
		w.types[word] = kind
		return
	}
	if !w.known[name+" "+kind] {
		t.Errorf("%s of view %s has no meaning: give it a line under Words in dictionary.md", name, view)
	}
}

// typed is the text with the type of each word.
func (w *words) typed(t *testing.T) string {
	t.Helper()
	return wrapped(wordLine.ReplaceAllStringFunc(strings.ReplaceAll(w.text, "\n  ", " "), func(line string) string {
		name := wordLine.FindStringSubmatch(line)[1]
		if w.types[name] == "" {
			t.Errorf("Words has %s, which no view has", name)
		}
		return "- `" + name + "` " + w.types[name] + ": "
	}))
}

func (d *dictionary) line(text string) { d.text.WriteString(wrapped(text + "\n")) }

// wrapped breaks paragraphs and items into lines of at most 120 columns.
func wrapped(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		column := 0
		for i, word := range strings.Split(strings.TrimSuffix(line, "\n"), " ") {
			width := utf8.RuneCountInString(word)
			switch {
			case i == 0:
			case column+1+width > 120 && !strings.HasPrefix(line, "`"):
				b.WriteString("\n")
				column = 0
				if strings.HasPrefix(line, "- ") {
					b.WriteString("  ")
					column = 2
				}
			default:
				b.WriteString(" ")
				column++
			}
			b.WriteString(word)
			column += width
		}
		b.WriteString("\n")
	}
	return b.String()
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
	for _, p := range d.parameters.names {
		if kind, ok := types[p]; ok {
			signature, call = append(signature, p), append(call, p+" = "+valueOf(kind))
		}
	}
	for p, kind := range types {
		d.parameters.use(t, name, p, kind)
	}
	for _, column := range s.rows(t, fmt.Sprintf("DESCRIBE (SELECT * FROM %s(%s))", name, strings.Join(call, ", "))) {
		columns = append(columns, "`"+column[0]+"`")
		d.columns.use(t, name, column[0], column[1])
	}
	d.line(fmt.Sprintf("\n### %s\n\n%s\n\n`%s(%s)`\n\nColumns: %s", name, capital(says), name,
		strings.Join(signature, ", "), strings.Join(columns, ", ")))
}

// plain ends the names of views without parameters.
const plain = "_last_30_days"

func (d *dictionary) plainView(t *testing.T, s *stage, name, comment string) {
	t.Helper()
	question, _, _ := strings.Cut(comment, " ")
	for _, column := range s.rows(t, "DESCRIBE "+name) {
		d.columns.use(t, question, column[0], column[1])
	}
	says, _, _ := strings.Cut(comment, " [")
	d.line("- `" + name + "`: " + says)
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

// tables lists the columns that several tables share once, before those of each table.
func (d *dictionary) tables(t *testing.T, s *stage, tables [][]string) {
	t.Helper()
	rows := s.rows(t, "SELECT table, name, type, comment FROM system.columns WHERE database = currentDatabase() "+
		"ORDER BY table, position")
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
		if count[line]++; count[line] == 2 {
			shared = append(shared, line)
		}
	}
	d.line("\n## Tables\n\nA question is fast when it filters by what a table is sorted by. Columns that tables " +
		"share (those of the sorting key and\nthose listed as shared):\n")
	d.line(strings.Join(merged(shared), "\n"))
	for _, table := range tables {
		if table[1] == "" {
			t.Errorf("table %s has no comment", table[0])
		}
		key := strings.Split(table[2], ", ")
		var others, also []string
		for _, line := range columns[table[0]] {
			if name, _, _ := strings.Cut(strings.TrimPrefix(line, "- "), " "); !slices.Contains(shared, line) {
				others = append(others, line)
			} else if !slices.Contains(key, strings.Trim(name, "`")) {
				also = append(also, name)
			}
		}
		d.line(fmt.Sprintf("\n### %s\n\n%s Sorted by `%s`.", table[0], table[1], table[2]))
		if len(also) > 0 {
			d.line("\nShared: " + strings.Join(also, ", "))
		}
		d.line("\n" + strings.Join(merged(others), "\n"))
	}
}

// merged makes one item of columns beside each other that have the same comment.
func merged(items []string) (merged []string) {
	for _, item := range items {
		column, comment, _ := strings.Cut(item, ": ")
		if last := len(merged) - 1; last >= 0 && strings.HasSuffix(merged[last], ": "+comment) {
			merged[last] = strings.TrimSuffix(merged[last], ": "+comment) + ", " + strings.TrimPrefix(item, "- ")
			continue
		}
		merged = append(merged, column+": "+comment)
	}
	return merged
}

func (d *dictionary) compare(t *testing.T) {
	t.Helper()
	got := d.parameters.typed(t) + d.columns.typed(t) + "## Views\n" + d.text.String()
	if *update && !t.Failed() {
		if err := os.WriteFile("dictionary.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got != read(t, "dictionary.md") {
		t.Errorf("dictionary.md is not what an analyst can read; review the change and run with -update. "+
			"It should be:\n%s", got)
	}
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
