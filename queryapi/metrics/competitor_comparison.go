package metrics

import (
	"context"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// comparisonBody answers GET /api/v1/competitor-comparison.
type comparisonBody struct {
	comparisonFigures
	Groups []comparisonGroup `json:"groups,omitzero"` // nil without group_by
}

type comparisonGroup struct {
	groupName
	comparisonFigures
}

// comparisonFigures describe the whole window or one group.
type comparisonFigures struct {
	Brand        brandRow        `json:"brand"`
	Competitors  []competitorRow `json:"competitors"` // every live one, by name
	ShareOfVoice shareOfVoice    `json:"share_of_voice"`
}

type brandRow struct {
	ID string `json:"id"`
	comparedRow
}

type competitorRow struct {
	ID string `json:"competitor_id"`
	comparedRow
	Slot *int16   `json:"slot"` // its colour in charts
	Gap  *rateGap `json:"gap"`  // null without answers and of one prompt
}

// rateGap is the brand's mention rate less a competitor's, over the same answers.
type rateGap struct {
	Difference *float64  `json:"difference"` // in points
	Interval   *interval `json:"interval"`   // paired by prompt
	Verdict    string    `json:"verdict"`    // the brand is ahead, behind, level, or there is too_little_data
}

// comparedRow is the brand or a competitor, measured over the same answers.
type comparedRow struct {
	Name               string    `json:"name"`
	ResultCount        int64     `json:"result_count"`
	AvgVisibilityScore *float64  `json:"avg_visibility_score"`
	TotalMentions      int64     `json:"total_mentions"`
	TotalCitations     int64     `json:"total_citations"`
	AppearanceCount    int64     `json:"appearance_count"` // answers that name it
	VisiblePrompts     uint64    `json:"visible_prompts"`
	PromptCount        uint64    `json:"prompt_count"`
	VisibilityRatePct  *float64  `json:"visibility_rate_pct"`
	AIVisibilityScore  *float64  `json:"ai_visibility_score"`
	Interval           *interval `json:"interval"`
	MentionRatePct     *float64  `json:"mention_rate_pct"`
	MentionRate        *interval `json:"mention_rate_interval"`
	AvgPosition        *float64  `json:"avg_position"` // over the answers that name it
	Rank               *uint64   `json:"rank"`         // by mention rate, among all rows
	VoicePct           *float64  `json:"sov_pct"`
}

type shareOfVoice struct {
	OverallPct              *float64        `json:"overall_sov_pct"`
	TotalBrandMentions      int64           `json:"total_brand_mentions"`
	TotalCompetitorMentions int64           `json:"total_competitor_mentions"`
	ByPlatform              []platformVoice `json:"by_platform"`
}

type platformVoice struct {
	Platform           string   `json:"platform"`
	ModelUsed          string   `json:"model_used"`
	BrandMentions      int64    `json:"brand_mentions"`
	CompetitorMentions int64    `json:"competitor_mentions"`
	Pct                *float64 `json:"sov_pct"`
}

func (a *API) competitorComparison(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p, filter := q.common(a.now()), clickhouse.GroupFilter{GroupBy: q.groupBy(), Prompts: q.prompts()}
	if err := q.check(); err != nil {
		return nil, err
	}
	brand, err := a.findBrand(ctx, caller, p.brandID)
	if err != nil {
		return nil, err
	}
	slots, err := a.db.CompetitorSlots(ctx, caller.OrganizationID, p.brandID)
	if err != nil {
		return nil, err
	}
	filter.Filter = p.filter(caller.OrganizationID)
	total, groups, err := totalAndGroups(ctx, a, filter,
		func(ctx context.Context, filter clickhouse.GroupFilter) ([]group[comparisonFigures], error) {
			return a.comparisons(ctx, brand, slots, filter)
		},
		func(name groupName, f comparisonFigures) comparisonGroup { return comparisonGroup{name, f} })
	if err != nil {
		return nil, err
	}
	return comparisonBody{total, groups}, nil
}

// comparisons returns the figures of each group.
func (a *API) comparisons(
	ctx context.Context, brand postgres.Brand, slots map[uuid.UUID]*int16, filter clickhouse.GroupFilter,
) ([]group[comparisonFigures], error) {
	var entities []clickhouse.Entity
	var voices []clickhouse.Voice
	window := clickhouse.BucketFilter{GroupFilter: filter, Granularity: clickhouse.ByWindow}
	err := a.runAll(ctx,
		fetch(&entities, clickhouse.EntityVisibility, filter), fetch(&voices, clickhouse.ShareOfVoice, window))
	if err != nil {
		return nil, err
	}
	voicesByGroup := byGroup(voices, filter.GroupBy, func(v clickhouse.Voice) string { return v.Group })
	var groups []group[comparisonFigures]
	for key, rows := range byGroup(entities, filter.GroupBy, func(e clickhouse.Entity) string { return e.Group }) {
		figures := comparisonFigures{
			Brand:        brandRow{brand.ID.String(), newComparedRow(brand.Name, rows[0], filter.Prompts)},
			Competitors:  make([]competitorRow, len(rows)-1),
			ShareOfVoice: newShareOfVoice(voicesByGroup[key]),
		}
		for i, c := range rows[1:] {
			figures.Competitors[i] = competitorRow{
				c.ID.String(), newComparedRow(c.Name, c, filter.Prompts), slots[uuid.UUID(c.ID)],
				newRateGap(c.Answers, c.RateGap),
			}
		}
		groups = append(groups, group[comparisonFigures]{key, rows[0].Answers, figures})
	}
	return groups, nil
}

func newComparedRow(name string, v clickhouse.Entity, prompts []clickhouse.UUID) comparedRow {
	return comparedRow{
		Name: name, ResultCount: v.Answers, AvgVisibilityScore: v.AvgVisibility, TotalMentions: v.Mentions,
		TotalCitations: v.Citations, AppearanceCount: v.MentionAnswers,
		VisiblePrompts: v.VisiblePrompts, PromptCount: v.PromptCount,
		VisibilityRatePct: v.VisibilityRatePct, AIVisibilityScore: v.Score,
		Interval:       intervalOf(prompts, v.Answers, v.IntervalLow, v.IntervalHigh),
		MentionRatePct: v.MentionRatePct,
		MentionRate:    intervalOf(prompts, v.Answers, v.MentionRateLow, v.MentionRateHigh),
		AvgPosition:    v.AvgPosition, Rank: v.Rank, VoicePct: v.VoicePct,
	}
}

func newRateGap(answers int64, g clickhouse.RateGap) *rateGap {
	if g.Gap == nil {
		return nil
	}
	return &rateGap{g.Gap, intervalOver(answers, g.GapLow, g.GapHigh), g.GapVerdict}
}

// newShareOfVoice takes the row of all platforms, then one for each platform and model; without answers there is none.
func newShareOfVoice(rows []clickhouse.Voice) shareOfVoice {
	s := shareOfVoice{ByPlatform: []platformVoice{}}
	for _, r := range rows {
		if r.AllPlatforms {
			s.OverallPct, s.TotalBrandMentions, s.TotalCompetitorMentions = r.Pct, r.BrandMentions, r.CompetitorMentions
			continue
		}
		s.ByPlatform = append(s.ByPlatform, platformVoice{
			r.Platform, r.Model, r.BrandMentions, r.CompetitorMentions, r.Pct,
		})
	}
	return s
}
