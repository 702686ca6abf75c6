package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// asked is a statement of sql.md with the table of its result, if it has one yet.
var asked = regexp.MustCompile("(?m)^```sql\n((?:[^`\n][^\n]*\n|\n)*)```\n(?:\n((?:\\|[^\n]*\n)+))?")

// What sql.md says that a statement gives is what it gives an analyst of the facts in testdata/lumen.txtar, whose
// comment has the arithmetic.
func TestEveryStatementGivesWhatSQLSays(t *testing.T) {
	s := setStage(t)
	s.play(t, "testdata/lumen.txtar")
	text, err := os.ReadFile("sql.md")
	if err != nil {
		t.Fatal(err)
	}
	statements, questions := strings.Count(string(text), "```sql\n"), strings.Count(string(text), "\n### ")
	if found := len(asked.FindAll(text, -1)); found != statements || found < questions || questions < 10 {
		t.Errorf("%d statements, %d of them found, and %d questions", statements, found, questions)
	}
	rewritten := asked.ReplaceAllStringFunc(string(text), func(block string) string {
		parts := asked.FindStringSubmatch(block)
		statement, want := parts[1], parts[2]
		got, err := s.ask(t, statement)
		if err != nil {
			t.Errorf("%s\n%v", statement, err)
			return block
		}
		got = strings.ReplaceAll(got, `| \N `, "| NULL ")
		if got != want && !*update {
			t.Errorf("%s\ngives\n%s\nnot\n%s", statement, got, want)
		}
		return "```sql\n" + statement + "```\n\n" + got
	})
	if *update {
		if err := os.WriteFile("sql.md", []byte(rewritten), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
