package naive

import (
	"cmp"
	"slices"

	"github.com/gofrs/uuid/v5"
)

// Prompt is how a prompt is called now, or last was.
type Prompt struct {
	Text  string
	Topic *string // the present name of the topic that it has; nil: none, or deleted
}

// PromptsBody is the body of /api/v1/prompt-performance.
type PromptsBody struct {
	Brand   Live         `json:"brand"`
	Window  PromptWindow `json:"window"`
	Prompts []PromptRow  `json:"prompts"`
}

// PromptWindow is a Window in this endpoint's spelling.
type PromptWindow struct {
	From string `json:"dateFrom"`
	To   string `json:"dateTo"`
}

// PromptRow is a prompt that has answers in the window.
type PromptRow struct {
	ID                 uuid.UUID `json:"prompt_id"`
	Text               string    `json:"prompt_text"`
	Topic              *string   `json:"topic_name"`
	ResultCount        int       `json:"result_count"`
	AppearanceCount    int       `json:"appearance_count"`
	AvgVisibility      figure    `json:"avg_visibility"`
	TotalMentions      int       `json:"total_mentions"`
	TotalCitations     int       `json:"total_citations"`
	AvgCompetitorScore figure    `json:"avg_competitor_score"`
	AIVisibilityScore  figure    `json:"ai_visibility_score"`
}

// PromptOrder is what the parameters of the list say.
type PromptOrder struct {
	SortBy string // visibility, mentions, citations or appearances
	Order  string // asc or desc
	Limit  int
}

// Prompts computes the performance of a brand's prompts. known has their names.
func Prompts(readings []Reading, f Filter, who Live, competitors []Live, known map[uuid.UUID]Prompt, o PromptOrder) PromptsBody {
	of := map[uuid.UUID][]Reading{}
	for _, r := range answers(f.runs(readings)) {
		of[r.Answer.Prompt.ID] = append(of[r.Answer.Prompt.ID], r)
	}
	body := PromptsBody{Brand: who, Window: PromptWindow{f.From, f.To}, Prompts: []PromptRow{}}
	for id, some := range of {
		t := count(some, brand)
		body.Prompts = append(body.Prompts, PromptRow{
			ID: id, Text: known[id].Text, Topic: known[id].Topic, ResultCount: t.answers, AppearanceCount: t.mentionAnswers,
			AvgVisibility: t.averageVisibility(), TotalMentions: t.mentions, TotalCitations: t.citations,
			AvgCompetitorScore: competitorScore(some, competitors), AIVisibilityScore: t.score(),
		})
	}
	slices.SortFunc(body.Prompts, func(a, b PromptRow) int {
		by := cmp.Compare(a.sortedBy(o.SortBy), b.sortedBy(o.SortBy))
		if o.Order == "desc" {
			by = -by
		}
		return cmp.Or(by, cmp.Compare(a.ID.String(), b.ID.String()))
	})
	body.Prompts = body.Prompts[:min(len(body.Prompts), o.Limit)]
	return body
}

// sortedBy is the shown value of what the list is sorted by.
func (p PromptRow) sortedBy(what string) float64 {
	switch what {
	case "mentions":
		return float64(p.TotalMentions)
	case "citations":
		return float64(p.TotalCitations)
	case "appearances":
		return float64(p.AppearanceCount)
	}
	return *p.AvgVisibility
}
