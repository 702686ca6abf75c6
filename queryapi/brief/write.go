package brief

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	maxPages, maxHeadings = 10, 8

	maxSearches = 200 // the most frequent, of which headings are made
	maxTitle    = 120
)

//go:embed brief.md.tmpl
var layout string

var body = template.Must(template.New("brief").Funcs(template.FuncMap{
	"text": quote, "link": link,
	"between": func(i advice.Interval) string { return fmt.Sprintf("%.1f to %.1f", i.Low, i.High) },
	"answers": func(n int) string {
		if n == 1 {
			return "1 answer"
		}
		return strconv.Itoa(n) + " answers"
	},
}).Parse(layout))

// input is what a brief is written from; the template reads its exported fields and methods.
type input struct {
	postgres.BriefedSuggestion
	evidence
	findings

	Brand    postgres.Snapshot
	Read     []clickhouse.BriefedAnswer // the newest
	Total    int                        // of answers
	Computed string

	prompts   []postgres.TrackedPrompt
	crawls    []clickhouse.CrawlCount
	publicURL string
}

// written is a brief as the function create_content_brief stores it.
type written struct {
	Title    string         `json:"title"`
	Body     string         `json:"body"`
	Evidence map[string]any `json:"evidence"`
}

// A count is a text and how many answers have it.
type count struct {
	Text    string
	Answers int
}

// write makes a brief.
func (in *input) write(ctx context.Context) (written, error) {
	var err error
	if in.findings, err = in.readTexts(ctx); err != nil {
		return written{}, err
	}
	var text strings.Builder
	err = body.Execute(&text, in)
	return written{in.Title(), text.String(), map[string]any{
		"v": 1, "window": in.Window, "rules_version": advice.RulesVersion, "kind": in.Kind, "open": in.Open,
		"answers": in.Total, "answers_read": len(in.Read),
	}}, err
}

// Title returns what the page is to be about.
func (in *input) Title() string {
	title := in.Text
	switch {
	case in.Kind == advice.KindGap && len(in.Read) > 0:
		title = in.Read[0].PromptText
	case in.Kind == advice.KindSource && in.Key != "":
		title = "A place on " + in.Key
	case in.Kind == advice.KindCompetitor && in.Name != "":
		title = in.Brand.Name + " beside " + in.Name
	case in.Kind == advice.KindPrompt && in.Name != "":
		title = in.Name
	}
	return OnLine(title, maxTitle)
}

// Listed returns the address of the answers, whether they name the brand or not; "": there are none.
func (in *input) Listed() string {
	query, _ := url.ParseQuery(in.Open)
	query.Del("mentioned")
	query.Set("date_from", in.Window.From)
	query.Set("date_to", in.Window.To)
	return in.address("answers?" + query.Encode())
}

// address returns the address of a screen of the brand.
func (in *input) address(screen string) string {
	return strings.TrimSuffix(in.publicURL, "/") + "/brands/" + in.Brand.Slug + "/" + screen
}

// Prompts counts the answers to each.
func (in *input) Prompts() []count {
	return in.tally(func(a clickhouse.BriefedAnswer) []string { return []string{a.PromptText} })
}

// Platforms counts the answers of each.
func (in *input) Platforms() []count {
	return in.tally(func(a clickhouse.BriefedAnswer) []string { return []string{a.Platform} })
}

// tally counts the answers that have each text, the most frequent first, then in code-point order.
func (in *input) tally(texts func(clickhouse.BriefedAnswer) []string) (counts []count) {
	answers := map[string]int{}
	for _, a := range in.Read {
		for _, text := range texts(a) {
			answers[text]++
		}
	}
	for text, n := range answers {
		counts = append(counts, count{text, n})
	}
	slices.SortFunc(counts, byAnswers)
	return counts
}

func byAnswers(a, b count) int { return cmp.Or(b.Answers-a.Answers, strings.Compare(a.Text, b.Text)) }

// A page is cited by answers.
type page struct {
	URL, Title, Kind string
	Answers          int
}

// Pages returns the cited pages of the brand, or the pages of others.
func (in *input) Pages(owned bool) []page {
	byURL := map[string]page{}
	for _, a := range in.Read {
		for i, u := range a.URLs {
			if a.Owned[i] == owned {
				p := byURL[u]
				byURL[u] = page{u, cmp.Or(p.Title, a.Titles[i]), a.Types[i], p.Answers + 1}
			}
		}
	}
	pages := slices.SortedFunc(maps.Values(byURL), func(a, b page) int {
		return cmp.Or(b.Answers-a.Answers, strings.Compare(a.URL, b.URL))
	})
	pages = pages[:min(len(pages), maxPages)]
	for i, p := range pages {
		pages[i].Kind = advice.PageKind(clickhouse.CitedPage{URL: p.URL, Title: p.Title, SourceType: p.Kind})
	}
	return pages
}

// Searches returns headings by what platforms searched for.
func (in *input) Searches() []string {
	searches := in.tally(func(a clickhouse.BriefedAnswer) []string { return a.Searches })
	var texts []string
	for _, search := range searches[:min(len(searches), maxSearches)] {
		texts = append(texts, OnLine(need.Wording(search.Text), maxText))
	}
	return in.headings(texts, nil)
}

// Others returns headings by the prompts of the answers, and by those that share two words with the title.
func (in *input) Others() []string {
	var texts []string
	for _, p := range in.Prompts() {
		texts = append(texts, p.Text)
	}
	title := need.Words(in.Title())
	for _, p := range in.prompts {
		if need.InBoth(title, need.Words(p.Text)) >= 2 {
			texts = append(texts, p.Text)
		}
	}
	return in.headings(texts, [][]string{title})
}

// headings returns the first of the texts that are alike, and none that is like a group or has the words of the title.
func (in *input) headings(texts []string, groups [][]string) (headings []string) {
	title := need.Words(in.Title())
	for _, text := range texts {
		words := need.Words(text)
		isAlike := func(group []string) bool { return need.Alike(group, words) }
		isNew := len(words) > 0 && !slices.Equal(words, title) && !slices.ContainsFunc(groups, isAlike)
		if isNew && len(headings) < maxHeadings {
			groups, headings = append(groups, words), append(headings, text)
		}
	}
	return headings
}

// Crawls counts the requests of AI crawlers in the window; of a status, those that it refused.
func (in *input) Crawls(refused bool) (requests int64) {
	for _, c := range in.crawls {
		isRefused := c.Facet == clickhouse.FacetStatus && slices.Contains([]string{"401", "403", "429"}, c.Name)
		if refused && isRefused || !refused && c.Facet == "total" {
			requests += c.Requests
		}
	}
	return requests
}

// Rules is the version of the rules.
func (in *input) Rules() int { return advice.RulesVersion }
