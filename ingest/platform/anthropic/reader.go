package anthropic

import (
	"bytes"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// reader reads the responses of one answer, of which there are several where it paused.
type reader struct {
	draft    wire.Draft
	bodies   [][]byte
	usage    *event.Usage
	model    string
	finish   event.Finish
	paused   bool
	searches int64 // calls
	seen     map[string]int
}

// read reads one response, and returns its content.
func (r *reader) read(account wire.Account, raw []byte) ([]wire.Object, error) {
	var message struct {
		Error      wire.Object   `json:"error"`
		Content    []wire.Object `json:"content"`
		Model      string        `json:"model"`
		StopReason string        `json:"stop_reason"`
		Usage      wire.Object   `json:"usage"`
	}
	if err := wire.Decode(raw, &message, ""); err != nil {
		return nil, err
	}
	if len(message.Error) > 0 && string(message.Error) != "null" {
		return nil, account.Failed(raw)
	}
	if message.Content == nil {
		return nil, wire.Changed("the answer has no field content")
	}
	r.seen = map[string]int{}
	if err := wire.Items(message.Content, "content", r.block); err != nil {
		return nil, err
	}
	tally := wire.Tally(raw)
	for _, kind := range []string{"web_search_result_location", "web_search_result"} {
		if tally["type:"+kind] > r.seen[kind] {
			return nil, wire.Changed("the answer has an object of type %s where none is known", kind)
		}
	}
	r.bodies, r.model = append(r.bodies, raw), message.Model
	r.stopped(message.StopReason)
	r.bill(message.Usage)
	return message.Content, nil
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

func (r *reader) block(kind string, item wire.Object, at string) error {
	switch kind {
	case "text":
		return r.text(item, at)
	case "server_tool_use":
		r.search(item)
	case "web_search_tool_result":
		if err := r.results(item, at); err != nil {
			return err
		}
	case "thinking", "redacted_thinking":
	default:
		r.draft.PassOver(kind)
	}
	r.draft.Separate()
	return nil
}

func (r *reader) text(item wire.Object, at string) error {
	var block struct {
		Text      *string       `json:"text" need:"true"`
		Citations []wire.Object `json:"citations"`
	}
	if err := wire.Decode(item, &block, at); err != nil {
		return err
	}
	start := r.draft.Write(*block.Text)
	end := len(r.draft.Text())
	return wire.Items(block.Citations, at+".citations", func(kind string, item wire.Object, at string) error {
		if kind != "web_search_result_location" {
			r.draft.PassOver(kind)
			return nil
		}
		source, err := r.source(kind, item, at)
		if err == nil {
			r.draft.Cite(*source.URL, source.title(), start, end)
		}
		return err
	})
}

// source is a page: found by a search, or cited.
type source struct {
	URL   *string `json:"url" need:"true"`
	Title *string `json:"title" need:"null"`
}

func (s source) title() string {
	if s.Title == nil {
		return ""
	}
	return *s.Title
}

func (r *reader) source(kind string, item wire.Object, at string) (s source, err error) {
	r.seen[kind]++
	return s, wire.Decode(item, &s, at)
}

// search reads a call of the search; calls of other tools are passed over.
func (r *reader) search(item wire.Object) {
	var call struct {
		Name  string `json:"name"`
		Input struct {
			Query string `json:"query"`
		} `json:"input"`
	}
	if wire.Lenient(item, &call) && call.Name == "web_search" {
		r.searches++
		r.draft.Search(call.Input.Query)
	}
}

// results reads what a search found. One that failed has an object that says why in place of a list, and no sources.
func (r *reader) results(item wire.Object, at string) error {
	var block struct {
		Content *wire.Object `json:"content" need:"true"`
	}
	if err := wire.Decode(item, &block, at); err != nil {
		return err
	}
	var failed struct {
		Type string `json:"type"`
	}
	if wire.Lenient(*block.Content, &failed) && failed.Type == "web_search_tool_result_error" {
		return nil
	}
	var found []wire.Object
	if err := wire.Decode(*block.Content, &found, at+".content"); err != nil {
		return err
	}
	return wire.Items(found, at+".content", func(kind string, item wire.Object, at string) error {
		if kind != "web_search_result" {
			r.draft.PassOver(kind)
			return nil
		}
		source, err := r.source(kind, item, at)
		if err == nil {
			r.draft.Consult(*source.URL, source.title())
		}
		return err
	})
}

// bill adds the usage of one response.
func (r *reader) bill(usage wire.Object) {
	var of struct {
		Input   *int64 `json:"input_tokens" need:"true"`
		Written int64  `json:"cache_creation_input_tokens"`
		Cached  int64  `json:"cache_read_input_tokens"`
		Output  *int64 `json:"output_tokens" need:"true"`
		Tools   struct {
			Searches *int64 `json:"web_search_requests"`
		} `json:"server_tool_use"`
	}
	if !wire.Lenient(usage, &of) {
		return
	}
	if r.usage == nil {
		r.usage = &event.Usage{}
	}
	r.usage.InputTokens += *of.Input + of.Written + of.Cached
	r.usage.OutputTokens += *of.Output
	if of.Tools.Searches != nil {
		r.usage.Searches += *of.Tools.Searches
	} else {
		r.usage.Searches += r.searches
	}
	r.searches = 0
}

// reply is the answer; its raw payload is every response, a line each.
func (r *reader) reply() (platform.Reply, error) {
	return r.draft.Reply(r.finish, r.model, r.usage, bytes.Join(r.bodies, []byte("\n")))
}
