package metrics

import (
	"context"
	"maps"
	"slices"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/verdict"
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
	Branded            bool      `json:"branded"`  // it named the brand when it was asked
	Position           *float64  `json:"position"` // mean over the answers that name the brand
	Change             *Change   `json:"change"`   // null unless it is compared, or without runs in both windows
}

func (a *API) promptPerformance(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p := q.common(a.now())
	const byChange = "change"
	sortBy := q.oneOf("sort_by", "visibility", "mentions", "citations", "appearances", "rate", byChange)
	compared := q.oneOf("compare", "none", "previous") == "previous" || sortBy == byChange
	metric := q.metric()
	order := q.oneOf("order", "desc", "asc")
	limit := q.number("limit", 10, 1, 100)
	filter := clickhouse.PromptFilter{SortBy: sortBy, Order: order}
	filter.Filter = p.filter(caller.OrganizationID)
	filter.Limit = limit + 1 // one more shows whether there is a next page
	filters := digest("prompts", filter.Filter, sortBy, order, metric)
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
	body := promptsBody{
		Brand:  brandName{brand.ID.String(), brand.Name},
		Window: promptWindow{dayText(p.window.from), dayText(p.window.to)},
	}
	var changes map[string]*Change
	var queries []queryFunc
	if compared {
		cells := clickhouse.CellFilter{Filter: filter.Filter, Metric: metric}
		queries = append(queries, func(ctx context.Context, _ *clickhouse.Conn) (err error) {
			changes, err = a.promptChanges(ctx, cells, p.window, body.Brand)
			return err
		})
	}
	if sortBy == byChange { // the order needs the verdicts first
		if err := a.runAll(ctx, queries...); err != nil {
			return nil, err
		}
		filter.Moved, filter.Changes = moves(changes)
		queries = nil
	}
	var rows []clickhouse.Prompt
	queries = append(queries, fetch(&rows, clickhouse.PromptPerformance, filter))
	if err := a.runAll(ctx, queries...); err != nil {
		return nil, err
	}
	rows, body.NextCursor = firstPage(rows, limit, filters, positionOfPrompt)
	body.Prompts = newPromptRows(rows, changes)
	return body, nil
}

// promptChanges returns the verdicts on the prompts of a window and the usual days before, as one list.
func (a *API) promptChanges(
	ctx context.Context, cells clickhouse.CellFilter, window window, brand brandName,
) (map[string]*Change, error) {
	w := window.comparedWith(window.usualCompareDays())
	basket, err := a.basket(ctx, cells, w)
	if err != nil {
		return nil, err
	}
	rows, err := changeRows(ctx, basket, w, brand, []string{string(verdict.ByPrompt)}, nil)
	changes := map[string]*Change{}
	for i := range rows {
		changes[rows[i].Key] = &rows[i].Change
	}
	return changes, err
}

// moves returns the prompts that moved, by id, and by how many points.
func moves(changes map[string]*Change) (prompts []clickhouse.UUID, points []float64) {
	for _, id := range slices.Sorted(maps.Keys(changes)) {
		if c := changes[id]; c.Verdict == verdict.MovedUp || c.Verdict == verdict.MovedDown {
			prompts = append(prompts, clickhouse.UUID(uuid.FromStringOrNil(id)))
			points = append(points, c.Since.Difference)
		}
	}
	return prompts, points
}

// A promptPosition is the position of a prompt in a list.
type promptPosition struct {
	SortedBy float64         `json:"sorted_by"`
	ID       clickhouse.UUID `json:"id"`
}

func positionOfPrompt(p clickhouse.Prompt) promptPosition { return promptPosition{*p.SortedBy, p.ID} }

func newPromptRows(rows []clickhouse.Prompt, changes map[string]*Change) []promptRow {
	list := make([]promptRow, len(rows))
	for i, r := range rows {
		list[i] = promptRow{
			ID: r.ID.String(), Text: r.Text, TopicName: r.TopicName, ResultCount: r.Answers,
			AppearanceCount: r.MentionAnswers, AvgVisibility: r.AvgVisibility, TotalMentions: r.Mentions,
			TotalCitations: r.Citations, AvgCompetitorScore: r.AvgCompetitorScore, AIVisibilityScore: r.Score,
			Interval:       newInterval(r.IntervalLow, r.IntervalHigh),
			MentionRatePct: r.MentionRatePct, MentionRate: newInterval(r.MentionRateLow, r.MentionRateHigh),
			Branded: r.Branded, Position: r.AvgPosition, Change: changes[r.ID.String()],
		}
	}
	return list
}
