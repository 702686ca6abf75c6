package metrics

import (
	"context"
	"time"

	"github.com/answerscope/answerscope/internal/identity"
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

func (a *API) visibilityTrend(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	asked := q.common(a.now())
	granularity := clickhouse.Granularity(q.oneOf("granularity", string(clickhouse.ByDay), string(clickhouse.ByWeek)))
	if _, err := a.brand(ctx, caller, asked.brandID, q); err != nil {
		return nil, err
	}
	filter := clickhouse.BucketFilter{Filter: asked.filter(caller.OrganizationID), Granularity: granularity}
	var rows []clickhouse.Bucket
	var changes []clickhouse.ModelChange
	if err := a.gather(ctx, into(&rows, clickhouse.BrandVisibility, filter), into(&changes, clickhouse.ModelChanges, filter)); err != nil {
		return nil, err
	}
	changed := map[time.Time]bool{}
	for _, c := range changes {
		changed[c.Bucket] = true
	}
	buckets := make([]trendBucket, len(rows))
	for i, r := range rows {
		buckets[i] = trendBucket{
			Date: dayText(r.Bucket), ResultCount: r.Answers, AvgVisibilityScore: r.AvgVisibility,
			TotalMentions: r.Mentions, TotalCitations: r.Citations, AvgCompetitorScore: r.AvgCompetitorScore,
			ModelChanged: changed[r.Bucket],
		}
		if granularity == clickhouse.ByDay { // weeks have no score in the interface
			buckets[i].AIVisibilityScore, buckets[i].Interval = r.Score, intervalOf(r.Visibility)
		}
	}
	return trendBody{granularity, buckets}, nil
}
