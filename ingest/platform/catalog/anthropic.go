package catalog

import (
	"bytes"
	"context"
	"net/http"
	"slices"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
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
	header: func(key string) http.Header {
		return http.Header{"X-Api-Key": {key}, "Anthropic-Version": {"2023-06-01"}}
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

func anthropicRequest(q platform.Question) object {
	search := object{"type": "web_search_20250305", "name": "web_search", "max_uses": anthropicMaxSearches}
	body := object{
		"model": q.Model, "max_tokens": anthropicMaxTokens,
		"tools":    []object{withCountry(search, q, object{"type": "approximate"})},
		"messages": []object{{"role": "user", "content": []object{{"type": "text", "text": q.Text}}}},
	}
	if slices.Contains(forcesSearch, q.Model) {
		body["tool_choice"] = object{"type": "tool", "name": "web_search"}
	}
	return body
}

// askAnthropic sends the question. An answer that pauses is continued with one more request for each pause, at most
// five.
func askAnthropic(ctx context.Context, a account, q platform.Question) (platform.Reply, error) {
	var r anthropicReader
	body := anthropicRequest(q)
	for range 1 + anthropicMaxContinuations {
		raw, err := a.post(ctx, "/v1/messages", body)
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
		body["messages"] = append(body["messages"].([]object), object{"role": "assistant", "content": content})
		delete(body, "tool_choice") // it has searched
	}
	return r.reply()
}

var anthropicShape = shape{
	"":                           {"content items"},
	"text":                       {"text text", "citations? items:web_search_result_location"},
	"web_search_result_location": {"url text", "title text|null"},
	"web_search_tool_result":     {"content items|item"}, // an item says why the search failed
	"web_search_result":          {"url text", "title text|null"},

	"server_tool_use": nil, "web_search_tool_result_error": nil, "thinking": nil, "redacted_thinking": nil,
}

// anthropicReader reads the responses of one answer, of which there are several where it paused.
type anthropicReader struct {
	draft  draft
	bodies [][]byte
	usage  *event.Usage
	model  string
	finish event.Finish
	paused bool
}

// read reads one response, and returns its content.
func (r *anthropicReader) read(a account, raw []byte) (content any, err error) {
	body, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if body["error"] != nil {
		return nil, a.failed(raw)
	}
	if err := r.draft.check(body, anthropicShape); err != nil {
		return nil, err
	}
	searches := int64(0)
	for _, block := range body.list("content") {
		switch block.kind() {
		case "text":
			r.text(block)
			continue
		case "server_tool_use":
			if block.text("name") == "web_search" {
				searches++
				r.draft.search(block.text("input.query"))
			}
		case "web_search_tool_result":
			for _, page := range block.list("content") {
				if page.kind() == "web_search_result" {
					r.draft.consult(page.text("url"), page.text("title"))
				}
			}
		}
		r.draft.startParagraph()
	}
	r.bodies, r.model = append(r.bodies, raw), body.text("model")
	r.stop(body.text("stop_reason"))
	r.addUsage(body.object("usage"), searches)
	return body["content"], nil
}

func (r *anthropicReader) text(block object) {
	start := r.draft.write(block.text("text"))
	for _, page := range block.list("citations") {
		if page.kind() == "web_search_result_location" {
			r.draft.cite(page.text("url"), page.text("title"), start, len(r.draft.text()))
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
		r.draft.refused = true
	}
}

// addUsage adds the usage of one response.
func (r *anthropicReader) addUsage(usage object, searches int64) {
	tokens, ok := usage.counts(
		"input_tokens", "output_tokens", "cache_creation_input_tokens?", "cache_read_input_tokens?")
	if !ok {
		return
	}
	if n, ok := usage.number("server_tool_use.web_search_requests"); ok {
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
	return r.draft.reply(r.finish, r.model, r.usage, bytes.Join(r.bodies, []byte("\n")))
}
