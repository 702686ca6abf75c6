package docs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/collector/referral"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/useragent"
)

// The lists of platforms.md are those that the collector asks.
func TestPlatformsAreThoseOfTheCode(t *testing.T) {
	text, err := os.ReadFile("platforms.md")
	if err != nil {
		t.Fatal(err)
	}
	want := withItems(t, string(text), "parameters of the address:\n\n", platformItems())
	platforms, others := crawlerItems()
	want = withItems(t, want, "of AI platforms:\n\n", platforms)
	want = withItems(t, want, "where the name lacks it:\n\n", others)
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

func platformItems() (items string) {
	for _, platform := range referral.Table() {
		var words []string
		for _, host := range platform.Hosts {
			words = append(words, "`"+host.Name+host.Path+"`")
		}
		for _, word := range platform.UTM {
			words = append(words, "`utm_source="+word+"`")
		}
		for _, p := range platform.Parameters {
			words = append(words, "`"+p.Name+"="+p.Value+"`")
		}
		items += fmt.Sprintf("- `%s` (%s): %s\n", platform.Slug, platform.Name, strings.Join(words, ", "))
	}
	return wrapped(items)
}

// crawlerItems lists the crawlers of each AI platform, and those of other operators by purpose.
func crawlerItems() (platforms, others string) {
	purposes := []event.Purpose{event.PurposeTraining, event.PurposeSearch, event.PurposeUser}
	var operators []string
	names := map[string]map[event.Purpose][]string{}
	for _, crawler := range useragent.Crawlers() {
		operator := crawler.Operator
		if crawler.Platform != "" {
			operator += " (`" + crawler.Platform + "`)"
		}
		if names[operator] == nil {
			operators, names[operator] = append(operators, operator), map[event.Purpose][]string{}
		}
		of := names[operator]
		of[event.Purpose(crawler.Purpose)] = append(of[event.Purpose(crawler.Purpose)], "`"+crawler.Name+"`")
	}
	byPurpose := map[event.Purpose][]string{}
	for _, operator := range operators {
		var parts []string
		for _, purpose := range purposes {
			all := strings.Join(names[operator][purpose], ", ")
			switch {
			case all == "":
			case strings.HasSuffix(operator, "`)"):
				parts = append(parts, string(purpose)+" "+all)
			case operator == "":
				byPurpose[purpose] = append(byPurpose[purpose], all+" (unknown)")
			case strings.Contains(strings.ToLower(all), strings.ToLower(operator)):
				byPurpose[purpose] = append(byPurpose[purpose], all)
			default:
				byPurpose[purpose] = append(byPurpose[purpose], all+" ("+operator+")")
			}
		}
		if parts != nil {
			platforms += "- " + operator + ": " + strings.Join(parts, "; ") + "\n"
		}
	}
	for _, purpose := range purposes {
		others += "- " + string(purpose) + ": " + strings.Join(byPurpose[purpose], "; ") + "\n"
	}
	return wrapped(platforms), wrapped(others)
}

// withItems puts items in place of those that follow a paragraph with this end.
func withItems(t *testing.T, text, head, items string) string {
	t.Helper()
	before, after, found := strings.Cut(text, head)
	if !found {
		t.Fatalf("no paragraph ends with %q", head)
	}
	_, rest, _ := strings.Cut(after+"\n\n", "\n\n")
	return before + head + items + strings.TrimSuffix("\n"+rest, "\n\n")
}
