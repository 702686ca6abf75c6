// Package responses reads answers in the form of OpenAI's Responses API, which xAI and Perplexity use too.
package responses

import (
	"errors"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// Reader reads answers of one platform, where it differs from the others.
type Reader struct {
	Annotations bool                                                            // parts of text have a list of annotations, if an empty one
	Titles      bool                                                            // annotations have a title and a range
	Item        func(a *Answer, kind string, item wire.Object, at string) error // reads items that are neither a message nor a web search
	Finish      func(a *Answer)                                                 // completes the draft once all items are read
	Usage       func(usage wire.Object, searches int64) *event.Usage            // reads the platform's own form; nil is Usage
}

// Answer is an answer that is being read.
type Answer struct {
	wire.Draft
	Whole    Whole
	Searches int64 // calls that searched

	reader Reader
	seen   map[string]int
}

// Whole is what stands around the items.
type Whole struct {
	Status     string      `json:"status"`
	Model      string      `json:"model"`
	Error      wire.Object `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output    []wire.Object `json:"output"`
	Citations []string      `json:"citations"` // of xAI
	Usage     wire.Object   `json:"usage"`
	ToolUsage wire.Object   `json:"tool_usage"` // of OpenAI
}

// Read reads an answer, or the error inside it.
func (r Reader) Read(account wire.Account, raw []byte) (platform.Reply, error) {
	a := &Answer{reader: r, seen: map[string]int{}}
	if err := wire.Decode(raw, &a.Whole, ""); err != nil {
		return platform.Reply{}, err
	}
	if err := a.ended(account, raw); err != nil {
		return platform.Reply{}, err
	}
	if a.Whole.Output == nil {
		return platform.Reply{}, wire.Changed("the answer has no field output")
	}
	if err := wire.Items(a.Whole.Output, "output", a.item); err != nil {
		return platform.Reply{}, err
	}
	tally := wire.Tally(raw)
	for _, kind := range []string{"output_text", "refusal", "url_citation", "url"} {
		if tally["type:"+kind] > a.seen[kind] {
			return platform.Reply{}, wire.Changed("the answer has an object of type %s where none is known", kind)
		}
	}
	if r.Finish != nil {
		r.Finish(a)
	}
	usage := r.Usage
	if usage == nil {
		usage = Usage
	}
	return a.Reply(a.finish(), a.Whole.Model, usage(a.Whole.Usage, a.searched()), raw)
}

// ended returns an error for an answer that has not ended well.
func (a *Answer) ended(account wire.Account, raw []byte) error {
	hasError := len(a.Whole.Error) > 0 && string(a.Whole.Error) != "null"
	switch a.Whole.Status {
	case "queued", "in_progress", "cancelled":
		return &platform.Error{Class: platform.Unavailable, Cause: errors.New("the answer is " + a.Whole.Status)}
	case "failed":
		return account.Failed(raw)
	}
	if hasError {
		return account.Failed(raw)
	}
	return nil
}

func (a *Answer) finish() event.Finish {
	if a.Whole.Status != "incomplete" {
		return event.FinishComplete
	}
	if a.Whole.Incomplete != nil && a.Whole.Incomplete.Reason == "content_filter" {
		return event.FinishFiltered
	}
	return event.FinishTruncated
}

func (a *Answer) item(kind string, item wire.Object, at string) error {
	switch kind {
	case "message":
		return a.message(item, at)
	case "web_search_call":
		return a.search(item, at)
	case "reasoning":
		return nil
	}
	if a.reader.Item != nil {
		return a.reader.Item(a, kind, item, at)
	}
	a.PassOver(kind)
	return nil
}

func (a *Answer) message(item wire.Object, at string) error {
	var message struct {
		Content []wire.Object `json:"content" need:"true"`
	}
	if err := wire.Decode(item, &message, at); err != nil {
		return err
	}
	a.Separate()
	return wire.Items(message.Content, at+".content", a.part)
}

func (a *Answer) part(kind string, item wire.Object, at string) error {
	a.seen[kind]++
	switch kind {
	case "output_text":
		return a.text(item, at)
	case "refusal":
		var part struct {
			Refusal *string `json:"refusal" need:"true"`
		}
		if err := wire.Decode(item, &part, at); err != nil {
			return err
		}
		a.Write(*part.Refusal)
		a.Refused = true
	default:
		a.PassOver(kind)
	}
	return nil
}

func (a *Answer) text(item wire.Object, at string) error {
	var part struct {
		Text        *string       `json:"text" need:"true"`
		Annotations []wire.Object `json:"annotations"`
	}
	if err := wire.Decode(item, &part, at); err != nil {
		return err
	}
	if a.reader.Annotations && part.Annotations == nil {
		return wire.Changed("%s has no field annotations", at)
	}
	start := a.Write(*part.Text)
	return wire.Items(part.Annotations, at+".annotations", func(kind string, item wire.Object, at string) error {
		switch kind {
		case "url_citation":
			a.seen[kind]++
			return a.cite(item, at, *part.Text, start)
		case "file_citation", "container_file_citation", "file_path": // of files, which no question has
		default:
			a.PassOver(kind)
		}
		return nil
	})
}

// cite adds an annotation of a text that begins at byte start. Its range is in characters.
func (a *Answer) cite(item wire.Object, at, text string, start int) error {
	var citation struct {
		URL   *string `json:"url" need:"true"`
		Title *string `json:"title"`
		Start *int    `json:"start_index"`
		End   *int    `json:"end_index"`
	}
	if err := wire.Decode(item, &citation, at); err != nil {
		return err
	}
	title := ""
	if a.reader.Titles {
		if citation.Title == nil || citation.Start == nil || citation.End == nil {
			return wire.Changed("%s lacks its title, start_index or end_index", at)
		}
		title = *citation.Title
	}
	from, to := -1, -1
	if citation.Start != nil && citation.End != nil {
		from, to = wire.Bytes(text, *citation.Start), wire.Bytes(text, *citation.End)
	}
	if from < 0 || to < 0 {
		from, to = -start, -start
	}
	a.Cite(*citation.URL, title, start+from, start+to)
	return nil
}

// search reads a call of the web search: a search with its sources, or a page that was opened.
func (a *Answer) search(item wire.Object, at string) error {
	var call struct {
		Arguments *string `json:"arguments"`
		Action    *struct {
			Type    string        `json:"type"`
			Query   string        `json:"query"`
			Queries []string      `json:"queries"`
			URL     string        `json:"url"`
			Sources []wire.Object `json:"sources"`
		} `json:"action"`
	}
	if err := wire.Decode(item, &call, at); err != nil {
		return err
	}
	action := call.Action
	switch {
	case action == nil && call.Arguments == nil:
		return wire.Changed("%s has no field action", at)
	case action == nil:
		a.called(*call.Arguments)
		return nil
	}
	if action.URL != "" { // that of a page that was opened may be missing
		a.Consult(action.URL, "")
	}
	if action.Type != "open_page" && action.Type != "find_in_page" {
		a.Searches++
	}
	if len(action.Queries) == 0 {
		action.Queries = []string{action.Query}
	}
	for _, query := range action.Queries {
		a.Search(query)
	}
	return wire.Items(action.Sources, at+".action.sources", a.source)
}

// called reads a call that has no action but the arguments of its function, as older answers of xAI do.
func (a *Answer) called(arguments string) {
	var of struct {
		Query string `json:"query"`
		URL   string `json:"url"`
	}
	if wire.Lenient(wire.Object(arguments), &of) && of.URL != "" {
		a.Consult(of.URL, "")
		return
	}
	a.Searches++
	a.Search(of.Query)
}

func (a *Answer) source(kind string, item wire.Object, at string) error {
	a.seen[kind]++
	switch kind {
	case "url":
	case "api": // data that has no page
		return nil
	default:
		a.PassOver(kind)
		return nil
	}
	var source struct {
		URL *string `json:"url" need:"true"`
	}
	if err := wire.Decode(item, &source, at); err != nil {
		return err
	}
	a.Consult(*source.URL, "")
	return nil
}

// searched is the number of searches that the platform bills, where it says it, or else of calls that searched.
func (a *Answer) searched() int64 {
	var of struct {
		Search struct {
			Requests *int64 `json:"num_requests"`
		} `json:"web_search"`
	}
	if wire.Lenient(a.Whole.ToolUsage, &of) && of.Search.Requests != nil {
		return *of.Search.Requests
	}
	return a.Searches
}

// Usage reads OpenAI's form of usage, whose counts of tokens hold those that were cached and those of reasoning.
func Usage(usage wire.Object, searches int64) *event.Usage {
	var of struct {
		Input  *int64 `json:"input_tokens" need:"true"`
		Output *int64 `json:"output_tokens" need:"true"`
	}
	if !wire.Lenient(usage, &of) {
		return nil
	}
	return &event.Usage{InputTokens: *of.Input, OutputTokens: *of.Output, Searches: searches}
}
