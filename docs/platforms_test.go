package docs_test

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/collector/referral"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/useragent"
)

// The tables of platforms.md are those that the collector asks.
func TestPlatformsAreThoseOfTheCode(t *testing.T) {
	text, err := os.ReadFile("platforms.md")
	if err != nil {
		t.Fatal(err)
	}
	want := withRows(t, string(text), "| platform | | hosts | further words |\n|---|---|---|---|\n", platformRows())
	want = withRows(t, want, "| operator | training | search | user |\n|---|---|---|---|\n", crawlerRows())
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatal("platforms.md lacks what the code knows, or knows more; run with -update and review the change")
	}
	if err := os.WriteFile("platforms.md", []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func platformRows() (rows string) {
	for _, platform := range referral.Table() {
		var hosts, words []string
		for _, host := range platform.Hosts {
			hosts = append(hosts, "`"+host.Name+host.Path+"`")
		}
		for _, word := range platform.UTM {
			words = append(words, "`utm_source="+word+"`")
		}
		for _, p := range platform.Parameters {
			words = append(words, "`"+p.Name+"="+p.Value+"`")
		}
		rows += fmt.Sprintf("| `%s` | %s | %s | %s |\n", platform.Slug, platform.Name, strings.Join(hosts, ", "), strings.Join(words, ", "))
	}
	return rows
}

// crawlerRows has a row for each operator, those with an AI platform first, and one for crawlers of unknown operators.
func crawlerRows() (rows string) {
	purposes := []event.Purpose{event.PurposeTraining, event.PurposeSearch, event.PurposeUser}
	var operators []string
	names := map[string]map[event.Purpose][]string{}
	for _, crawler := range useragent.Crawlers() {
		operator := cmp.Or(crawler.Operator, "unknown")
		if crawler.Platform != "" {
			operator += " (`" + crawler.Platform + "`)"
		}
		if names[operator] == nil {
			operators, names[operator] = append(operators, operator), map[event.Purpose][]string{}
		}
		of := names[operator]
		of[event.Purpose(crawler.Purpose)] = append(of[event.Purpose(crawler.Purpose)], "`"+crawler.Name+"`")
	}
	for _, operator := range operators {
		rows += "| " + operator
		for _, purpose := range purposes {
			rows += " | " + strings.Join(names[operator][purpose], ", ")
		}
		rows += " |\n"
	}
	return rows
}

// withRows puts rows in place of those that follow the head of a table.
func withRows(t *testing.T, text, head, rows string) string {
	t.Helper()
	before, after, found := strings.Cut(text, head)
	if !found {
		t.Fatalf("there is no table with the head %q", head)
	}
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	return before + head + rows + after
}
