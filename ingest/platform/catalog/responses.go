package catalog

import (
	"errors"
	"maps"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// responsesShape has the kinds of items that all platforms with OpenAI's Responses API share.
var responsesShape = wire.Shape{
	"":             {"status? text", "model? text", "output items"},
	"message":      {"content items"},
	"output_text":  {"text text", "annotations items"},
	"refusal":      {"refusal text"},
	"url_citation": {"url text", "title? text", "start_index? number", "end_index? number"},
	"web_search_call": {
		"arguments? text", "action?.query? text", "action?.queries? texts", "action?.url? text",
		"action?.sources? items:url",
	},
	"url": {"url text"},

	"reasoning": nil, "file_citation": nil, "container_file_citation": nil, "file_path": nil, "api": nil,
}

// withResponses returns the shared kinds, with those in which a platform differs.
func withResponses(differences wire.Shape) wire.Shape {
	all := maps.Clone(responsesShape)
	maps.Copy(all, differences)
	return all
}

// responsesReader reads answers in the form of OpenAI's Responses API, which xAI and Perplexity use too.
type responsesReader struct {
	shape  wire.Shape
	titles bool                                                 // annotations have the title of the page
	item   func(a *response, item wire.Object)                  // reads items of the platform's own kinds
	finish func(a *response)                                    // completes the draft once all items are read
	usage  func(usage wire.Object, searches int64) *event.Usage // reads the platform's own form
}

// response is an answer that is being read.
type response struct {
	wire.Draft
	body     wire.Object
	searches int64 // calls that searched
}

// read reads an answer, or the error inside it.
func (r responsesReader) read(account wire.Account, raw []byte) (platform.Reply, error) {
	body, err := wire.Decode(raw)
	if err != nil {
		return platform.Reply{}, err
	}
	a := &response{body: body}
	switch status := body.Text("status"); {
	case status == "queued", status == "in_progress", status == "cancelled":
		cause := errors.New("the answer is " + status)
		return platform.Reply{}, &platform.Error{Class: platform.Unavailable, Cause: cause}
	case status == "failed", body["error"] != nil:
		return platform.Reply{}, account.Failed(raw)
	}
	if err := a.Check(body, r.shape); err != nil {
		return platform.Reply{}, err
	}
	for i, item := range body.List("output") {
		switch item.Kind() {
		case "message":
			a.message(item, r.titles)
		case "web_search_call":
			if item["action"] == nil && item["arguments"] == nil {
				return platform.Reply{}, wire.ChangedShape("output[%d] has no field action", i)
			}
			a.searchCall(item)
		default:
			if r.item != nil {
				r.item(a, item)
			}
		}
	}
	if r.finish != nil {
		r.finish(a)
	}
	return a.Reply(a.finish(), body.Text("model"), r.usage(body.Object("usage"), a.searches), raw)
}

func (a *response) finish() event.Finish {
	switch {
	case a.body.Text("status") != "incomplete":
		return event.FinishComplete
	case a.body.Text("incomplete_details.reason") == "content_filter":
		return event.FinishFiltered
	}
	return event.FinishTruncated
}

func (a *response) message(item wire.Object, titles bool) {
	a.StartParagraph()
	for _, part := range item.List("content") {
		switch part.Kind() {
		case "output_text":
			text := part.Text("text")
			start := a.Write(text)
			for _, annotation := range part.List("annotations") {
				if annotation.Kind() == "url_citation" {
					a.annotation(annotation, text, start, titles)
				}
			}
		case "refusal":
			a.Write(part.Text("refusal"))
			a.Refused = true
		}
	}
}

// annotation cites a page for a text that begins at byte start of the answer. Its range is in characters of the text.
func (a *response) annotation(annotation wire.Object, text string, start int, titles bool) {
	title := ""
	if titles {
		title = annotation.Text("title")
	}
	from, to := -1, -1
	if at, ok := annotation.Counts("start_index", "end_index"); ok {
		from, to = byteOffset(text, at[0]), byteOffset(text, at[1])
	}
	if from < 0 || to < 0 {
		from, to = -start, -start
	}
	a.Cite(annotation.Text("url"), title, start+from, start+to)
}

// searchCall reads a call of the web search: a search with its sources, or a page that was opened. Older answers of xAI
// have the arguments of a function in place of an action.
func (a *response) searchCall(call wire.Object) {
	action := call.Object("action")
	if action == nil {
		action, _ = wire.Decode([]byte(call.Text("arguments")))
	}
	page := action.Text("url") // an opened page may lack it
	a.Consult(page, "")
	isPage := action.Kind() == "open_page" || action.Kind() == "find_in_page" || call["action"] == nil && page != ""
	if !isPage {
		a.searches++
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

// responsesUsage reads OpenAI's form of usage, whose counts of tokens include cached and reasoning tokens.
func responsesUsage(usage wire.Object, searches int64) *event.Usage {
	tokens, ok := usage.Counts("input_tokens", "output_tokens")
	if !ok {
		return nil
	}
	return &event.Usage{InputTokens: tokens[0], OutputTokens: tokens[1], Searches: searches}
}

// usageWithCost reads the same, and prefers the platform's own count of searches, at a path, to the number of calls.
// cost is the cost of the answer in US dollars, as a decimal number; it may be no number, and is then left out.
func usageWithCost(usage wire.Object, searches int64, searchesPath, cost string) *event.Usage {
	u := responsesUsage(usage, searches)
	if u == nil {
		return nil
	}
	if n, ok := usage.Number(searchesPath); ok {
		u.Searches = n
	}
	u.CostUSD, _ = event.Decimal(cost)
	return u
}

// byteOffset returns the offset in bytes of an offset in characters; -1 if the text is shorter.
func byteOffset(text string, characters int64) int {
	if characters < 0 {
		return -1
	}
	for offset := range text {
		if characters == 0 {
			return offset
		}
		characters--
	}
	if characters == 0 {
		return len(text)
	}
	return -1
}
