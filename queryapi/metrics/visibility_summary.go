package metrics

import (
	"cmp"
	"context"
	"slices"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// topCompetitors is how many competitors the summary shows.
const topCompetitors = 5

// summaryBody answers GET /api/v1/visibility-summary.
type summaryBody struct {
	Brand  brandName  `json:"brand"`
	Window windowBody `json:"window"`
	Totals struct {
		summaryTotals
		Change Change `json:"change"` // of the score
	} `json:"totals"` // in place of those of summaryFigures
	summaryFigures
	Groups []summaryGroup `json:"groups,omitzero"` // nil without group_by
}

type summaryGroup struct {
	groupName
	summaryFigures
}

// summaryFigures describe the whole window or one group.
type summaryFigures struct {
	Totals            summaryTotals   `json:"totals"`
	TopCompetitors    []topCompetitor `json:"topCompetitors"`
	DegradedPlatforms []string        `json:"degraded_platforms"`
}

type brandName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type windowBody struct {
	DateFrom string `json:"date_from"`
	DateTo   string `json:"date_to"`
}

func (w window) body() windowBody { return windowBody{dayText(w.from), dayText(w.to)} }

type summaryTotals struct {
	ResultCount       int64     `json:"resultCount"`
	AvgVisibility     *float64  `json:"avgVisibility"`
	TotalMentions     int64     `json:"totalMentions"`
	TotalCitations    int64     `json:"totalCitations"`
	VisiblePrompts    uint64    `json:"visiblePrompts"`
	PromptCount       uint64    `json:"promptCount"`
	VisibilityRatePct *float64  `json:"visibilityRatePct"`
	AIVisibilityScore *float64  `json:"aiVisibilityScore"`
	MentionAnswers    int64     `json:"mentionAnswers"`
	CitationAnswers   int64     `json:"citationAnswers"`
	PositionFactor    *float64  `json:"positionFactor"`
	Interval          *interval `json:"interval"`
	MentionRatePct    *float64  `json:"mentionRatePct"` // answers that name the brand, of all
	MentionRate       *interval `json:"mentionRateInterval"`
	NotShown          int64     `json:"notShown"`     // runs whose surface had no answer, in no other figure
	ShownRatePct      *float64  `json:"shownRatePct"` // answers, of both, on platforms that may have none
	ShownRate         *interval `json:"shownRateInterval"`
	Sentiment         tones     `json:"sentiment"`
}

// tones are the shares of the answers that name the brand and have a label.
type tones struct {
	PositivePct *float64 `json:"positivePct"`
	NeutralPct  *float64 `json:"neutralPct"`
	NegativePct *float64 `json:"negativePct"`
	Labelled    int64    `json:"labelled"` // answers
}

type topCompetitor struct {
	Name          string   `json:"name"`
	Mentions      int64    `json:"mentions"`
	AvgVisibility *float64 `json:"avgVisibility"`
	Score         *float64 `json:"score"`
}

func (a *API) visibilitySummary(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p, by := q.common(a.now()), q.groupBy()
	if err := q.check(); err != nil {
		return nil, err
	}
	brand, err := a.findBrand(ctx, caller, p.brandID)
	if err != nil {
		return nil, err
	}
	body := summaryBody{
		Brand:  brandName{brand.ID.String(), brand.Name},
		Window: p.window.body(),
	}
	filter := clickhouse.GroupFilter{Filter: p.filter(caller.OrganizationID), GroupBy: by}
	body.Totals.Change, err = a.changeBeside(ctx, filter, p.window, func(ctx context.Context) (err error) {
		body.summaryFigures, body.Groups, err = totalAndGroups(ctx, a, filter, a.summaries,
			func(name groupName, f summaryFigures) summaryGroup { return summaryGroup{name, f} })
		return err
	})
	body.Totals.summaryTotals = body.summaryFigures.Totals
	return body, err
}

// summaries returns the figures of each group.
func (a *API) summaries(ctx context.Context, filter clickhouse.GroupFilter) ([]group[summaryFigures], error) {
	var entities []clickhouse.Entity
	var degraded []clickhouse.DegradedPlatform
	window := clickhouse.BucketFilter{GroupFilter: filter, Granularity: clickhouse.ByWindow}
	err := a.runAll(ctx, fetch(&entities, clickhouse.EntityVisibility, filter),
		fetch(&degraded, clickhouse.DegradedPlatforms, window.RunFilter()))
	if err != nil {
		return nil, err
	}
	degradedByGroup := byGroup(degraded, filter.GroupBy, func(p clickhouse.DegradedPlatform) string { return p.Group })
	var groups []group[summaryFigures]
	for key, rows := range byGroup(entities, filter.GroupBy, func(e clickhouse.Entity) string { return e.Group }) {
		brand, competitors := rows[0], rows[1:]
		figures := summaryFigures{totalsOf(brand), topByMentions(competitors), slugsOf(degradedByGroup[key])}
		groups = append(groups, group[summaryFigures]{key, brand.Answers, figures})
	}
	return groups, nil
}

func totalsOf(v clickhouse.Entity) summaryTotals {
	return summaryTotals{
		ResultCount: v.Answers, AvgVisibility: v.AvgVisibility, TotalMentions: v.Mentions, TotalCitations: v.Citations,
		VisiblePrompts: v.VisiblePrompts, PromptCount: v.PromptCount, VisibilityRatePct: v.VisibilityRatePct,
		AIVisibilityScore: v.Score, MentionAnswers: v.MentionAnswers, CitationAnswers: v.CitationAnswers,
		PositionFactor: v.PositionFactor, Interval: intervalOver(v.Answers, v.IntervalLow, v.IntervalHigh),
		MentionRatePct: v.MentionRatePct, MentionRate: intervalOver(v.Answers, v.MentionRateLow, v.MentionRateHigh),
		NotShown: v.NotShown, ShownRatePct: v.ShownPct, ShownRate: newInterval(v.ShownLow, v.ShownHigh),
		Sentiment: tones{v.PositivePct, v.NeutralPct, v.NegativePct, v.Labelled},
	}
}

// topByMentions returns the competitors with the most mentions. They come by name, which decides between equal ones.
func topByMentions(competitors []clickhouse.Entity) []topCompetitor {
	slices.SortStableFunc(competitors, func(a, b clickhouse.Entity) int { return cmp.Compare(b.Mentions, a.Mentions) })
	top := []topCompetitor{}
	for _, c := range competitors[:min(len(competitors), topCompetitors)] {
		if c.Mentions > 0 {
			top = append(top, topCompetitor{c.Name, c.Mentions, c.AvgVisibility, c.Score})
		}
	}
	return top
}

func slugsOf(rows []clickhouse.DegradedPlatform) []string {
	slugs := make([]string, len(rows))
	for i, r := range rows {
		slugs[i] = r.Platform
	}
	return slugs
}
