// Package mistral asks Mistral's models over its Conversations API, with a web search.
package mistral

import (
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// New returns the platform for an account; baseURL "" is Mistral's own.
func New(key, baseURL string) (platform.Platform, error) {
	account, err := wire.NewAccount(key, baseURL, "https://api.mistral.ai", wire.Bearer(key))
	return wire.API{
		Description: Description, Account: account, Path: "/v1/conversations", Request: newRequest, Read: read,
	}, err
}

type request struct {
	Model  string `json:"model"`
	Inputs string `json:"inputs"`
	Tools  []tool `json:"tools"`
	Stream bool   `json:"stream"`
	Store  bool   `json:"store"`
}

type tool struct {
	Type string `json:"type"`
}

func newRequest(q platform.Question) any {
	return request{Model: Description.Requested(q.Model), Inputs: q.Text, Tools: []tool{{"web_search"}}}
}

var shape = wire.Shape{
	"":               {"outputs items"},
	"message.output": {"content text|items", "model? text"},
	"text":           {"text text"},
	"tool_reference": {"tool text", "title text", "url? text"},

	"tool.execution": nil, "thinking": nil,
}

func read(account wire.Account, raw []byte) (platform.Reply, error) {
	body, err := wire.Decode(raw)
	if err != nil {
		return platform.Reply{}, err
	}
	if body.Text("object") == "error" || body["error"] != nil || body["outputs"] == nil && body["detail"] != nil {
		return platform.Reply{}, account.Failed(raw)
	}
	var draft wire.Draft
	if err := draft.Check(body, shape); err != nil {
		return platform.Reply{}, err
	}
	model, searches := "", int64(0)
	for _, item := range body.List("outputs") {
		switch item.Kind() {
		case "message.output":
			if name := item.Text("model"); name != "" {
				model = name
			}
			message(&draft, item)
		case "tool.execution":
			if strings.HasPrefix(item.Text("name"), "web_search") {
				searches++
				draft.Search(query(item))
			}
		}
	}
	return draft.Reply(event.FinishComplete, model, usage(body.Object("usage"), searches), raw)
}

// message reads a message, whose content is a text or a list of chunks.
func message(draft *wire.Draft, item wire.Object) {
	draft.Separate()
	draft.Write(item.Text("content"))
	for _, chunk := range item.List("content") {
		switch chunk.Kind() {
		case "text":
			draft.Write(chunk.Text("text"))
		case "tool_reference": // without a URL where it is no page
			draft.Cite(chunk.Text("url"), chunk.Text("title"), 0, 0)
		}
	}
}

// query returns the query of a call of the search. Its arguments are an object, or the text of one.
func query(call wire.Object) string {
	arguments := call.Object("arguments")
	if text := call.Text("arguments"); text != "" {
		arguments, _ = wire.Decode([]byte(text))
	}
	return arguments.Text("query")
}

func usage(usage wire.Object, searches int64) *event.Usage {
	counts, ok := usage.Counts("prompt_tokens", "completion_tokens", "connector_tokens?")
	if !ok {
		return nil
	}
	if n, ok := usage.Number("connectors.web_search"); ok {
		searches = n
	}
	return &event.Usage{InputTokens: counts[0] + counts[2], OutputTokens: counts[1], Searches: searches}
}
