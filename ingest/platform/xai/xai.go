// Package xai asks xAI's Grok models over its Responses API, with a web search.
package xai

import (
	"context"
	"regexp"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/responses"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// XAI is a platform.Platform.
type XAI struct{ account wire.Account }

// New returns the platform for an account; baseURL "" is xAI's own.
func New(key, baseURL string) (*XAI, error) {
	account, err := wire.NewAccount(key, baseURL, "https://api.x.ai")
	return &XAI{account}, err
}

type request struct {
	Model string `json:"model"`
	Input string `json:"input"`
	Tools []tool `json:"tools"`
	Store bool   `json:"store"`
}

type tool struct {
	Type         string    `json:"type"`
	UserLocation *location `json:"user_location,omitempty"`
}

type location struct {
	Type    string `json:"type"`
	Country string `json:"country"`
}

// Ask puts the question to the model, which may search the web.
func (x *XAI) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	search := tool{Type: "web_search"}
	if q.Region != "" {
		search.UserLocation = &location{Type: "approximate", Country: strings.ToUpper(q.Region)}
	}
	raw, err := x.account.Post(ctx, "/v1/responses", request{Model: Description.Requested(q.Model), Input: q.Text, Tools: []tool{search}})
	if err != nil {
		return platform.Reply{}, err
	}
	reply, err := read(x.account, raw)
	return Description.Priced(reply, q.Model), err
}

func read(account wire.Account, raw []byte) (platform.Reply, error) {
	return responses.Reader{Annotations: true, Finish: links, Usage: usage}.Read(account, raw)
}

// link is a citation within the text: [[1]](https://…).
var link = regexp.MustCompile(`\[\[\d+\]\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)`)

// links cites what the text links to, and consults every URL that was encountered.
func links(a *responses.Answer) {
	text := a.Text()
	for _, at := range link.FindAllStringSubmatchIndex(text, -1) {
		a.Cite(text[at[2]:at[3]], "", at[0], at[1])
	}
	for _, address := range a.Whole.Citations {
		a.Consult(address, "")
	}
}

// usage reads xAI's form: it says what the answer costs, in parts of 10⁻¹⁰ US dollars
// (https://docs.x.ai/developers/cost-tracking).
func usage(text wire.Object, searches int64) *event.Usage {
	u := responses.Usage(text, searches)
	var of struct {
		Ticks   wire.Object `json:"cost_in_usd_ticks"`
		Details *struct {
			WebSearches int64 `json:"web_search_calls"`
		} `json:"server_side_tool_usage_details"`
	}
	if u == nil || !wire.Lenient(text, &of) {
		return u
	}
	if of.Details != nil {
		u.Searches = of.Details.WebSearches
	}
	u.CostUSD, _ = event.Decimal(string(of.Ticks) + "e-10") // "" where it is no number
	return u
}
