package clickhouse

import "time"

// Filter is the brand, the inclusive UTC days and the answers a question is
// about. An empty list lets everything pass.
type Filter struct {
	OrganizationID UUID     `ch:"organization_id"`
	BrandID        UUID     `ch:"brand_id"`
	DateFrom       Day      `ch:"date_from"`
	DateTo         Day      `ch:"date_to"`
	Models         []string `ch:"models"` // requested models
	Regions        []string `ch:"regions"`
	Topics         []UUID   `ch:"topics"`
	Branded        []bool   `ch:"branded"`
}

// Granularity is the width of a bucket.
type Granularity string

// The granularities.
const (
	ByDay    Granularity = "day"
	ByWeek   Granularity = "week"   // ISO weeks, dated by their Monday
	ByWindow Granularity = "window" // one bucket, dated by the window's first day
)

// BucketFilter is a Filter whose answers are told by bucket.
type BucketFilter struct {
	Filter
	Granularity Granularity `ch:"granularity"`
}

// ListFilter is a Filter of a list of at most Limit rows.
type ListFilter struct {
	Filter
	Limit uint32 `ch:"limit"`
}

// BrandVisibility is what every figure about a brand's answers is read from.
var BrandVisibility = query[BucketFilter, Visibility]("brand_visibility")

// VisibilitySummary gives one row, or none when the window has no answers.
var VisibilitySummary = query[Filter, Visibility]("visibility_summary")

// VisibilityTrend gives one row per bucket that has answers, ascending.
var VisibilityTrend = query[BucketFilter, TrendBucket]("visibility_trend")

// TopCompetitors gives the live competitors named in the window, most mentioned
// first, then by name in code-point order.
var TopCompetitors = query[ListFilter, TopCompetitor]("top_competitors")

// CompetitorVisibility gives the sums of each live competitor by bucket.
var CompetitorVisibility = query[BucketFilter, CompetitorSums]("competitor_visibility")

// DegradedPlatforms gives the platforms of which over a fifth of the runs were
// given up.
var DegradedPlatforms = query[Filter, DegradedPlatform]("degraded_platforms")

// ModelChanges gives the buckets in which served models changed.
var ModelChanges = query[BucketFilter, ModelChange]("model_changes")

// Visibility is a brand's figures over the answers of one bucket. Percentages,
// scores and averages are rounded to one decimal, the factor to four; nil is
// where there is nothing to divide by. The interval is nil under 5 prompts.
type Visibility struct {
	Bucket            time.Time `ch:"bucket"`
	Answers           int64     `ch:"answers"`
	MentionAnswers    int64     `ch:"mention_answers"`
	CitationAnswers   int64     `ch:"citation_answers"`
	Mentions          int64     `ch:"mentions"`
	Citations         int64     `ch:"citations"` // to the brand's own domains
	PromptCount       uint64    `ch:"prompt_count"`
	VisiblePrompts    uint64    `ch:"visible_prompts"`
	VisibilityRatePct *float64  `ch:"visibility_rate_pct"`
	AvgVisibility     *float64  `ch:"avg_visibility"`
	PositionFactor    *float64  `ch:"position_factor"`
	Score             *float64  `ch:"ai_visibility_score"`
	IntervalLow       *float64  `ch:"interval_low"`
	IntervalHigh      *float64  `ch:"interval_high"`
}

// TrendBucket is one bucket of the trend. Score and interval are nil for weeks.
type TrendBucket struct {
	Bucket             time.Time `ch:"bucket"`
	Answers            int64     `ch:"answers"`
	PromptCount        uint64    `ch:"prompt_count"`
	Score              *float64  `ch:"ai_visibility_score"`
	IntervalLow        *float64  `ch:"interval_low"`
	IntervalHigh       *float64  `ch:"interval_high"`
	AvgVisibility      *float64  `ch:"avg_visibility"`
	Mentions           int64     `ch:"mentions"`
	Citations          int64     `ch:"citations"`
	AvgCompetitorScore *float64  `ch:"avg_competitor_score"`
	ModelChanged       bool      `ch:"model_changed"`
}

// TopCompetitor is a competitor of the summary; its means are over all answers
// of the window.
type TopCompetitor struct {
	CompetitorID  UUID     `ch:"competitor_id"`
	Name          string   `ch:"name"`
	Mentions      int64    `ch:"mentions"`
	AvgVisibility *float64 `ch:"avg_visibility"`
	Score         *float64 `ch:"score"`
}

// CompetitorSums is what a bucket's answers bring to one competitor.
// InversePosition is in units of 1/5354228880.
type CompetitorSums struct {
	Bucket          time.Time `ch:"bucket"`
	CompetitorID    UUID      `ch:"competitor_id"`
	Name            string    `ch:"name"`
	VisiblePrompts  uint64    `ch:"visible_prompts"`
	MentionAnswers  int64     `ch:"mention_answers"`
	CitationAnswers int64     `ch:"citation_answers"`
	InversePosition int64     `ch:"inverse_position"`
	Mentions        int64     `ch:"mentions"`
	Citations       int64     `ch:"citations"`
	Visibility      int64     `ch:"visibility"`
	VisibilityNamed int64     `ch:"visibility_named"`
}

// DegradedPlatform is a platform with an outage in the window.
type DegradedPlatform struct {
	Platform string `ch:"platform"`
	Runs     int64  `ch:"runs"`
	GivenUp  int64  `ch:"given_up"`
}

// ModelChange is a bucket in which a platform answered a requested model with
// other served models than in the bucket before.
type ModelChange struct {
	Bucket   time.Time `ch:"bucket"`
	Platform string    `ch:"platform"`
	Model    string    `ch:"model"`
	Before   []string  `ch:"before"`
	Now      []string  `ch:"now"`
}
