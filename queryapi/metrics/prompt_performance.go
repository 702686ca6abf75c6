package metrics

import (
	"context"
	"encoding/binary"
	"math"

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
	asked := q.common(a.now())
	sortBy := q.oneOf("sort_by", "visibility", "mentions", "citations", "appearances")
	order := q.oneOf("order", "desc", "asc")
	limit := q.limit(10, 100)
	filter := clickhouse.PromptFilter{
		ListFilter: clickhouse.ListFilter{Filter: asked.filter(caller.OrganizationID), Limit: limit + 1}, // one more shows whether there is a next page
		SortBy:     sortBy,
		Order:      order,
	}
	filters := digest("prompts", filter.Filter, sortBy, order)
	q.cursor(filters, promptPosition, func(b []byte) (ok bool) { filter.PromptCursor, ok = promptAfter(b); return ok })
	brand, err := a.brand(ctx, caller, asked.brandID, q)
	if err != nil {
		return nil, err
	}
	rows, err := clickhouse.PromptPerformance.All(ctx, a.warehouse, filter)
	if err != nil {
		return nil, err
	}
	body := promptsBody{
		Brand:  brandName{brand.ID.String(), brand.Name},
		Window: promptWindow{dayText(asked.window.from), dayText(asked.window.to)},
	}
	rows, body.NextCursor = firstPage(rows, limit, filters, positionOfPrompt)
	body.Prompts = promptRows(rows)
	return body, nil
}

// promptPosition is how many bytes the position of a prompt has.
const promptPosition = 8 + 16

func positionOfPrompt(p clickhouse.Prompt) []byte {
	return append(binary.BigEndian.AppendUint64(nil, math.Float64bits(*p.SortedBy)), p.ID[:]...)
}

func promptAfter(b []byte) (after clickhouse.PromptCursor, ok bool) {
	after = clickhouse.PromptCursor{SortedBy: math.Float64frombits(binary.BigEndian.Uint64(b)), ID: clickhouse.UUID(b[8:24]).String()}
	return after, !math.IsNaN(after.SortedBy) && !math.IsInf(after.SortedBy, 0)
}

func promptRows(rows []clickhouse.Prompt) []promptRow {
	shown := make([]promptRow, len(rows))
	for i, r := range rows {
		shown[i] = promptRow{
			ID: r.ID.String(), Text: r.Text, TopicName: r.TopicName, ResultCount: r.Answers,
			AppearanceCount: r.MentionAnswers, AvgVisibility: r.AvgVisibility, TotalMentions: r.Mentions,
			TotalCitations: r.Citations, AvgCompetitorScore: r.AvgCompetitorScore, AIVisibilityScore: r.Score,
			Interval:       intervalOf(r.IntervalLow, r.IntervalHigh),
			MentionRatePct: r.MentionRatePct, MentionRate: intervalOf(r.MentionRateLow, r.MentionRateHigh),
		}
	}
	return shown
}
