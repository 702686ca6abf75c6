// Package perplexity asks Perplexity's Sonar over its Agent API, with a web search.
package perplexity

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/responses"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// New returns the platform for an account; baseURL "" is Perplexity's own.
func New(key, baseURL string) (platform.Platform, error) {
	account, err := wire.NewAccount(key, baseURL, "https://api.perplexity.ai", wire.Bearer(key))
	return wire.API{
		Description: Description, Account: account, Path: "/v1/agent", Request: newRequest, Read: read,
	}, err
}

// request has no field that the API does not know, since it refuses those.
type request struct {
	Model string `json:"model"`
	Input string `json:"input"`
	Tools []tool `json:"tools"`
}

type tool struct {
	Type         string    `json:"type"`
	UserLocation *location `json:"user_location,omitempty"`
}

type location struct {
	Country string `json:"country"`
}

func newRequest(q platform.Question) any {
	search := tool{Type: "web_search"}
	if q.Region != "" {
		search.UserLocation = &location{strings.ToUpper(q.Region)}
	}
	return request{Model: Description.Requested(q.Model), Input: q.Text, Tools: []tool{search}}
}

var shape = responses.Shape(wire.Shape{
	"search_results": {"queries? texts", "results[].id number", "results[].url text", "results[].title text"},
	"skill_loaded":   nil, "finance_results": nil,
})

func read(account wire.Account, raw []byte) (platform.Reply, error) {
	f := findings{numbers: map[int64]bool{}}
	return responses.Reader{Shape: shape, Item: f.item, Finish: f.cite, Usage: usage}.Read(account, raw)
}

// findings holds the results of all searches of an answer.
type findings struct {
	results []result
	numbers map[int64]bool
	highest int64
}

type result struct {
	number     int64
	url, title string
}

// item reads the results of a search. Markers count on over all searches; ids of a search that begin anew are added to
// the highest before.
func (f *findings) item(a *responses.Answer, item wire.Object) {
	if item.Kind() != "search_results" {
		return
	}
	a.Searches++
	for _, query := range item.Texts("queries") {
		a.Search(query)
	}
	before := int64(0)
	for i, r := range item.List("results") {
		id, _ := r.Number("id")
		if i == 0 && f.numbers[id] {
			before = f.highest
		}
		number := before + id
		f.numbers[number] = true
		f.highest = max(f.highest, number)
		f.results = append(f.results, result{number, r.Text("url"), r.Text("title")})
	}
}

var marker = regexp.MustCompile(`\[(\d+(?:, ?\d+)*)\]`)

// cite cites the results whose markers are in the text, in the order of the results, and consults the others.
func (f *findings) cite(a *responses.Answer) {
	ranges := map[int64][]int{}
	for _, at := range marker.FindAllStringSubmatchIndex(a.Text(), -1) {
		for text := range strings.SplitSeq(a.Text()[at[2]:at[3]], ",") {
			if number, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && ranges[number] == nil {
				ranges[number] = at[:2]
			}
		}
	}
	for _, r := range f.results {
		if at := ranges[r.number]; at != nil {
			a.Cite(r.url, r.title, at[0], at[1])
		} else {
			a.Consult(r.url, r.title)
		}
	}
}

func usage(usage wire.Object, searches int64) *event.Usage {
	u := responses.Usage(usage, searches)
	if u == nil {
		return nil
	}
	if n, ok := usage.Number("tool_calls_details.search_web.invocation"); ok {
		u.Searches = n
	}
	u.CostUSD, _ = event.Decimal(usage.Decimal("cost.total_cost")) // "" where it is no number
	return u
}
