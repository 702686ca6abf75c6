package metrics

import (
	"context"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// promptsBody answers GET /api/v1/prompt-performance.
type promptsBody struct {
	Brand      brandName    `json:"brand"`
	Window     promptWindow `json:"window"`
	Prompts    []promptRow  `json:"prompts"`
	NextCursor *string      `json:"next_cursor"` // null at the end
}

// promptWindow is a windowBody in the spelling of this endpoint.
type promptWindow struct {
	DateFrom string `json:"dateFrom"`
	DateTo   string `json:"dateTo"`
}

type promptRow struct {
	ID                 string    `json:"prompt_id"`
	Text               string    `json:"prompt_text"`
	TopicName          *string   `json:"topic_name"` // null without topic, or when it was deleted
	ResultCount        int64     `json:"result_count"`
	AppearanceCount    int64     `json:"appearance_count"` // answers that name the brand
	AvgVisibility      *float64  `json:"avg_visibility"`
	TotalMentions      int64     `json:"total_mentions"`
	TotalCitations     int64     `json:"total_citations"`
	AvgCompetitorScore *float64  `json:"avg_competitor_score"`
	AIVisibilityScore  *float64  `json:"ai_visibility_score"`
	Interval           *interval `json:"interval"` // null under 5 answers, as that of the rate
	MentionRatePct     *float64  `json:"mention_rate_pct"`
	MentionRate        *interval `json:"mention_rate_interval"`
}

func (a *API) promptPerformance(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p := q.common(a.now())
	sortBy := q.oneOf("sort_by", "visibility", "mentions", "citations", "appearances")
	order := q.oneOf("order", "desc", "asc")
	limit := q.number("limit", 10, 1, 100)
	filter := clickhouse.PromptFilter{SortBy: sortBy, Order: order}
	filter.Filter = p.filter(caller.OrganizationID)
	filter.Limit = limit + 1 // one more shows whether there is a next page
	filters := digest("prompts", filter.Filter, sortBy, order)
	if after := readCursor[promptPosition](q, filters); after != nil {
		filter.PromptCursor = clickhouse.PromptCursor{SortedBy: after.SortedBy, ID: after.ID.String()}
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	brand, err := a.findBrand(ctx, caller, p.brandID)
	if err != nil {
		return nil, err
	}
	rows, err := clickhouse.PromptPerformance.All(ctx, a.warehouse, filter)
	if err != nil {
		return nil, err
	}
	body := promptsBody{
		Brand:  brandName{brand.ID.String(), brand.Name},
		Window: promptWindow{dayText(p.window.from), dayText(p.window.to)},
	}
	rows, body.NextCursor = firstPage(rows, limit, filters, positionOfPrompt)
	body.Prompts = newPromptRows(rows)
	return body, nil
}

// A promptPosition is the position of a prompt in a list.
type promptPosition struct {
	SortedBy float64         `json:"sorted_by"`
	ID       clickhouse.UUID `json:"id"`
}

func positionOfPrompt(p clickhouse.Prompt) promptPosition { return promptPosition{*p.SortedBy, p.ID} }

func newPromptRows(rows []clickhouse.Prompt) []promptRow {
	list := make([]promptRow, len(rows))
	for i, r := range rows {
		list[i] = promptRow{
			ID: r.ID.String(), Text: r.Text, TopicName: r.TopicName, ResultCount: r.Answers,
			AppearanceCount: r.MentionAnswers, AvgVisibility: r.AvgVisibility, TotalMentions: r.Mentions,
			TotalCitations: r.Citations, AvgCompetitorScore: r.AvgCompetitorScore, AIVisibilityScore: r.Score,
			Interval:       newInterval(r.IntervalLow, r.IntervalHigh),
			MentionRatePct: r.MentionRatePct, MentionRate: newInterval(r.MentionRateLow, r.MentionRateHigh),
		}
	}
	return list
}
