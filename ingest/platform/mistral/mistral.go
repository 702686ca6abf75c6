// Package mistral asks Mistral's models over its Conversations API, with a web search.
package mistral

import (
	"context"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// Mistral is a platform.Platform.
type Mistral struct{ account wire.Account }

// New returns the platform for an account; baseURL "" is Mistral's own.
func New(key, baseURL string) (*Mistral, error) {
	account, err := wire.NewAccount(key, baseURL, "https://api.mistral.ai")
	return &Mistral{account}, err
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

// Ask puts the question to the model, which may search the web.
func (m *Mistral) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	raw, err := m.account.Post(ctx, "/v1/conversations", request{Model: Description.Requested(q.Model), Inputs: q.Text, Tools: []tool{{"web_search"}}})
	if err != nil {
		return platform.Reply{}, err
	}
	reply, err := read(m.account, raw)
	return Description.Priced(reply, q.Model), err
}

// reader reads one answer.
type reader struct {
	draft    wire.Draft
	model    string
	searches int64 // calls
	seen     int   // references
}

func read(account wire.Account, raw []byte) (platform.Reply, error) {
	var answer struct {
		Object  string        `json:"object"`
		Error   wire.Object   `json:"error"`
		Detail  wire.Object   `json:"detail"`
		Outputs []wire.Object `json:"outputs"`
		Usage   wire.Object   `json:"usage"`
	}
	if err := wire.Decode(raw, &answer, ""); err != nil {
		return platform.Reply{}, err
	}
	if answer.Object == "error" || len(answer.Error) > 0 && string(answer.Error) != "null" || answer.Outputs == nil && len(answer.Detail) > 0 {
		return platform.Reply{}, account.Failed(raw)
	}
	if answer.Outputs == nil {
		return platform.Reply{}, wire.Changed("the answer has no field outputs")
	}
	var r reader
	if err := wire.Items(answer.Outputs, "outputs", r.output); err != nil {
		return platform.Reply{}, err
	}
	if wire.Tally(raw)["type:tool_reference"] > r.seen {
		return platform.Reply{}, wire.Changed("the answer has an object of type tool_reference where none is known")
	}
	return r.draft.Reply(event.FinishComplete, r.model, usage(answer.Usage, r.searches), raw)
}

func (r *reader) output(kind string, item wire.Object, at string) error {
	switch kind {
	case "message.output":
		return r.message(item, at)
	case "tool.execution":
		r.search(item)
	default:
		r.draft.PassOver(kind)
	}
	return nil
}

// message reads a message, whose content is a text or a list of chunks.
func (r *reader) message(item wire.Object, at string) error {
	var message struct {
		Content *wire.Object `json:"content" need:"true"`
		Model   string       `json:"model"`
	}
	if err := wire.Decode(item, &message, at); err != nil {
		return err
	}
	if message.Model != "" {
		r.model = message.Model
	}
	r.draft.Separate()
	if message.Content.Kind() == '"' {
		var text string
		if err := wire.Decode(*message.Content, &text, at+".content"); err != nil {
			return err
		}
		r.draft.Write(text)
		return nil
	}
	var chunks []wire.Object
	if err := wire.Decode(*message.Content, &chunks, at+".content"); err != nil {
		return err
	}
	return wire.Items(chunks, at+".content", r.chunk)
}

func (r *reader) chunk(kind string, item wire.Object, at string) error {
	switch kind {
	case "text":
		var chunk struct {
			Text *string `json:"text" need:"true"`
		}
		if err := wire.Decode(item, &chunk, at); err != nil {
			return err
		}
		r.draft.Write(*chunk.Text)
	case "tool_reference":
		r.seen++
		var reference struct {
			Tool  *string `json:"tool" need:"true"`
			Title *string `json:"title" need:"true"`
			URL   string  `json:"url"`
		}
		if err := wire.Decode(item, &reference, at); err != nil {
			return err
		}
		if reference.URL != "" { // a reference to what is no page has none
			r.draft.Cite(reference.URL, *reference.Title, 0, 0)
		}
	case "thinking":
	default:
		r.draft.PassOver(kind)
	}
	return nil
}

// search reads a call of the search. Its arguments are an object, or the text of one.
func (r *reader) search(item wire.Object) {
	var call struct {
		Name      string      `json:"name"`
		Arguments wire.Object `json:"arguments"`
	}
	if !wire.Lenient(item, &call) || !strings.HasPrefix(call.Name, "web_search") {
		return
	}
	r.searches++
	var text string
	if wire.Lenient(call.Arguments, &text) {
		call.Arguments = wire.Object(text)
	}
	var of struct {
		Query string `json:"query"`
	}
	if wire.Lenient(call.Arguments, &of) {
		r.draft.Search(of.Query)
	}
}

func usage(text wire.Object, searches int64) *event.Usage {
	var of struct {
		Prompt     *int64 `json:"prompt_tokens" need:"true"`
		Completion *int64 `json:"completion_tokens" need:"true"`
		Connectors int64  `json:"connector_tokens"`
		Calls      struct {
			Searches *int64 `json:"web_search"`
		} `json:"connectors"`
	}
	if !wire.Lenient(text, &of) {
		return nil
	}
	u := &event.Usage{InputTokens: *of.Prompt + of.Connectors, OutputTokens: *of.Completion, Searches: searches}
	if of.Calls.Searches != nil {
		u.Searches = *of.Calls.Searches
	}
	return u
}
