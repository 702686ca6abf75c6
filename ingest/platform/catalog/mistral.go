package catalog

import (
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// mistral asks Mistral's models over its Conversations API, with a web search. The price of its searches is not known.
var mistral = api{
	Description: platform.Description{
		Slug: "mistral", Name: "Mistral", NeedsKey: true,
		Models: models(event.Usage{InputTokens: 10_000, OutputTokens: 700, Searches: 1},
			platform.Model{Slug: "mistral-medium-latest"}, platform.Model{Slug: "mistral-large-latest"}),
		Limits: platform.Limits{RequestsPerMinute: 60, TokensPerMinute: 500_000, InFlight: 10},
	},
	baseURL: "https://api.mistral.ai", authorize: wire.Bearer,
	ask: exchange("/v1/conversations", mistralRequest, readMistral),
}

func mistralRequest(q platform.Question) wire.Object {
	return wire.Object{
		"model": q.Model, "inputs": q.Text, "tools": []wire.Object{{"type": "web_search"}},
		"stream": false, "store": false,
	}
}

var mistralShape = wire.Shape{
	"":               {"outputs items"},
	"message.output": {"content text|items", "model? text"},
	"text":           {"text text"},
	"tool_reference": {"tool text", "title text", "url text|null"},

	"tool.execution": nil, "thinking": nil,
}

func readMistral(a wire.Account, raw []byte) (platform.Reply, error) {
	body, err := wire.Decode(raw)
	if err != nil {
		return platform.Reply{}, err
	}
	if body.Text("object") == "error" || body["error"] != nil || body["outputs"] == nil && body["detail"] != nil {
		return platform.Reply{}, a.Failed(raw)
	}
	var d wire.Draft
	if err := d.Check(body, mistralShape); err != nil {
		return platform.Reply{}, err
	}
	model, searches := "", int64(0)
	for _, item := range body.List("outputs") {
		switch item.Kind() {
		case "message.output":
			if name := item.Text("model"); name != "" {
				model = name
			}
			mistralMessage(&d, item)
		case "tool.execution":
			if strings.HasPrefix(item.Text("name"), "web_search") {
				searches++
				d.Search(mistralQuery(item))
			}
		}
	}
	return d.Reply(event.FinishComplete, model, mistralUsage(body.Object("usage"), searches), raw)
}

// mistralMessage reads a message, whose content is a text or a list of chunks.
func mistralMessage(d *wire.Draft, item wire.Object) {
	d.StartParagraph()
	d.Write(item.Text("content"))
	for _, chunk := range item.List("content") {
		switch chunk.Kind() {
		case "text":
			d.Write(chunk.Text("text"))
		case "tool_reference": // without a URL where it is no page
			d.Cite(chunk.Text("url"), chunk.Text("title"), 0, 0)
		}
	}
}

// mistralQuery returns the query of a call of the search. Its arguments are an object, or the text of one.
func mistralQuery(call wire.Object) string {
	arguments := call.Object("arguments")
	if text := call.Text("arguments"); text != "" {
		arguments, _ = wire.Decode([]byte(text))
	}
	return arguments.Text("query")
}

func mistralUsage(usage wire.Object, searches int64) *event.Usage {
	counts, ok := usage.Counts("prompt_tokens", "completion_tokens", "connector_tokens?")
	if !ok {
		return nil
	}
	if n, ok := usage.Number("connectors.web_search"); ok {
		searches = n
	}
	return &event.Usage{InputTokens: counts[0] + counts[2], OutputTokens: counts[1], Searches: searches}
}
