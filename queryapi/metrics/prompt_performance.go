package metrics

import (
	"context"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// promptsBody answers GET /api/v1/prompt-performance.
type promptsBody struct {
	Brand   brandName    `json:"brand"`
	Window  promptWindow `json:"window"`
	Prompts []promptRow  `json:"prompts"`
}

// promptWindow is a windowBody in the spelling of this endpoint.
type promptWindow struct {
	DateFrom string `json:"dateFrom"`
	DateTo   string `json:"dateTo"`
}

type promptRow struct {
	ID                 string   `json:"prompt_id"`
	Text               string   `json:"prompt_text"`
	TopicName          *string  `json:"topic_name"` // null without topic, or when it was deleted
	ResultCount        int64    `json:"result_count"`
	AppearanceCount    int64    `json:"appearance_count"` // answers that name the brand
	AvgVisibility      *float64 `json:"avg_visibility"`
	TotalMentions      int64    `json:"total_mentions"`
	TotalCitations     int64    `json:"total_citations"`
	AvgCompetitorScore *float64 `json:"avg_competitor_score"`
	AIVisibilityScore  *float64 `json:"ai_visibility_score"`
}

func (a *API) promptPerformance(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	asked := q.common(a.now())
	sortBy := q.oneOf("sort_by", "visibility", "mentions", "citations", "appearances")
	order := q.oneOf("order", "desc", "asc")
	limit := q.limit(10, 100)
	brand, err := a.brand(ctx, caller, asked.brandID, q)
	if err != nil {
		return nil, err
	}
	rows, err := clickhouse.PromptPerformance.All(ctx, a.warehouse, clickhouse.PromptFilter{
		ListFilter: clickhouse.ListFilter{Filter: asked.filter(caller.OrganizationID), Limit: limit},
		SortBy:     sortBy,
		Order:      order,
	})
	if err != nil {
		return nil, err
	}
	body := promptsBody{
		Brand:   brandName{brand.ID.String(), brand.Name},
		Window:  promptWindow{dayText(asked.window.from), dayText(asked.window.to)},
		Prompts: make([]promptRow, len(rows)),
	}
	for i, r := range rows {
		body.Prompts[i] = promptRow{
			ID: r.ID.String(), Text: r.Text, TopicName: r.TopicName, ResultCount: r.Answers,
			AppearanceCount: r.MentionAnswers, AvgVisibility: r.AvgVisibility, TotalMentions: r.Mentions,
			TotalCitations: r.Citations, AvgCompetitorScore: r.AvgCompetitorScore, AIVisibilityScore: r.Score,
		}
	}
	return body, nil
}
