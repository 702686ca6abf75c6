package catalog

import (
	"errors"
	"maps"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// responsesShape has the kinds of items that all platforms with OpenAI's Responses API share.
var responsesShape = shape{
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

// withResponses returns the shared kinds, with those in which a platform differs.
func withResponses(differences shape) shape {
	all := maps.Clone(responsesShape)
	maps.Copy(all, differences)
	return all
}

// responsesReader reads answers in the form of OpenAI's Responses API, which xAI and Perplexity use too.
type responsesReader struct {
	shape  shape
	titles bool                                            // annotations have the title of the page
	item   func(a *response, item object)                  // reads items of the platform's own kinds
	finish func(a *response)                               // completes the draft once all items are read
	usage  func(usage object, searches int64) *event.Usage // reads the platform's own form
}

// response is an answer that is being read.
type response struct {
	draft
	body     object
	searches int64 // calls that searched
}

// read reads an answer, or the error inside it.
func (r responsesReader) read(account account, raw []byte) (platform.Reply, error) {
	body, err := decode(raw)
	if err != nil {
		return platform.Reply{}, err
	}
	a := &response{body: body}
	switch status := body.text("status"); {
	case status == "queued", status == "in_progress", status == "cancelled":
		cause := errors.New("the answer is " + status)
		return platform.Reply{}, &platform.Error{Class: platform.Unavailable, Cause: cause}
	case status == "failed", body["error"] != nil:
		return platform.Reply{}, account.failed(raw)
	}
	if err := a.check(body, r.shape); err != nil {
		return platform.Reply{}, err
	}
	for i, item := range body.list("output") {
		switch item.kind() {
		case "message":
			a.message(item, r.titles)
		case "web_search_call":
			if item["action"] == nil && item["arguments"] == nil {
				return platform.Reply{}, changedShape("output[%d] has no field action", i)
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
	return a.reply(a.finish(), body.text("model"), r.usage(body.object("usage"), a.searches), raw)
}

func (a *response) finish() event.Finish {
	switch {
	case a.body.text("status") != "incomplete":
		return event.FinishComplete
	case a.body.text("incomplete_details.reason") == "content_filter":
		return event.FinishFiltered
	}
	return event.FinishTruncated
}

func (a *response) message(item object, titles bool) {
	a.startParagraph()
	for _, part := range item.list("content") {
		switch part.kind() {
		case "output_text":
			text := part.text("text")
			start := a.write(text)
			for _, annotation := range part.list("annotations") {
				if annotation.kind() == "url_citation" {
					a.annotation(annotation, text, start, titles)
				}
			}
		case "refusal":
			a.write(part.text("refusal"))
			a.refused = true
		}
	}
}

// annotation cites a page for a text that begins at byte start of the answer. Its range is in characters of the text.
func (a *response) annotation(annotation object, text string, start int, titles bool) {
	title := ""
	if titles {
		title = annotation.text("title")
	}
	from, to := -1, -1
	if at, ok := annotation.counts("start_index", "end_index"); ok {
		from, to = byteOffset(text, at[0]), byteOffset(text, at[1])
	}
	if from < 0 || to < 0 {
		from, to = -start, -start
	}
	a.cite(annotation.text("url"), title, start+from, start+to)
}

// searchCall reads a call of the web search: a search with its sources, or a page that was opened. Older answers of xAI
// have the arguments of a function in place of an action.
func (a *response) searchCall(call object) {
	action := call.object("action")
	if action == nil {
		action, _ = decode([]byte(call.text("arguments")))
	}
	page := action.text("url") // an opened page may lack it
	a.consult(page, "")
	isPage := action.kind() == "open_page" || action.kind() == "find_in_page" || call["action"] == nil && page != ""
	if !isPage {
		a.searches++
	}
	queries := action.texts("queries")
	if len(queries) == 0 {
		queries = []string{action.text("query")}
	}
	for _, query := range queries {
		a.search(query)
	}
	for _, source := range action.list("sources") {
		if source.kind() == "url" {
			a.consult(source.text("url"), "")
		}
	}
}

// responsesUsage reads OpenAI's form of usage, whose counts of tokens include cached and reasoning tokens.
func responsesUsage(usage object, searches int64) *event.Usage {
	tokens, ok := usage.counts("input_tokens", "output_tokens")
	if !ok {
		return nil
	}
	return &event.Usage{InputTokens: tokens[0], OutputTokens: tokens[1], Searches: searches}
}

// usageWithCost reads the same, and prefers the platform's own count of searches, at a path, to the number of calls.
// cost is the cost of the answer in US dollars, as a decimal number; it may be no number, and is then left out.
func usageWithCost(usage object, searches int64, searchesPath, cost string) *event.Usage {
	u := responsesUsage(usage, searches)
	if u == nil {
		return nil
	}
	if n, ok := usage.number(searchesPath); ok {
		u.Searches = n
	}
	u.CostUSD, _ = event.Decimal(cost)
	return u
}
