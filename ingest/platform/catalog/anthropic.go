package catalog

import (
	"bytes"
	"context"
	"net/http"
	"slices"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// anthropic asks Anthropic's Claude models over the Messages API, with a web search. The limits are for a new account.
var anthropic = api{
	Description: platform.Description{
		Slug: "anthropic", Name: "Anthropic", NeedsKey: true, TakesRegion: true,
		Models: models(event.Usage{InputTokens: 15_000, OutputTokens: 900, Searches: 1},
			platform.Model{Slug: "claude-sonnet-5-5", Price: usd("2026-09-29", "2", "10", "10")},
			platform.Model{Slug: "claude-haiku-4-5", Price: usd("2026-03-21", "1", "5", "10")},
			platform.Model{Slug: "claude-opus-4-7", Price: usd("2026-05-22", "5", "25", "10")},
			platform.Model{Slug: "claude-opus-5-5", Price: usd("2026-09-23", "4", "20", "10")},
			platform.Model{Slug: "claude-haiku-5-5"},
		),
		Limits: platform.Limits{RequestsPerMinute: 50, TokensPerMinute: 30_000, InFlight: 20},
	},
	baseURL: "https://api.anthropic.com",
	authorize: func(request *http.Request, key string) {
		request.Header.Set("X-Api-Key", key)
		request.Header.Set("Anthropic-Version", "2023-06-01")
	},
	ask: askAnthropic,
}

const (
	anthropicMaxTokens        = 8192
	anthropicMaxSearches      = 5
	anthropicMaxContinuations = 5
)

// forcesSearch lists the models that can be made to search. Later ones, from claude-opus-5-5 and claude-sonnet-5-5 on,
// answer 400 to that.
var forcesSearch = []string{"claude-haiku-4-5", "claude-opus-4-7"}

func anthropicRequest(q platform.Question) wire.Object {
	search := wire.Object{"type": "web_search_20250305", "name": "web_search", "max_uses": anthropicMaxSearches}
	body := wire.Object{
		"model": q.Model, "max_tokens": anthropicMaxTokens,
		"tools":    []wire.Object{withCountry(search, q, wire.Object{"type": "approximate"})},
		"messages": []wire.Object{{"role": "user", "content": []wire.Object{{"type": "text", "text": q.Text}}}},
	}
	if slices.Contains(forcesSearch, q.Model) {
		body["tool_choice"] = wire.Object{"type": "tool", "name": "web_search"}
	}
	return body
}

// askAnthropic sends the question. An answer that pauses is continued with one more request for each pause, at most
// five.
func askAnthropic(ctx context.Context, a wire.Account, q platform.Question) (platform.Reply, error) {
	var r anthropicReader
	body := anthropicRequest(q)
	for range 1 + anthropicMaxContinuations {
		raw, err := a.Post(ctx, "/v1/messages", body)
		if err != nil {
			return platform.Reply{}, err
		}
		content, err := r.read(a, raw)
		if err != nil {
			return platform.Reply{}, err
		}
		if !r.paused {
			break
		}
		messages := body["messages"].([]wire.Object)
		body["messages"] = append(messages, wire.Object{"role": "assistant", "content": content})
		delete(body, "tool_choice") // it has searched
	}
	return r.reply()
}

var anthropicShape = wire.Shape{
	"":                           {"content items"},
	"text":                       {"text text", "citations? items:web_search_result_location"},
	"web_search_result_location": {"url text", "title text|null"},
	"web_search_tool_result":     {"content items|item"}, // an item says why the search failed
	"web_search_result":          {"url text", "title text|null"},

	"server_tool_use": nil, "web_search_tool_result_error": nil, "thinking": nil, "redacted_thinking": nil,
}

// anthropicReader reads the responses of one answer, of which there are several where it paused.
type anthropicReader struct {
	draft  wire.Draft
	bodies [][]byte
	usage  *event.Usage
	model  string
	finish event.Finish
	paused bool
}

// read reads one response, and returns its content.
func (r *anthropicReader) read(a wire.Account, raw []byte) (content any, err error) {
	body, err := wire.Decode(raw)
	if err != nil {
		return nil, err
	}
	if body["error"] != nil {
		return nil, a.Failed(raw)
	}
	if err := r.draft.Check(body, anthropicShape); err != nil {
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
		r.draft.StartParagraph()
	}
	r.bodies, r.model = append(r.bodies, raw), body.Text("model")
	r.stop(body.Text("stop_reason"))
	r.addUsage(body.Object("usage"), searches)
	return body["content"], nil
}

func (r *anthropicReader) text(block wire.Object) {
	start := r.draft.Write(block.Text("text"))
	for _, page := range block.List("citations") {
		if page.Kind() == "web_search_result_location" {
			r.draft.Cite(page.Text("url"), page.Text("title"), start, len(r.draft.Text()))
		}
	}
}

func (r *anthropicReader) stop(reason string) {
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
func (r *anthropicReader) addUsage(usage wire.Object, searches int64) {
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
func (r *anthropicReader) reply() (platform.Reply, error) {
	return r.draft.Reply(r.finish, r.model, r.usage, bytes.Join(r.bodies, []byte("\n")))
}
