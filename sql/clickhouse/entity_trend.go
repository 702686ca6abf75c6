package clickhouse

import (
	"slices"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse/formula"
)

// EntityTrend returns a row for each bucket with answers, ascending, of the brand, then of each live competitor by name
// in code-point order.
var EntityTrend = EntityFigures[TrendFilter, entityBucketSums, EntityBucket]{
	sumsOf[TrendFilter, entityBucketSums]("entity_trend"), entityBucketRows,
}

// EntityBucket is the brand or a live competitor over the answers of one bucket. The brand's rows have no name.
type EntityBucket struct {
	Bucket          time.Time `ch:"bucket"`
	ID              UUID      `ch:"entity_id"`
	IsBrand         bool      `ch:"is_brand"`
	Name            string    `ch:"name"`
	Answers         int64     `ch:"answers"`
	MentionAnswers  int64     `ch:"mention_answers"`
	Mentions        int64     `ch:"mentions"`
	Citations       int64     `ch:"citations"` // to the entity's own domains
	Score           *float64  `ch:"ai_visibility_score"`
	IntervalLow     *float64  `ch:"interval_low"` // nil under 5 prompts, like all ends of intervals
	IntervalHigh    *float64  `ch:"interval_high"`
	MentionRatePct  *float64  `ch:"mention_rate_pct"`
	MentionRateLow  *float64  `ch:"mention_rate_low"`
	MentionRateHigh *float64  `ch:"mention_rate_high"`
	VoicePct        *float64  `ch:"sov_pct"` // of all mentions of the bucket
}

// entityBucketSums has the sums of an entity in a bucket. Only the brand's row has the sums of all answers.
type entityBucketSums struct {
	Bucket      time.Time `ch:"bucket"`
	ID          UUID      `ch:"entity_id"`
	PromptCount uint64    `ch:"prompt_count"`
	Answers     int64     `ch:"answers"`
	NN          int64     `ch:"nn"`
	pointSums
}

// entityBucketRows computes the figures; an entity without a row in a bucket has zeros.
func entityBucketRows(filter TrendFilter, sums []entityBucketSums, entities []entity) (rows []EntityBucket) {
	type cell struct {
		id     UUID
		bucket time.Time
	}
	cells, mentions := map[cell]entityBucketSums{}, map[time.Time]int64{}
	var brand []entityBucketSums
	for _, s := range sums {
		cells[cell{s.ID, s.Bucket}] = s
		if s.ID == filter.BrandID && s.Answers > 0 {
			brand = append(brand, s)
		}
		if slices.ContainsFunc(entities, func(e entity) bool { return e.ID == s.ID }) {
			mentions[s.Bucket] += s.Mentions
		}
	}
	slices.SortFunc(brand, func(a, b entityBucketSums) int { return a.Bucket.Compare(b.Bucket) })
	for _, entity := range entities {
		for _, all := range brand {
			s := cells[cell{entity.ID, all.Bucket}]
			mean := formula.Mean{Prompts: all.PromptCount, Answers: all.Answers, NN: float64(all.NN)}
			figures := s.figures(mean, len(filter.Prompts) > 0)
			rows = append(rows, EntityBucket{
				Bucket: all.Bucket, ID: entity.ID, IsBrand: entity.ID == filter.BrandID, Name: entity.Name,
				Answers: all.Answers, MentionAnswers: s.MentionAnswers, Mentions: s.Mentions, Citations: s.Citations,
				Score: figures.Score, IntervalLow: figures.IntervalLow, IntervalHigh: figures.IntervalHigh,
				MentionRatePct: figures.MentionRatePct, MentionRateLow: figures.MentionRateLow,
				MentionRateHigh: figures.MentionRateHigh,
				VoicePct:        formula.Round(formula.Percent(s.Mentions, mentions[all.Bucket]), 1),
			})
		}
	}
	return rows
}
