package catalog

import (
	"context"
	"net/url"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// gemini asks Google's Gemini models over the Gemini API, grounded in Google Search. The first 5,000 searches of a
// month are free; the price applies after them.
var gemini = api{
	Description: platform.Description{
		Slug: "gemini", Name: "Google Gemini", NeedsKey: true,
		Models: models(event.Usage{InputTokens: 200, OutputTokens: 1500, Searches: 2},
			platform.Model{Slug: "gemini-3.5-flash", Price: usd("2026-09-20", "1.50", "9", "14")},
			platform.Model{Slug: "gemini-3.1-pro-preview", Price: usd("2026-09-20", "2", "12", "14")},
		),
		Limits: platform.Limits{RequestsPerMinute: 150, TokensPerMinute: 1_000_000, InFlight: 30},
	},
	baseURL:   "https://generativelanguage.googleapis.com",
	authorize: wire.InHeader("X-Goog-Api-Key", ""),
	ask:       askGemini,
}

// askGemini puts the question to the model, which may search, and resolves the addresses that Google hides its sources
// behind.
func askGemini(ctx context.Context, a wire.Account, q platform.Question) (platform.Reply, error) {
	raw, err := a.Post(ctx, "/v1beta/"+geminiResource(q.Model)+":generateContent", wire.Object{
		"contents":         []wire.Object{{"role": "user", "parts": []wire.Object{{"text": q.Text}}}},
		"generationConfig": wire.Object{},
		"tools":            []wire.Object{{"googleSearch": wire.Object{}}},
	})
	if err != nil {
		return platform.Reply{}, err
	}
	r := geminiReader{account: a, resolve: func(addresses []string) map[string]string {
		return resolveRedirects(ctx, addresses)
	}}
	return r.read(raw)
}

// geminiResource returns the name of a model as part of a path. A tuned model is asked as tunedModels/….
func geminiResource(model string) string {
	collection, name, ok := strings.Cut(model, "/")
	if !ok || collection != "models" && collection != "tunedModels" {
		collection, name = "models", model
	}
	return collection + "/" + url.PathEscape(name)
}

// geminiShape lists parts and sources by the field that names their kind. A support links a segment of the text to the
// sources (chunks) that it rests on.
var geminiShape = wire.Shape{
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

// geminiReader reads one answer.
type geminiReader struct {
	account wire.Account
	resolve func(addresses []string) map[string]string // redirecting addresses → their targets, where they are known
	draft   wire.Draft
	parts   []int // where each begins in the text
}

func (r *geminiReader) read(raw []byte) (platform.Reply, error) {
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
	if err := r.draft.Check(body, geminiShape); err != nil {
		return platform.Reply{}, err
	}
	candidates := body.List("candidates")
	if len(candidates) == 0 {
		return platform.Reply{}, wire.ChangedShape("candidates is empty")
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
	finish := geminiFinish(candidates[0].Text("finishReason"))
	usage := geminiUsage(body.Object("usageMetadata"), int64(len(queries)))
	return r.draft.Reply(finish, body.Text("modelVersion"), usage, raw)
}

// part writes a part that is text. The others keep their place, since segments name parts by number.
func (r *geminiReader) part(part wire.Object) {
	if part["text"] != nil && part["thought"] != true {
		r.parts = append(r.parts, r.draft.Write(part.Text("text")))
		return
	}
	r.parts = append(r.parts, len(r.draft.Text()))
	r.draft.StartParagraph()
}

// cite cites the pages that supports rest on, in the order of the pages, and consults the others.
func (r *geminiReader) cite(pages []geminiPage, supports []wire.Object) error {
	ranges := map[int64][2]int{}
	for _, support := range supports {
		for _, i := range support.Numbers("groundingChunkIndices") {
			if i < 0 || i >= int64(len(pages)) {
				return wire.ChangedShape("a support rests on chunk %d of %d", i, len(pages))
			}
			if _, ok := ranges[i]; !ok {
				ranges[i] = r.textRange(support.Object("segment"))
			}
		}
	}
	for i, page := range pages {
		if at, ok := ranges[int64(i)]; ok && !page.consulted {
			r.draft.Cite(page.address, page.title, at[0], at[1])
		} else {
			r.draft.Consult(page.address, page.title)
		}
	}
	return nil
}

// textRange returns the range of a segment in the whole text. The segment's own is in bytes of a part.
func (r *geminiReader) textRange(segment wire.Object) [2]int {
	at, ok := segment.Counts("partIndex?", "startIndex?", "endIndex?")
	if !ok || at[0] < 0 || at[0] >= int64(len(r.parts)) ||
		at[1] < 0 || at[2] < at[1] || at[2] > int64(len(r.draft.Text())) {
		return [2]int{}
	}
	start := r.parts[at[0]]
	return [2]int{start + int(at[1]), start + int(at[2])}
}

func geminiFinish(reason string) event.Finish {
	switch reason {
	case "MAX_TOKENS":
		return event.FinishTruncated
	case "SAFETY", "MODEL_ARMOR", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION":
		return event.FinishFiltered
	}
	return event.FinishComplete
}

// geminiUsage reads counts of tokens, which Google leaves out where they are 0.
func geminiUsage(usage wire.Object, searches int64) *event.Usage {
	tokens, ok := usage.Counts(
		"promptTokenCount", "toolUsePromptTokenCount?", "candidatesTokenCount?", "thoughtsTokenCount?")
	if !ok {
		return nil
	}
	return &event.Usage{InputTokens: tokens[0] + tokens[1], OutputTokens: tokens[2] + tokens[3], Searches: searches}
}
