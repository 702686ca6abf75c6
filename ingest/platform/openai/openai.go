// Package openai asks OpenAI's models over its Responses API, with a web search.
package openai

import (
	"strings"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/responses"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// New returns the platform for an account; baseURL "" is OpenAI's own.
func New(key, baseURL string) (platform.Platform, error) {
	account, err := wire.NewAccount(key, baseURL, "https://api.openai.com", wire.Bearer(key))
	return wire.API{
		Description: Description, Account: account, Path: "/v1/responses", Request: newRequest, Read: read,
	}, err
}

type request struct {
	Model      string   `json:"model"`
	Input      string   `json:"input"`
	Tools      []tool   `json:"tools"`
	ToolChoice string   `json:"tool_choice"`
	Include    []string `json:"include"`
	Store      bool     `json:"store"`
}

type tool struct {
	Type         string   `json:"type"`
	UserLocation location `json:"user_location"`
}

type location struct {
	Type    string `json:"type"`
	Country string `json:"country,omitempty"`
}

// newRequest makes the model search the web. Without a location OpenAI searches as a user in the United States, so a
// question without a region sends an empty one.
func newRequest(q platform.Question) any {
	return request{
		Model: Description.Requested(q.Model), Input: q.Text, ToolChoice: "required",
		Include: []string{"web_search_call.action.sources"},
		Tools:   []tool{{"web_search", location{"approximate", strings.ToUpper(q.Region)}}},
	}
}

// shape requires what OpenAI sends with every annotation.
var shape = responses.Shape(wire.Shape{
	"output_text":  {"text text", "annotations items"},
	"url_citation": {"url text", "title text", "start_index number", "end_index number"},
})

func read(account wire.Account, raw []byte) (platform.Reply, error) {
	return responses.Reader{Shape: shape, Titles: true, Finish: countSearches}.Read(account, raw)
}

// countSearches prefers the number of searches that OpenAI bills to the number of calls.
func countSearches(a *responses.Answer) {
	if n, ok := a.Body.Number("tool_usage.web_search.num_requests"); ok {
		a.Searches = n
	}
}
