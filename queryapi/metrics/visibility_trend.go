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
	trendFigures
	Groups []trendGroup `json:"groups,omitzero"` // nil unless asked for
}

type trendGroup struct {
	groupName
	trendFigures
}

// trendFigures are of the whole window or of one group.
type trendFigures struct {
	Buckets []trendBucket `json:"buckets"`
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
	asked, by := q.common(a.now()), q.groupBy()
	granularity := clickhouse.Granularity(q.oneOf("granularity", string(clickhouse.ByDay), string(clickhouse.ByWeek)))
	if _, err := a.brand(ctx, caller, asked.brandID, q); err != nil {
		return nil, err
	}
	whole, groups, err := wholeAndGroups(ctx, a, asked.filter(caller.OrganizationID), by,
		func(ctx context.Context, filter clickhouse.GroupFilter) ([]group[trendFigures], error) {
			return a.trends(ctx, clickhouse.BucketFilter{GroupFilter: filter, Granularity: granularity})
		},
		func(name groupName, f trendFigures) trendGroup { return trendGroup{name, f} })
	if err != nil {
		return nil, err
	}
	return trendBody{granularity, whole, groups}, nil
}

// trends are the buckets of each group.
func (a *API) trends(ctx context.Context, filter clickhouse.BucketFilter) ([]group[trendFigures], error) {
	var rows []clickhouse.Bucket
	var changes []clickhouse.ModelChange
	if err := a.gather(ctx, into(&rows, clickhouse.BrandVisibility, filter), into(&changes, clickhouse.ModelChanges, filter)); err != nil {
		return nil, err
	}
	type groupBucket struct {
		group  string
		bucket time.Time
	}
	changed := map[groupBucket]bool{}
	for _, c := range changes {
		changed[groupBucket{c.Group, c.Bucket}] = true
	}
	var groups []group[trendFigures]
	for key, of := range byGroup(rows, filter.GroupBy, func(b clickhouse.Bucket) string { return b.Group }) {
		g := group[trendFigures]{key: key, figures: trendFigures{make([]trendBucket, len(of))}}
		for i, r := range of {
			g.answers += r.Answers
			g.figures.Buckets[i] = bucketOf(r, filter.Granularity, changed[groupBucket{key, r.Bucket}])
		}
		groups = append(groups, g)
	}
	return groups, nil
}

func bucketOf(r clickhouse.Bucket, granularity clickhouse.Granularity, modelChanged bool) trendBucket {
	bucket := trendBucket{
		Date: dayText(r.Bucket), ResultCount: r.Answers, AvgVisibilityScore: r.AvgVisibility,
		TotalMentions: r.Mentions, TotalCitations: r.Citations, AvgCompetitorScore: r.AvgCompetitorScore,
		ModelChanged: modelChanged,
	}
	if granularity == clickhouse.ByDay { // weeks have no score in the interface
		bucket.AIVisibilityScore, bucket.Interval = r.Score, intervalOf(r.Visibility)
	}
	return bucket
}
