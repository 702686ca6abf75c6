package gemini

import (
	"net/url"
	"regexp"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// shape lists parts and sources by the field that names their kind. A support links a segment of the text to the
// sources (chunks) that it rests on.
var shape = wire.Shape{
	"": {
		"modelVersion? text", "candidates[].finishReason? text", "candidates[].content?.parts? union:text",
		"candidates[].groundingMetadata?.webSearchQueries? texts",
		"candidates[].groundingMetadata?.groundingChunks? union:web",
		"candidates[].groundingMetadata?.groundingSupports?[].groundingChunkIndices numbers",
		"candidates[].groundingMetadata?.groundingSupports?[].segment?.partIndex? number",
		"candidates[].groundingMetadata?.groundingSupports?[].segment?.startIndex? number",
		"candidates[].groundingMetadata?.groundingSupports?[].segment?.endIndex? number",
	},
	"text": {"text text", "thought? flag"},
	"web":  {"web.uri text", "web.title? text", "web.domain? text"},

	// Parts that are no text.
	"thought": nil, "toolCall": nil, "toolResponse": nil, "functionCall": nil, "functionResponse": nil,
	"executableCode": nil, "codeExecutionResult": nil, "inlineData": nil, "fileData": nil,
	// Sources that are no pages of the web.
	"image": nil, "maps": nil, "retrievedContext": nil,
}

// reader reads one answer.
type reader struct {
	account wire.Account
	resolve func(addresses []string) map[string]string // redirecting addresses → their targets, where they are known
	draft   wire.Draft
	parts   []int // where each begins in the text
}

func (r *reader) read(raw []byte) (platform.Reply, error) {
	body, err := wire.Decode(raw)
	if err != nil {
		return platform.Reply{}, err
	}
	if body["error"] != nil {
		return platform.Reply{}, r.account.Failed(raw)
	}
	if reason := body.Text("promptFeedback.blockReason"); reason != "" {
		return platform.Reply{}, wire.Filtered("the prompt is blocked: " + reason)
	}
	if err := r.draft.Check(body, shape); err != nil {
		return platform.Reply{}, err
	}
	candidates := body.List("candidates")
	if len(candidates) == 0 {
		return platform.Reply{}, wire.Changed("candidates is empty")
	}
	for _, part := range candidates[0].List("content.parts") {
		r.part(part)
	}
	grounding := candidates[0].Object("groundingMetadata")
	queries := grounding.Texts("webSearchQueries")
	for _, query := range queries {
		r.draft.Search(query)
	}
	if err := r.cite(r.pages(grounding.List("groundingChunks")), grounding.List("groundingSupports")); err != nil {
		return platform.Reply{}, err
	}
	finish := finishOf(candidates[0].Text("finishReason"))
	tokens := usage(body.Object("usageMetadata"), int64(len(queries)))
	return r.draft.Reply(finish, body.Text("modelVersion"), tokens, raw)
}

func finishOf(reason string) event.Finish {
	switch reason {
	case "MAX_TOKENS":
		return event.FinishTruncated
	case "SAFETY", "MODEL_ARMOR", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION":
		return event.FinishFiltered
	}
	return event.FinishComplete
}

// part writes a part that is text. The others keep their place, since segments name parts by number.
func (r *reader) part(part wire.Object) {
	if part["text"] != nil && part["thought"] != true {
		r.parts = append(r.parts, r.draft.Write(part.Text("text")))
		return
	}
	r.parts = append(r.parts, len(r.draft.Text()))
	r.draft.Separate()
}

// page is the page of a chunk; its address is "" where the chunk is no page.
type page struct {
	address, title, domain string
	consulted              bool // even where a support rests on it
}

// pages returns the pages of the chunks in their order.
func (r *reader) pages(chunks []wire.Object) []page {
	pages := make([]page, len(chunks))
	var redirects []string
	for i, chunk := range chunks {
		address := chunk.Text("web.uri")
		pages[i] = page{address, chunk.Text("web.title"), chunk.Text("web.domain"), isGoogleSearch(address)}
		if r.isRedirect(address) {
			redirects = append(redirects, address)
		}
	}
	if len(redirects) == 0 {
		return pages
	}
	targets := r.resolve(redirects)
	for i, p := range pages {
		if r.isRedirect(p.address) {
			pages[i] = resolved(p, targets[p.address])
		}
	}
	return pages
}

var host = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$`)

// resolved returns a page at the target of its redirect. Where that is not known, it is the host that its title or
// domain names; else it keeps its address, but not as a citation, since the owner of the page is unknown.
func resolved(p page, target string) page {
	switch {
	case target != "":
		p.address = target
	case host.MatchString(p.title):
		p.address = "https://" + p.title + "/"
	case host.MatchString(p.domain):
		p.address = "https://" + p.domain + "/"
	default:
		p.consulted = true
	}
	return p
}

// isGoogleSearch reports whether an address is a search at Google, which stands for its own panels of weather or time.
func isGoogleSearch(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host == "www.google.com" && u.Path == "/search"
}

// cite cites the pages that supports rest on, in the order of the pages, and consults the others.
func (r *reader) cite(pages []page, supports []wire.Object) error {
	ranges := map[int64][2]int{}
	for _, support := range supports {
		for _, i := range support.Numbers("groundingChunkIndices") {
			if i < 0 || i >= int64(len(pages)) {
				return wire.Changed("a support rests on chunk %d of %d", i, len(pages))
			}
			if _, has := ranges[i]; !has {
				ranges[i] = r.textRange(support.Object("segment"))
			}
		}
	}
	for i, page := range pages {
		if at, cited := ranges[int64(i)]; cited && !page.consulted {
			r.draft.Cite(page.address, page.title, at[0], at[1])
		} else {
			r.draft.Consult(page.address, page.title)
		}
	}
	return nil
}

// textRange returns the range of a segment in the whole text. The segment's own is in bytes of a part.
func (r *reader) textRange(segment wire.Object) [2]int {
	at, ok := segment.Counts("partIndex?", "startIndex?", "endIndex?")
	if !ok || at[0] < 0 || at[0] >= int64(len(r.parts)) ||
		at[1] < 0 || at[2] < at[1] || at[2] > int64(len(r.draft.Text())) {
		return [2]int{}
	}
	start := r.parts[at[0]]
	return [2]int{start + int(at[1]), start + int(at[2])}
}

// usage reads counts of tokens, which Google leaves out where they are 0.
func usage(usage wire.Object, searches int64) *event.Usage {
	tokens, ok := usage.Counts(
		"promptTokenCount", "toolUsePromptTokenCount?", "candidatesTokenCount?", "thoughtsTokenCount?")
	if !ok {
		return nil
	}
	return &event.Usage{InputTokens: tokens[0] + tokens[1], OutputTokens: tokens[2] + tokens[3], Searches: searches}
}
