package metrics

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// trendBody answers GET /api/v1/visibility-trend.
type trendBody struct {
	Granularity clickhouse.Granularity `json:"granularity"`
	trendFigures
	Changes []trendChange `json:"changes" csv:"-"` // of the score over all answers, none or one
	Groups  []trendGroup  `json:"groups,omitzero"` // nil without group_by
}

// unansweredBucket is a bucket without figures: its runs were given up, or their surface had no answer.
type unansweredBucket struct {
	Date              string        `json:"date"` // as of trendBucket
	ModelChanges      []modelChange `json:"model_changes" csv:"-"`
	GivenUpRuns       int64         `json:"given_up_runs"`
	NotShown          int64         `json:"not_shown"`
	DegradedPlatforms []string      `json:"degraded_platforms"`
}

type trendChange struct {
	Day        string  `json:"day"` // the first of the new level, which may lie before the window
	Direction  string  `json:"direction"`
	Reach      string  `json:"reach"`
	Difference float64 `json:"difference"`
}

type trendGroup struct {
	groupName
	trendFigures
}

// trendFigures describe the whole window or one group.
type trendFigures struct {
	Buckets    []trendBucket      `json:"buckets"`
	Unanswered []unansweredBucket `json:"unanswered"`
}

type trendBucket struct {
	// Date is the first day of the bucket, which may lie before the window.
	Date               string        `json:"date"`
	ResultCount        int64         `json:"result_count"`
	AIVisibilityScore  *float64      `json:"ai_visibility_score"` // null for weeks and months
	AvgVisibilityScore *float64      `json:"avg_visibility_score"`
	TotalMentions      int64         `json:"total_mentions"`
	TotalCitations     int64         `json:"total_citations"`
	AvgCompetitorScore *float64      `json:"avg_competitor_score"`
	Interval           *interval     `json:"interval"`
	MentionRatePct     *float64      `json:"mention_rate_pct"`
	MentionRate        *interval     `json:"mention_rate_interval"`
	ModelChanged       bool          `json:"model_changed"`
	ModelChanges       []modelChange `json:"model_changes" csv:"-"`
	GivenUpRuns        int64         `json:"given_up_runs"`
	NotShown           int64         `json:"not_shown"` // runs whose surface had no answer
	DegradedPlatforms  []string      `json:"degraded_platforms"`
}

// modelChange is a platform that answered a requested model with other served models, or through other providers, than
// before.
type modelChange struct {
	Platform string   `json:"platform"`
	Model    string   `json:"model"`
	Before   []string `json:"before"`
	Now      []string `json:"now"`
}

func (a *API) visibilityTrend(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p, granularity := q.common(a.now()), q.granularity()
	filter := clickhouse.GroupFilter{GroupBy: q.groupBy(), Prompts: q.prompts()}
	if err := q.check(); err != nil {
		return nil, err
	}
	if _, err := a.findBrand(ctx, caller, p.brandID); err != nil {
		return nil, err
	}
	filter.Filter = p.filter(caller.OrganizationID)
	body := trendBody{Granularity: granularity, Changes: []trendChange{}}
	change, err := a.changeBeside(ctx, filter, p.window, func(ctx context.Context) (err error) {
		body.trendFigures, body.Groups, err = totalAndGroups(ctx, a, filter,
			func(ctx context.Context, filter clickhouse.GroupFilter) ([]group[trendFigures], error) {
				return a.trends(ctx, clickhouse.BucketFilter{GroupFilter: filter, Granularity: granularity})
			},
			func(name groupName, f trendFigures) trendGroup { return trendGroup{name, f} })
		return err
	})
	if direction, moved := strings.CutPrefix(change.Verdict, "moved_"); moved {
		body.Changes = append(body.Changes,
			trendChange{change.Since.Day, direction, *change.Reach, change.Since.Difference})
	}
	return body, err
}

// granularity reads the width of buckets; days are the default.
func (q *query) granularity() clickhouse.Granularity {
	return cmp.Or(q.optionalGranularity(), clickhouse.ByDay)
}

// optionalGranularity reads the width of buckets; "" asks for none.
func (q *query) optionalGranularity() clickhouse.Granularity {
	word, _ := q.word("granularity",
		string(clickhouse.ByDay), string(clickhouse.ByWeek), string(clickhouse.ByMonth))
	return clickhouse.Granularity(word)
}

// trends returns the buckets of each group.
func (a *API) trends(ctx context.Context, filter clickhouse.BucketFilter) ([]group[trendFigures], error) {
	var rows []clickhouse.Bucket
	var changes []clickhouse.ModelChange
	var outages []clickhouse.DegradedPlatform
	err := a.runAll(ctx,
		fetch(&rows, clickhouse.BrandVisibility, filter), fetch(&changes, clickhouse.ModelChanges, filter.RunFilter()),
		fetch(&outages, clickhouse.DegradedPlatforms, filter.RunFilter()))
	if err != nil {
		return nil, err
	}
	type groupBucket struct {
		group  string
		bucket time.Time
	}
	changed := map[groupBucket][]modelChange{}
	for _, c := range changes {
		key := groupBucket{c.Group, c.Bucket}
		changed[key] = append(changed[key], modelChange{c.Platform, c.Model, c.Before, c.Now})
	}
	degraded := map[groupBucket][]clickhouse.DegradedPlatform{}
	for _, o := range outages {
		key := groupBucket{o.Group, o.Bucket}
		degraded[key] = append(degraded[key], o)
	}
	var groups []group[trendFigures]
	for key, rows := range byGroup(rows, filter.GroupBy, func(b clickhouse.Bucket) string { return b.Group }) {
		g := group[trendFigures]{key: key, figures: trendFigures{[]trendBucket{}, []unansweredBucket{}}}
		observed := int64(0)
		for _, r := range rows {
			platforms := slugsOf(degraded[groupBucket{key, r.Bucket}])
			models := append([]modelChange{}, changed[groupBucket{key, r.Bucket}]...)
			observed += r.Answers + r.NotShown
			if r.Answers == 0 {
				g.figures.Unanswered = append(g.figures.Unanswered,
					unansweredBucket{dayText(r.Bucket), models, r.GivenUp, r.NotShown, platforms})
				continue
			}
			g.answers += r.Answers
			bucket := newTrendBucket(r, filter)
			bucket.ModelChanged, bucket.ModelChanges = len(models) > 0, models
			bucket.DegradedPlatforms = platforms
			g.figures.Buckets = append(g.figures.Buckets, bucket)
		}
		if filter.GroupBy != clickhouse.NoGroups && observed == 0 {
			continue
		}
		groups = append(groups, g)
	}
	return groups, nil
}

func newTrendBucket(r clickhouse.Bucket, filter clickhouse.BucketFilter) trendBucket {
	bucket := trendBucket{
		Date: dayText(r.Bucket), ResultCount: r.Answers, AvgVisibilityScore: r.AvgVisibility,
		TotalMentions: r.Mentions, TotalCitations: r.Citations, AvgCompetitorScore: r.AvgCompetitorScore,
		MentionRatePct: r.MentionRatePct, GivenUpRuns: r.GivenUp, NotShown: r.NotShown,
		Interval:    intervalOf(filter.Prompts, r.Answers, r.IntervalLow, r.IntervalHigh),
		MentionRate: intervalOf(filter.Prompts, r.Answers, r.MentionRateLow, r.MentionRateHigh),
	}
	if filter.Granularity == clickhouse.ByDay { // weeks and months have no score in the interface
		bucket.AIVisibilityScore = r.Score
	}
	return bucket
}
