package catalog

import (
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// mistral asks Mistral's models over its Conversations API, with a web search. The price of its searches is not known.
var mistral = api{
	Description: platform.Description{
		Slug: "mistral", Name: "Mistral", NeedsKey: true,
		Models: models(event.Usage{InputTokens: 10_000, OutputTokens: 700, Searches: 1},
			platform.Model{Slug: "mistral-medium-latest"}, platform.Model{Slug: "mistral-large-latest"}),
		Limits: platform.Limits{RequestsPerMinute: 60, TokensPerMinute: 500_000, InFlight: 10},
	},
	baseURL: "https://api.mistral.ai", header: bearer,
	ask: exchange("/v1/conversations", mistralRequest, readMistral),
}

func mistralRequest(q platform.Question) object {
	return object{
		"model": q.Model, "inputs": q.Text, "tools": []object{{"type": "web_search"}}, "stream": false, "store": false,
	}
}

var mistralShape = shape{
	"":               {"outputs items"},
	"message.output": {"content text|items", "model? text"},
	"text":           {"text text"},
	"tool_reference": {"tool text", "title text", "url? text"},

	"tool.execution": nil, "thinking": nil,
}

func readMistral(a account, raw []byte) (platform.Reply, error) {
	body, err := decode(raw)
	if err != nil {
		return platform.Reply{}, err
	}
	if body.text("object") == "error" || body["error"] != nil || body["outputs"] == nil && body["detail"] != nil {
		return platform.Reply{}, a.failed(raw)
	}
	var d draft
	if err := d.check(body, mistralShape); err != nil {
		return platform.Reply{}, err
	}
	model, searches := "", int64(0)
	for _, item := range body.list("outputs") {
		switch item.kind() {
		case "message.output":
			if name := item.text("model"); name != "" {
				model = name
			}
			mistralMessage(&d, item)
		case "tool.execution":
			if strings.HasPrefix(item.text("name"), "web_search") {
				searches++
				d.search(mistralQuery(item))
			}
		}
	}
	return d.reply(event.FinishComplete, model, mistralUsage(body.object("usage"), searches), raw)
}

// mistralMessage reads a message, whose content is a text or a list of chunks.
func mistralMessage(d *draft, item object) {
	d.startParagraph()
	d.write(item.text("content"))
	for _, chunk := range item.list("content") {
		switch chunk.kind() {
		case "text":
			d.write(chunk.text("text"))
		case "tool_reference": // without a URL where it is no page
			d.cite(chunk.text("url"), chunk.text("title"), 0, 0)
		}
	}
}

// mistralQuery returns the query of a call of the search. Its arguments are an object, or the text of one.
func mistralQuery(call object) string {
	arguments := call.object("arguments")
	if text := call.text("arguments"); text != "" {
		arguments, _ = decode([]byte(text))
	}
	return arguments.text("query")
}

func mistralUsage(usage object, searches int64) *event.Usage {
	counts, ok := usage.counts("prompt_tokens", "completion_tokens", "connector_tokens?")
	if !ok {
		return nil
	}
	if n, ok := usage.number("connectors.web_search"); ok {
		searches = n
	}
	return &event.Usage{InputTokens: counts[0] + counts[2], OutputTokens: counts[1], Searches: searches}
}
