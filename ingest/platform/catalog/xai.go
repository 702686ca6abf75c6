package catalog

import (
	"regexp"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// xAI asks xAI's Grok models over its Responses API, with a web search. Its answers include their cost; the prices are
// for estimates.
var xAI = api{
	Description: platform.Description{
		Slug: "xai", Name: "xAI", NeedsKey: true, TakesRegion: true,
		Models: models(event.Usage{InputTokens: 20_000, OutputTokens: 1200, Searches: 3},
			platform.Model{Slug: "grok-4.3", Price: usd("2026-07-02", "1.25", "2.50", "5")},
			platform.Model{Slug: "grok-4.7", Price: usd("2026-09-29", "2", "6", "5")},
		),
		Limits: platform.Limits{RequestsPerMinute: 480, TokensPerMinute: 4_000_000, InFlight: 50},
	},
	baseURL: "https://api.x.ai", authorize: wire.Bearer,
	ask: exchange("/v1/responses", xAIRequest, readXAI.read),
}

func xAIRequest(q platform.Question) wire.Object {
	search := withCountry(wire.Object{"type": "web_search"}, q, wire.Object{"type": "approximate"})
	return wire.Object{"model": q.Model, "input": q.Text, "store": false, "tools": []wire.Object{search}}
}

var readXAI = responsesReader{
	shape: withResponses(wire.Shape{
		"": {"status? text", "model? text", "output items", "citations? texts"},
	}),
	finish: citeLinks,
	usage: func(usage wire.Object, searches int64) *event.Usage {
		// The cost is in units of 10⁻¹⁰ US dollars (https://docs.x.ai/developers/cost-tracking).
		cost := usage.Decimal("cost_in_usd_ticks") + "e-10"
		return usageWithCost(usage, searches, "server_side_tool_usage_details.web_search_calls", cost)
	},
}

// numberedLink is a citation within the text: [[1]](https://…).
var numberedLink = regexp.MustCompile(`\[\[\d+\]\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)`)

// citeLinks cites the links of the text, and consults every URL that was encountered.
func citeLinks(a *response) {
	text := a.Text()
	for _, at := range numberedLink.FindAllStringSubmatchIndex(text, -1) {
		a.Cite(text[at[2]:at[3]], "", at[0], at[1])
	}
	for _, address := range a.body.Texts("citations") {
		a.Consult(address, "")
	}
}
