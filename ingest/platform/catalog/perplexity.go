package catalog

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// perplexity asks Perplexity's Sonar over its Agent API, with a web search. Its answers include their cost.
var perplexity = api{
	Description: platform.Description{
		Slug: "perplexity", Name: "Perplexity", NeedsKey: true, TakesRegion: true,
		Models: models(event.Usage{InputTokens: 6000, OutputTokens: 600, Searches: 1},
			platform.Model{Slug: "perplexity/sonar", Price: usd("2026-07-04", "0.25", "2.50", "5")}),
		Limits: platform.Limits{RequestsPerMinute: 50, InFlight: 20},
	},
	baseURL: "https://api.perplexity.ai", authorize: wire.Bearer,
	ask: exchange("/v1/agent", perplexityRequest, readPerplexity),
}

// perplexityRequest has no field that the API does not know, since it refuses those.
func perplexityRequest(q platform.Question) wire.Object {
	search := withCountry(wire.Object{"type": "web_search"}, q, wire.Object{})
	return wire.Object{"model": q.Model, "input": q.Text, "tools": []wire.Object{search}}
}

var perplexityShape = withResponses(wire.Shape{
	"search_results": {"queries? texts", "results[].id number", "results[].url text", "results[].title text"},
	"skill_loaded":   nil, "finance_results": nil,
})

func readPerplexity(a wire.Account, raw []byte) (platform.Reply, error) {
	s := searchResults{numbers: map[int64]bool{}}
	return responsesReader{
		shape: perplexityShape, item: s.item, finish: s.cite,
		usage: func(usage wire.Object, searches int64) *event.Usage {
			cost := usage.Decimal("cost.total_cost")
			return usageWithCost(usage, searches, "tool_calls_details.search_web.invocation", cost)
		},
	}.read(a, raw)
}

// searchResults holds the results of all searches of an answer.
type searchResults struct {
	results []searchResult
	numbers map[int64]bool
	highest int64
}

type searchResult struct {
	number     int64
	url, title string
}

// item reads the results of a search. Markers count on over all searches; ids of a search that begin anew are added to
// the highest before.
func (s *searchResults) item(a *response, item wire.Object) {
	if item.Kind() != "search_results" {
		return
	}
	a.searches++
	for _, query := range item.Texts("queries") {
		a.Search(query)
	}
	before := int64(0)
	for i, r := range item.List("results") {
		id, _ := r.Number("id")
		if i == 0 && s.numbers[id] {
			before = s.highest
		}
		number := before + id
		s.numbers[number] = true
		s.highest = max(s.highest, number)
		s.results = append(s.results, searchResult{number, r.Text("url"), r.Text("title")})
	}
}

var marker = regexp.MustCompile(`\[(\d+(?:, ?\d+)*)\]`)

// cite cites the results whose markers are in the text, in the order of the results, and consults the others.
func (s *searchResults) cite(a *response) {
	ranges := map[int64][]int{}
	for _, at := range marker.FindAllStringSubmatchIndex(a.Text(), -1) {
		for text := range strings.SplitSeq(a.Text()[at[2]:at[3]], ",") {
			if number, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && ranges[number] == nil {
				ranges[number] = at[:2]
			}
		}
	}
	for _, r := range s.results {
		if at := ranges[r.number]; at != nil {
			a.Cite(r.url, r.title, at[0], at[1])
		} else {
			a.Consult(r.url, r.title)
		}
	}
}
