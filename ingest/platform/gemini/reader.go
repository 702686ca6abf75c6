package gemini

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// reader reads one answer.
type reader struct {
	account wire.Account
	resolve func(addresses []string) map[string]string // addresses that could be resolved → where they lead
	draft   wire.Draft
	parts   []int // where each begins in the text
}

type candidate struct {
	Content *struct {
		Parts []wire.Object `json:"parts"`
	} `json:"content"`
	FinishReason string     `json:"finishReason"`
	Grounding    *grounding `json:"groundingMetadata"`
}

// grounding is what the answer rests on. Supports say which part of the text rests on which chunks.
type grounding struct {
	Queries  []string      `json:"webSearchQueries"`
	Chunks   []wire.Object `json:"groundingChunks"`
	Supports []struct {
		Segment struct {
			Part  int `json:"partIndex"`
			Start int `json:"startIndex"` // bytes of the part
			End   int `json:"endIndex"`
		} `json:"segment"`
		Chunks *[]*int `json:"groundingChunkIndices" need:"true"`
	} `json:"groundingSupports"`
}

// chunk is a source. Those of other kinds are no pages of the web.
type chunk struct {
	Web *struct {
		URI    *string `json:"uri" need:"true"`
		Title  string  `json:"title"`  // usually the host
		Domain string  `json:"domain"` // of Vertex AI alone
	} `json:"web"`
	Image     wire.Object `json:"image"`
	Maps      wire.Object `json:"maps"`
	Retrieved wire.Object `json:"retrievedContext"`
}

func (r *reader) read(raw []byte) (platform.Reply, error) {
	var answer struct {
		Error      wire.Object   `json:"error"`
		Candidates []wire.Object `json:"candidates"`
		Feedback   struct {
			BlockReason string `json:"blockReason"`
		} `json:"promptFeedback"`
		Model string      `json:"modelVersion"`
		Usage wire.Object `json:"usageMetadata"`
	}
	if err := wire.Decode(raw, &answer, ""); err != nil {
		return platform.Reply{}, err
	}
	switch {
	case len(answer.Error) > 0 && string(answer.Error) != "null":
		return platform.Reply{}, r.account.Failed(raw)
	case answer.Feedback.BlockReason != "":
		return platform.Reply{}, wire.Filtered("the prompt is blocked: " + answer.Feedback.BlockReason)
	case len(answer.Candidates) == 0:
		return platform.Reply{}, wire.Changed("the answer has no field candidates")
	}
	var first candidate
	if err := wire.Decode(answer.Candidates[0], &first, "candidates[0]"); err != nil {
		return platform.Reply{}, err
	}
	if err := r.candidate(first, raw); err != nil {
		return platform.Reply{}, err
	}
	var queries []string
	if first.Grounding != nil {
		queries = first.Grounding.Queries
	}
	return r.draft.Reply(finish(first.FinishReason), answer.Model, usage(answer.Usage, int64(len(queries))), raw)
}

func finish(reason string) event.Finish {
	switch reason {
	case "MAX_TOKENS":
		return event.FinishTruncated
	case "SAFETY", "MODEL_ARMOR", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION":
		return event.FinishFiltered
	}
	return event.FinishComplete
}

func (r *reader) candidate(c candidate, raw []byte) error {
	if c.Content != nil {
		for i, part := range c.Content.Parts {
			if err := r.part(part, "candidates[0].content.parts["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
	}
	seen := map[string]int{}
	if c.Grounding != nil {
		if err := r.ground(*c.Grounding, seen); err != nil {
			return err
		}
	}
	tally := wire.Tally(raw)
	for _, name := range []string{"web", "groundingChunkIndices"} {
		if tally[name] > seen[name] {
			return wire.Changed("the answer has a field %s where none is known", name)
		}
	}
	return nil
}

// kinds are what a part may be beside text.
var kinds = []string{
	"thought", "toolCall", "toolResponse", "functionCall", "functionResponse", "executableCode", "codeExecutionResult",
	"inlineData", "fileData",
}

func (r *reader) part(item wire.Object, at string) error {
	var part struct {
		Text    *string `json:"text"`
		Thought bool    `json:"thought"`
	}
	if err := wire.Decode(item, &part, at); err != nil {
		return err
	}
	if part.Text != nil && !part.Thought {
		r.parts = append(r.parts, r.draft.Write(*part.Text))
		return nil
	}
	names := fieldsOf(item)
	if !slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(names, kind) }) {
		r.draft.PassOver(strings.Join(names, "+"))
	}
	r.parts = append(r.parts, len(r.draft.Text()))
	r.draft.Separate()
	return nil
}

// fieldsOf names the fields of an object in order.
func fieldsOf(item wire.Object) []string {
	var fields map[string]wire.Object
	wire.Lenient(item, &fields)
	return slices.Sorted(maps.Keys(fields))
}

// ground cites the chunks that supports rest on, in the order of the chunks, and consults the others.
func (r *reader) ground(g grounding, seen map[string]int) error {
	for _, query := range g.Queries {
		r.draft.Search(query)
	}
	ranges := map[int][2]int{}
	for _, support := range g.Supports {
		seen["groundingChunkIndices"]++
		for _, i := range *support.Chunks {
			if i == nil || *i < 0 || *i >= len(g.Chunks) {
				return wire.Changed("a support rests on a chunk that is none of the %d", len(g.Chunks))
			}
			if _, has := ranges[*i]; !has {
				ranges[*i] = r.segment(support.Segment.Part, support.Segment.Start, support.Segment.End)
			}
		}
	}
	pages, err := r.pages(g.Chunks, seen)
	if err != nil {
		return err
	}
	for i, page := range pages {
		at, cited := ranges[i]
		switch {
		case page.address == "":
		case cited && !page.consulted:
			r.draft.Cite(page.address, page.title, at[0], at[1])
		default:
			r.draft.Consult(page.address, page.title)
		}
	}
	return nil
}

// segment is the range of a segment in the whole text.
func (r *reader) segment(part, start, end int) [2]int {
	if part < 0 || part >= len(r.parts) || start < 0 || end < start {
		return [2]int{}
	}
	return [2]int{r.parts[part] + start, r.parts[part] + end}
}

type page struct {
	address, title, domain string
	consulted              bool // whatever rests on it
}

// pages are the pages of the chunks, with "" as the address of what is no page.
func (r *reader) pages(items []wire.Object, seen map[string]int) ([]page, error) {
	pages := make([]page, len(items))
	var hidden []string
	unknown := 0
	for i, item := range items {
		at := "groundingChunks[" + strconv.Itoa(i) + "]"
		var of chunk
		if err := wire.Decode(item, &of, at); err != nil {
			return nil, err
		}
		switch {
		case of.Web != nil:
			seen["web"]++
			pages[i] = page{*of.Web.URI, of.Web.Title, of.Web.Domain, isGoogleSearch(*of.Web.URI)}
			if r.isRedirect(*of.Web.URI) {
				hidden = append(hidden, *of.Web.URI)
			}
		case of.Image == nil && of.Maps == nil && of.Retrieved == nil:
			unknown++
			r.draft.PassOver(strings.Join(fieldsOf(item), "+"))
		}
	}
	if unknown > 0 && unknown == len(items) {
		return nil, wire.Changed("groundingChunks has no source of a known kind")
	}
	if len(hidden) == 0 {
		return pages, nil
	}
	found := r.resolve(hidden)
	for i, p := range pages {
		if r.isRedirect(p.address) {
			pages[i] = shown(p, found[p.address])
		}
	}
	return pages, nil
}

var host = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$`)

// shown is a page whose address is hidden: at its target, or, where that is not known, at the host that its title
// names, or else where it is, but not as a citation, since its owner is unknown.
func shown(p page, target string) page {
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

func usage(text wire.Object, searches int64) *event.Usage {
	var of struct {
		Prompt     *int64 `json:"promptTokenCount" need:"true"` // with those that were cached
		Tools      int64  `json:"toolUsePromptTokenCount"`      // this and the others are left out where they are 0
		Candidates int64  `json:"candidatesTokenCount"`
		Thoughts   int64  `json:"thoughtsTokenCount"`
	}
	if !wire.Lenient(text, &of) {
		return nil
	}
	return &event.Usage{InputTokens: *of.Prompt + of.Tools, OutputTokens: of.Candidates + of.Thoughts, Searches: searches}
}
