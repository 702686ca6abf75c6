// Package xai asks xAI's Grok models over its Responses API, with a web search.
package xai

import (
	"regexp"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/responses"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// New returns the platform for an account; baseURL "" is xAI's own.
func New(key, baseURL string) (platform.Platform, error) {
	account, err := wire.NewAccount(key, baseURL, "https://api.x.ai", wire.Bearer(key))
	return wire.API{
		Description: Description, Account: account, Path: "/v1/responses", Request: newRequest, Read: read,
	}, err
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

func newRequest(q platform.Question) any {
	search := tool{Type: "web_search"}
	if q.Region != "" {
		search.UserLocation = &location{"approximate", strings.ToUpper(q.Region)}
	}
	return request{Model: Description.Requested(q.Model), Input: q.Text, Tools: []tool{search}}
}

var shape = responses.Shape(wire.Shape{
	"":            {"status? text", "model? text", "output items", "citations? texts"},
	"output_text": {"text text", "annotations items"},
})

func read(account wire.Account, raw []byte) (platform.Reply, error) {
	return responses.Reader{Shape: shape, Finish: citeLinks, Usage: usage}.Read(account, raw)
}

// link is a citation within the text: [[1]](https://…).
var link = regexp.MustCompile(`\[\[\d+\]\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)`)

// citeLinks cites the links of the text, and consults every URL that was encountered.
func citeLinks(a *responses.Answer) {
	text := a.Text()
	for _, at := range link.FindAllStringSubmatchIndex(text, -1) {
		a.Cite(text[at[2]:at[3]], "", at[0], at[1])
	}
	for _, address := range a.Body.Texts("citations") {
		a.Consult(address, "")
	}
}

// usage reads xAI's form, which has the cost of the answer in units of 10⁻¹⁰ US dollars
// (https://docs.x.ai/developers/cost-tracking).
func usage(usage wire.Object, searches int64) *event.Usage {
	u := responses.Usage(usage, searches)
	if u == nil {
		return nil
	}
	if n, ok := usage.Number("server_side_tool_usage_details.web_search_calls"); ok {
		u.Searches = n
	}
	u.CostUSD, _ = event.Decimal(usage.Decimal("cost_in_usd_ticks") + "e-10") // "" where it is no number
	return u
}
