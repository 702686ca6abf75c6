package catalog

import (
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// openAI asks OpenAI's models over its Responses API, with a web search. The limits are for a new account.
var openAI = api{
	Description: platform.Description{
		Slug: "openai", Name: "OpenAI", NeedsKey: true, TakesRegion: true,
		Models: models(event.Usage{InputTokens: 12_000, OutputTokens: 900, Searches: 1},
			platform.Model{Slug: "gpt-5.4", Price: usd("2026-05-04", "2.50", "15", "10")},
			platform.Model{Slug: "gpt-5.4-mini", Price: usd("2026-05-04", "0.75", "4.50", "10")},
			platform.Model{Slug: "gpt-5.5", Price: usd("2026-05-04", "5", "30", "10")},
			// The list's price; from August to November it cost less.
			platform.Model{Slug: "gpt-5.6-sol", Price: usd("2026-09-24", "5", "30", "10")},
			platform.Model{Slug: "gpt-5.6-terra", Price: usd("2026-07-30", "2", "12", "10")},
			platform.Model{Slug: "gpt-5.6-luna", Price: usd("2026-07-30", "0.20", "1.20", "10")},
		),
		Limits: platform.Limits{RequestsPerMinute: 500, TokensPerMinute: 500_000, InFlight: 50},
	},
	baseURL: "https://api.openai.com", authorize: wire.Bearer,
	ask: exchange("/v1/responses", openAIRequest, readOpenAI.read),
}

// openAIRequest makes the model search the web. Without a location OpenAI searches as a user in the United States, so a
// question without a region sends an empty one.
func openAIRequest(q platform.Question) wire.Object {
	location := wire.Object{"type": "approximate"}
	if q.Region != "" {
		location["country"] = strings.ToUpper(q.Region)
	}
	return wire.Object{
		"model": q.Model, "input": q.Text, "store": false, "tool_choice": "required",
		"include": []string{"web_search_call.action.sources"},
		"tools":   []wire.Object{{"type": "web_search", "user_location": location}},
	}
}

// readOpenAI requires what OpenAI sends with every annotation, and prefers the number of searches that OpenAI bills to
// the number of calls.
var readOpenAI = responsesReader{
	shape: withResponses(wire.Shape{
		"url_citation": {"url text", "title text", "start_index number", "end_index number"},
	}),
	titles: true,
	finish: func(a *response) {
		if n, ok := a.body.Number("tool_usage.web_search.num_requests"); ok {
			a.searches = n
		}
	},
	usage: responsesUsage,
}
