// Package anthropic asks Anthropic's Claude models over the Messages API, with a web search.
package anthropic

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// Anthropic is a platform.Platform.
type Anthropic struct{ account wire.Account }

// New returns the platform for an account; baseURL "" is Anthropic's own.
func New(key, baseURL string) (platform.Platform, error) {
	header := http.Header{"X-Api-Key": {key}, "Anthropic-Version": {"2023-06-01"}}
	account, err := wire.NewAccount(key, baseURL, "https://api.anthropic.com", header)
	return &Anthropic{account}, err
}

const (
	maxTokens        = 8192
	maxSearches      = 5
	maxContinuations = 5
)

type request struct {
	Model      string    `json:"model"`
	MaxTokens  int       `json:"max_tokens"`
	Messages   []message `json:"messages"`
	Tools      []tool    `json:"tools"`
	ToolChoice *choice   `json:"tool_choice,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type tool struct {
	Type         string    `json:"type"`
	Name         string    `json:"name"`
	MaxUses      int       `json:"max_uses"`
	UserLocation *location `json:"user_location,omitempty"`
}

type location struct {
	Type    string `json:"type"`
	Country string `json:"country"`
}

type choice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// forcible lists the models that can be made to search. Later ones, from claude-opus-5-5 and claude-sonnet-5-5 on,
// answer 400 to that.
var forcible = []string{"claude-haiku-4-5", "claude-opus-4-7"}

func newRequest(q platform.Question) request {
	search := tool{Type: "web_search_20250305", Name: "web_search", MaxUses: maxSearches}
	if q.Region != "" {
		search.UserLocation = &location{"approximate", strings.ToUpper(q.Region)}
	}
	r := request{
		Model: Description.Requested(q.Model), MaxTokens: maxTokens, Tools: []tool{search},
		Messages: []message{{"user", []map[string]string{{"type": "text", "text": q.Text}}}},
	}
	if slices.Contains(forcible, r.Model) {
		r.ToolChoice = &choice{"tool", search.Name}
	}
	return r
}

// Ask sends the question. An answer that pauses is continued with one more request for each pause, at most five.
func (a *Anthropic) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	var r reader
	body := newRequest(q)
	for range 1 + maxContinuations {
		raw, err := a.account.Post(ctx, "/v1/messages", body)
		if err != nil {
			return platform.Reply{}, err
		}
		content, err := r.read(a.account, raw)
		if err != nil {
			return platform.Reply{}, err
		}
		if !r.paused {
			break
		}
		body.Messages = append(body.Messages, message{"assistant", content})
		body.ToolChoice = nil // it has searched
	}
	reply, err := r.reply()
	return Description.Priced(reply, q.Model), err
}

var shape = wire.Shape{
	"":                           {"content items"},
	"text":                       {"text text", "citations? items:web_search_result_location"},
	"web_search_result_location": {"url text", "title text|null"},
	"web_search_tool_result":     {"content items|item"}, // an item says why the search failed
	"web_search_result":          {"url text", "title text|null"},

	"server_tool_use": nil, "web_search_tool_result_error": nil, "thinking": nil, "redacted_thinking": nil,
}

// reader reads the responses of one answer, of which there are several where it paused.
type reader struct {
	draft  wire.Draft
	bodies [][]byte
	usage  *event.Usage
	model  string
	finish event.Finish
	paused bool
}

// read reads one response, and returns its content.
func (r *reader) read(account wire.Account, raw []byte) (content any, err error) {
	body, err := wire.Decode(raw)
	if err != nil {
		return nil, err
	}
	if body["error"] != nil {
		return nil, account.Failed(raw)
	}
	if err := r.draft.Check(body, shape); err != nil {
		return nil, err
	}
	searches := int64(0)
	for _, block := range body.List("content") {
		switch block.Kind() {
		case "text":
			r.text(block)
			continue
		case "server_tool_use":
			if block.Text("name") == "web_search" {
				searches++
				r.draft.Search(block.Text("input.query"))
			}
		case "web_search_tool_result":
			for _, page := range block.List("content") {
				if page.Kind() == "web_search_result" {
					r.draft.Consult(page.Text("url"), page.Text("title"))
				}
			}
		}
		r.draft.Separate()
	}
	r.bodies, r.model = append(r.bodies, raw), body.Text("model")
	r.stopped(body.Text("stop_reason"))
	r.addUsage(body.Object("usage"), searches)
	return body["content"], nil
}

func (r *reader) text(block wire.Object) {
	start := r.draft.Write(block.Text("text"))
	for _, page := range block.List("citations") {
		if page.Kind() == "web_search_result_location" {
			r.draft.Cite(page.Text("url"), page.Text("title"), start, len(r.draft.Text()))
		}
	}
}

func (r *reader) stopped(reason string) {
	r.paused, r.finish = false, event.FinishComplete
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		r.finish = event.FinishTruncated
	case "pause_turn":
		r.paused, r.finish = true, event.FinishTruncated // it stays so if it is not continued
	case "refusal":
		r.draft.Refused = true
	}
}

// addUsage adds the usage of one response.
func (r *reader) addUsage(usage wire.Object, searches int64) {
	tokens, ok := usage.Counts(
		"input_tokens", "output_tokens", "cache_creation_input_tokens?", "cache_read_input_tokens?")
	if !ok {
		return
	}
	if n, ok := usage.Number("server_tool_use.web_search_requests"); ok {
		searches = n
	}
	if r.usage == nil {
		r.usage = &event.Usage{}
	}
	r.usage.InputTokens += tokens[0] + tokens[2] + tokens[3]
	r.usage.OutputTokens += tokens[1]
	r.usage.Searches += searches
}

// reply returns the answer; its raw payload is every response, a line each.
func (r *reader) reply() (platform.Reply, error) {
	return r.draft.Reply(r.finish, r.model, r.usage, bytes.Join(r.bodies, []byte("\n")))
}
