package metrics

import (
	"context"

	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// trendBody answers GET /api/v1/visibility-trend.
type trendBody struct {
	Granularity clickhouse.Granularity `json:"granularity"`
	Buckets     []trendBucket          `json:"buckets"`
}

type trendBucket struct {
	Date               string    `json:"date"` // of a week its ISO Monday, which may lie before the window
	ResultCount        int64     `json:"result_count"`
	AIVisibilityScore  *float64  `json:"ai_visibility_score"` // null for weeks, as the interval
	AvgVisibilityScore *float64  `json:"avg_visibility_score"`
	TotalMentions      int64     `json:"total_mentions"`
	TotalCitations     int64     `json:"total_citations"`
	AvgCompetitorScore *float64  `json:"avg_competitor_score"`
	Interval           *interval `json:"interval"`
	ModelChanged       bool      `json:"model_changed"`
}

func (a *API) visibilityTrend(ctx context.Context, caller apikey.Identity, q *query) (any, error) {
	asked := q.common(a.now())
	granularity := clickhouse.Granularity(q.oneOf("granularity", string(clickhouse.ByDay), string(clickhouse.ByWeek)))
	if _, err := a.brand(ctx, caller, asked.brandID, q); err != nil {
		return nil, err
	}
	rows, err := clickhouse.VisibilityTrend.All(ctx, a.warehouse, clickhouse.BucketFilter{
		Filter:      asked.filter(caller.OrganizationID),
		Granularity: granularity,
	})
	if err != nil {
		return nil, err
	}
	buckets := make([]trendBucket, len(rows))
	for i, r := range rows {
		buckets[i] = trendBucket{
			Date:               dayText(r.Bucket),
			ResultCount:        r.Answers,
			AIVisibilityScore:  r.Score,
			AvgVisibilityScore: r.AvgVisibility,
			TotalMentions:      r.Mentions,
			TotalCitations:     r.Citations,
			AvgCompetitorScore: r.AvgCompetitorScore,
			ModelChanged:       r.ModelChanged,
		}
		if granularity == clickhouse.ByDay {
			buckets[i].Interval = intervalOf(r.Answers, r.IntervalLow, r.IntervalHigh)
		}
	}
	return trendBody{granularity, buckets}, nil
}
