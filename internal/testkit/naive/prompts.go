package naive

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"
)

// Prompt is how a prompt is called now, or last was.
type Prompt struct {
	Text    string
	Topic   *string    // the present name of the topic that it has; nil: none, or deleted
	TopicID *uuid.UUID // likewise
}

// PromptOrder is what the parameters of the list say.
type PromptOrder struct {
	SortBy   string // visibility, mentions, citations, appearances, rate or change
	Order    string // asc or desc
	Limit    int
	Compared bool   // with the days before
	Metric   string // that is compared
}

// more stands for a cursor, which is opaque.
var more = map[bool]any{true: "more"}

// WithoutCursor is a body of the API with its cursor, if it has one, as Prompts writes it.
func WithoutCursor(body []byte) []byte {
	return cursor.ReplaceAll(body, []byte(`"next_cursor":"more"`))
}

var cursor = regexp.MustCompile(`"next_cursor":"[^"]+"`)

// Prompts computes /api/v1/prompt-performance of a brand. known has the names of prompts.
func Prompts(readings []Reading, f Filter, who Live, competitors []Live, known map[uuid.UUID]Prompt, o PromptOrder) Body {
	of, sortedBy := map[string][]Reading{}, map[string]float64{}
	for _, r := range answers(f.runs(readings)) {
		id := r.Answer.Prompt.ID.String()
		of[id] = append(of[id], r)
	}
	changes := map[any]Body{}
	if o.Compared || o.SortBy == "change" {
		all := Changes(readings, ChangeFilter{Filter: f, Metric: o.Metric, GroupBy: []string{"prompt"}}, who, nil, ChangeNames{})
		for _, change := range all["changes"].([]Body) {
			key := change["key"]
			for _, name := range []string{"dimension", "key", "name", "entity"} {
				delete(change, name)
			}
			changes[key] = change
		}
	}
	rows := map[string]Body{}
	for id, some := range of {
		t, key := count(some, brand), some[0].Answer.Prompt.ID
		prompt := known[key]
		rows[id] = Body{
			"prompt_id": id, "prompt_text": prompt.Text, "topic_name": prompt.Topic, "result_count": t.answers,
			"appearance_count": t.mentionAnswers, "avg_visibility": t.averageVisibility(), "total_mentions": t.mentions,
			"total_citations": t.citations, "avg_competitor_score": competitorScore(some, competitors), "ai_visibility_score": t.score(),
			"interval": t.ofPrompt(t.points[key]), "mention_rate_pct": t.mentionRate(), "mention_rate_interval": t.ofPrompt(t.named[key]),
			"branded": slices.ContainsFunc(some, func(r Reading) bool { return r.Branded }), "position": rounded(rat(t.places), t.mentionAnswers, 1),
			"change": nil,
		}
		moved := 0.0
		if change, judged := changes[id]; judged {
			rows[id]["change"] = change
			if strings.HasPrefix(change["verdict"].(string), "moved_") {
				moved = *change["since"].(Body)["difference"].(figure)
			}
		}
		sortedBy[id] = map[string]float64{
			"visibility": *t.averageVisibility(), "mentions": float64(t.mentions), "citations": float64(t.citations),
			"appearances": float64(t.mentionAnswers), "rate": *t.mentionRate(), "change": moved,
		}[o.SortBy]
		if o.Order == "desc" {
			sortedBy[id] *= -1
		}
	}
	listed := []Body{}
	for _, id := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(sortedBy[a], sortedBy[b]), cmp.Compare(a, b))
	}) {
		listed = append(listed, rows[id])
	}
	return Body{
		"brand": who, "window": Body{"dateFrom": f.From, "dateTo": f.To}, "prompts": listed[:min(len(listed), o.Limit)],
		"next_cursor": more[len(listed) > o.Limit],
	}
}
