// Package perplexity asks Perplexity's Sonar over its Agent API, with a web search.
package perplexity

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/responses"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// Perplexity is a platform.Platform.
type Perplexity struct{ account wire.Account }

// New returns the platform for an account; baseURL "" is Perplexity's own.
func New(key, baseURL string) (*Perplexity, error) {
	account, err := wire.NewAccount(key, baseURL, "https://api.perplexity.ai")
	return &Perplexity{account}, err
}

// request has no field that the API does not know: it refuses those.
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

// Ask puts the question to the model, which may search the web.
func (p *Perplexity) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	search := tool{Type: "web_search"}
	if q.Region != "" {
		search.UserLocation = &location{Country: strings.ToUpper(q.Region)}
	}
	raw, err := p.account.Post(ctx, "/v1/agent", request{Model: Description.Requested(q.Model), Input: q.Text, Tools: []tool{search}})
	if err != nil {
		return platform.Reply{}, err
	}
	reply, err := read(p.account, raw)
	return Description.Priced(reply, q.Model), err
}

func read(account wire.Account, raw []byte) (platform.Reply, error) {
	f := findings{taken: map[int]bool{}}
	return responses.Reader{Item: f.item, Finish: f.cite, Usage: usage}.Read(account, raw)
}

// findings are the results of all searches of an answer.
type findings struct {
	results []result
	taken   map[int]bool
	highest int
}

type result struct {
	number     int
	url, title string
}

// item reads the results of a search. Markers count on over all searches; should the ids of a search begin anew, they
// are counted on.
func (f *findings) item(a *responses.Answer, kind string, item wire.Object, at string) error {
	switch kind {
	case "search_results":
	case "skill_loaded", "finance_results":
		return nil
	default:
		a.PassOver(kind)
		return nil
	}
	var search struct {
		Queries []string `json:"queries"`
		Results []struct {
			ID    *int    `json:"id" need:"true"`
			URL   *string `json:"url" need:"true"`
			Title *string `json:"title" need:"true"`
		} `json:"results" need:"true"`
	}
	if err := wire.Decode(item, &search, at); err != nil {
		return err
	}
	a.Searches++
	for _, query := range search.Queries {
		a.Search(query)
	}
	before := 0
	if len(search.Results) > 0 && f.taken[*search.Results[0].ID] {
		before = f.highest
	}
	for _, r := range search.Results {
		number := before + *r.ID
		f.taken[number] = true
		f.highest = max(f.highest, number)
		f.results = append(f.results, result{number, *r.URL, *r.Title})
	}
	return nil
}

var marker = regexp.MustCompile(`\[(\d+(?:, ?\d+)*)\]`)

// cite cites the results that the text has markers of, in their order, and consults the others.
func (f *findings) cite(a *responses.Answer) {
	ranges := map[int][]int{}
	for _, at := range marker.FindAllStringSubmatchIndex(a.Text(), -1) {
		for text := range strings.SplitSeq(a.Text()[at[2]:at[3]], ",") {
			if number, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && ranges[number] == nil {
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

func usage(text wire.Object, searches int64) *event.Usage {
	u := responses.Usage(text, searches)
	var of struct {
		Cost struct {
			Total wire.Object `json:"total_cost"`
		} `json:"cost"`
		Calls struct {
			Search *struct {
				Invocations int64 `json:"invocation"`
			} `json:"search_web"`
		} `json:"tool_calls_details"`
	}
	if u == nil || !wire.Lenient(text, &of) {
		return u
	}
	if of.Calls.Search != nil {
		u.Searches = of.Calls.Search.Invocations
	}
	u.CostUSD, _ = event.Decimal(string(of.Cost.Total)) // "" where it is no number
	return u
}
