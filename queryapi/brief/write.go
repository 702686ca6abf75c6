package brief

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/template"

	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/pipeline/advice/name"
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
		return fmt.Sprint(n, " answers")
	},
}).Parse(layout))

// input is what a brief is written from; the template reads its exported fields and methods.
type input struct {
	postgres.BriefedSuggestion
	evidence

	Brand    postgres.Snapshot
	Read     []clickhouse.BriefedAnswer // the newest
	Total    int                        // of answers
	Computed string

	prompts   []postgres.TrackedPrompt
	crawls    []clickhouse.CrawlCount
	publicURL string

	// These are found in Read.
	Prompts, Platforms, searches []count
	About                        string // whom the quotes are about, or against; "": there is nobody
	Said                         []said
	Facts                        []count // words of sentences about rivals, and of none about the brand
}

// evidence has the counts of suggestions of any kind; each kind lacks some.
type evidence struct {
	advice.Comparison

	Window advice.Window `json:"window"`
	Name   string        `json:"name"`   // that nobody tracks; of a search: as a person would ask it
	Quotes []name.Quote  `json:"quotes"` // of criticism
}

// written is a brief as the function create_content_brief stores it.
type written struct {
	Title    string         `json:"title"`
	Body     string         `json:"body"`
	Evidence map[string]any `json:"evidence"`
}

// write makes a brief.
func (in *input) write(ctx context.Context) (written, error) {
	var prompts, platforms, searches []string
	for _, a := range in.Read {
		prompts, platforms = append(prompts, a.PromptText), append(platforms, a.Platform)
		searches = append(searches, a.Searches...)
	}
	in.Prompts, in.Platforms, in.searches = frequent(prompts), frequent(platforms), frequent(searches)
	if err := in.readTexts(ctx); err != nil {
		return written{}, err
	}
	var text strings.Builder
	err := body.Execute(&text, in)
	return written{in.Title(), text.String(), map[string]any{
		"v": 1, "window": in.Window, "rules_version": advice.RulesVersion, "kind": in.Kind, "open": in.Open,
		"answers": in.Total, "answers_read": len(in.Read),
	}}, err
}

// A count is a text and how many answers have it.
type count struct {
	Text    string
	Answers int
}

// frequent counts equal texts, the most frequent first, then in code-point order.
func frequent(texts []string) (counts []count) {
	answers := map[string]int{}
	for _, text := range texts {
		answers[text]++
	}
	for text, n := range answers {
		counts = append(counts, count{text, n})
	}
	slices.SortFunc(counts, func(a, b count) int {
		return cmp.Or(b.Answers-a.Answers, strings.Compare(a.Text, b.Text))
	})
	return counts
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
	return advice.OneLine(title, maxTitle)
}

// Listed returns the address of the answers, whether they name the brand or not.
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

// A page is cited by answers.
type page struct {
	URL, Title, Kind string
	Answers          int
}

// Pages returns the cited pages of the brand, or the pages of others.
func (in *input) Pages(owned bool) (pages []page) {
	var urls []string
	titles, types := map[string]string{}, map[string]string{}
	for _, a := range in.Read {
		for i, u := range a.URLs {
			if a.Owned[i] == owned {
				urls, titles[u], types[u] = append(urls, u), cmp.Or(titles[u], a.Titles[i]), a.Types[i]
			}
		}
	}
	for _, c := range first(frequent(urls), maxPages) {
		u, title := c.Text, titles[c.Text]
		kind := advice.PageKind(clickhouse.CitedPage{URL: u, Title: title, SourceType: types[u]})
		pages = append(pages, page{u, title, kind, c.Answers})
	}
	return pages
}

func first[T any](list []T, limit int) []T { return list[:min(len(list), limit)] }

// Searches returns headings by what platforms searched for.
func (in *input) Searches() []string {
	var texts []string
	for _, search := range first(in.searches, maxSearches) {
		texts = append(texts, advice.OneLine(need.Wording(search.Text), maxText))
	}
	return headings(texts, need.Words(in.Title()))
}

// Others returns headings by the prompts of the answers, and by those that share two words with the title.
func (in *input) Others() []string {
	var texts []string
	for _, p := range in.Prompts {
		texts = append(texts, p.Text)
	}
	title := need.Words(in.Title())
	for _, p := range in.prompts {
		if need.InBoth(title, need.Words(p.Text)) >= 2 {
			texts = append(texts, p.Text)
		}
	}
	return headings(texts, title, title)
}

// headings returns the first texts, without the words of the title and those that are like a heading or one of others.
func headings(texts []string, title []string, others ...[]string) (list []string) {
	for _, text := range texts {
		words := need.Words(text)
		isAlike := func(other []string) bool { return need.Alike(other, words) }
		if len(words) > 0 && !slices.Equal(words, title) && !slices.ContainsFunc(others, isAlike) {
			others, list = append(others, words), append(list, text)
		}
	}
	return first(list, maxHeadings)
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
