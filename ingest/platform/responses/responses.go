// Package responses reads answers in the form of OpenAI's Responses API, which xAI and Perplexity use too.
package responses

import (
	"errors"
	"maps"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// shape has the kinds that all of the platforms share.
var shape = wire.Shape{
	"":             {"status? text", "model? text", "output items"},
	"message":      {"content items"},
	"output_text":  {"text text", "annotations? items:url_citation"},
	"refusal":      {"refusal text"},
	"url_citation": {"url text", "title? text", "start_index? number", "end_index? number"},
	"web_search_call": {
		"arguments? text", "action?.query? text", "action?.queries? texts", "action?.url? text",
		"action?.sources? items:url",
	},
	"url": {"url text"},

	"reasoning": nil, "file_citation": nil, "container_file_citation": nil, "file_path": nil, "api": nil,
}

// Shape returns the shared kinds, with those in which a platform differs.
func Shape(platform wire.Shape) wire.Shape {
	all := maps.Clone(shape)
	maps.Copy(all, platform)
	return all
}

// Reader reads the answers of one platform.
type Reader struct {
	Shape  wire.Shape
	Titles bool                                                 // annotations have the title of the page
	Item   func(a *Answer, item wire.Object)                    // reads items of the platform's own kinds
	Finish func(a *Answer)                                      // completes the draft once all items are read
	Usage  func(usage wire.Object, searches int64) *event.Usage // reads the platform's own form; nil is Usage
}

// Answer is an answer that is being read.
type Answer struct {
	wire.Draft
	Body     wire.Object
	Searches int64 // calls that searched
}

// Read reads an answer, or the error inside it.
func (r Reader) Read(account wire.Account, raw []byte) (platform.Reply, error) {
	body, err := wire.Decode(raw)
	if err != nil {
		return platform.Reply{}, err
	}
	a := &Answer{Body: body}
	switch status := body.Text("status"); {
	case status == "queued", status == "in_progress", status == "cancelled":
		cause := errors.New("the answer is " + status)
		return platform.Reply{}, &platform.Error{Class: platform.Unavailable, Cause: cause}
	case status == "failed", body["error"] != nil:
		return platform.Reply{}, account.Failed(raw)
	}
	if err := a.Check(body, r.Shape); err != nil {
		return platform.Reply{}, err
	}
	for i, item := range body.List("output") {
		switch item.Kind() {
		case "message":
			a.message(item, r.Titles)
		case "web_search_call":
			if item["action"] == nil && item["arguments"] == nil {
				return platform.Reply{}, wire.Changed("output[%d] has no field action", i)
			}
			a.search(item)
		default:
			if r.Item != nil {
				r.Item(a, item)
			}
		}
	}
	if r.Finish != nil {
		r.Finish(a)
	}
	usage := r.Usage
	if usage == nil {
		usage = Usage
	}
	return a.Reply(a.finish(), body.Text("model"), usage(body.Object("usage"), a.Searches), raw)
}

func (a *Answer) finish() event.Finish {
	switch {
	case a.Body.Text("status") != "incomplete":
		return event.FinishComplete
	case a.Body.Text("incomplete_details.reason") == "content_filter":
		return event.FinishFiltered
	}
	return event.FinishTruncated
}

func (a *Answer) message(item wire.Object, titles bool) {
	a.Separate()
	for _, part := range item.List("content") {
		switch part.Kind() {
		case "output_text":
			text := part.Text("text")
			start := a.Write(text)
			for _, annotation := range part.List("annotations") {
				if annotation.Kind() == "url_citation" {
					a.cite(annotation, text, start, titles)
				}
			}
		case "refusal":
			a.Write(part.Text("refusal"))
			a.Refused = true
		}
	}
}

// cite adds an annotation of a text that begins at byte start of the answer. Its range is in characters of the text.
func (a *Answer) cite(annotation wire.Object, text string, start int, titles bool) {
	title := ""
	if titles {
		title = annotation.Text("title")
	}
	from, to := -1, -1
	if at, ok := annotation.Counts("start_index", "end_index"); ok {
		from, to = wire.Bytes(text, at[0]), wire.Bytes(text, at[1])
	}
	if from < 0 || to < 0 {
		from, to = -start, -start
	}
	a.Cite(annotation.Text("url"), title, start+from, start+to)
}

// search reads a call of the web search: a search with its sources, or a page that was opened. Older answers of xAI
// have the arguments of a function in place of an action.
func (a *Answer) search(call wire.Object) {
	action := call.Object("action")
	if action == nil {
		action, _ = wire.Decode([]byte(call.Text("arguments")))
	}
	page := action.Text("url") // an opened page may lack it
	a.Consult(page, "")
	opened := action.Kind() == "open_page" || action.Kind() == "find_in_page" || call["action"] == nil && page != ""
	if !opened {
		a.Searches++
	}
	queries := action.Texts("queries")
	if len(queries) == 0 {
		queries = []string{action.Text("query")}
	}
	for _, query := range queries {
		a.Search(query)
	}
	for _, source := range action.List("sources") {
		if source.Kind() == "url" {
			a.Consult(source.Text("url"), "")
		}
	}
}

// Usage reads OpenAI's form of usage, whose counts of tokens include cached and reasoning tokens.
func Usage(usage wire.Object, searches int64) *event.Usage {
	tokens, ok := usage.Counts("input_tokens", "output_tokens")
	if !ok {
		return nil
	}
	return &event.Usage{InputTokens: tokens[0], OutputTokens: tokens[1], Searches: searches}
}
