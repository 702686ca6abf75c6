package clickhouse

import "time"

// Filter is the brand, the inclusive UTC days and the answers a question is about. An empty list lets everything pass.
// Platforms, models and regions are codes: their case does not matter.
type Filter struct {
	OrganizationID UUID     `ch:"organization_id"`
	BrandID        UUID     `ch:"brand_id"`
	DateFrom       Day      `ch:"date_from"`
	DateTo         Day      `ch:"date_to"`
	Platforms      []string `ch:"platforms"`
	Models         []string `ch:"models"` // requested models
	Regions        []string `ch:"regions"`
	Topics         []UUID   `ch:"topics"`
	Branded        []bool   `ch:"branded"`
}

// GroupBy is what answers are grouped by.
type GroupBy string

// What answers are grouped by. All answers without groups are one group whose key is "".
const (
	NoGroups   GroupBy = ""
	ByPlatform GroupBy = "platform"
	ByModel    GroupBy = "model" // the requested one
	ByRegion   GroupBy = "region"
	ByTopic    GroupBy = "topic" // whose key is its id
)

// GroupFilter is a Filter whose answers are summed by group. Of groups only those with answers are given.
type GroupFilter struct {
	Filter
	GroupBy GroupBy `ch:"group_by"`
}

// Granularity is the width of a bucket.
type Granularity string

// The granularities.
const (
	ByDay    Granularity = "day"
	ByWeek   Granularity = "week"   // ISO weeks, dated by their Monday
	ByWindow Granularity = "window" // one bucket, dated by the window's first day
)

// BucketFilter is a GroupFilter whose answers are summed by bucket.
type BucketFilter struct {
	GroupFilter
	Granularity Granularity `ch:"granularity"`
}

// ListFilter is a Filter of a list of at most Limit rows.
type ListFilter struct {
	Filter
	Limit uint32 `ch:"limit"`
}

// PromptFilter is a ListFilter of prompts in an order, after one of them.
type PromptFilter struct {
	ListFilter
	PromptCursor
	SortBy string `ch:"sort_by"` // visibility, mentions, citations, appearances
	Order  string `ch:"order"`   // desc, asc
}

// PromptCursor is the position of a prompt in a list; the zero value is before all.
type PromptCursor struct {
	SortedBy float64 `ch:"after"`
	ID       string  `ch:"after_prompt"` // lower-case text
}

// EntityVisibility gives, group by group, the brand's row, then one of each live competitor by name in code-point
// order.
var EntityVisibility = rollup[GroupFilter, Entity]("entity_visibility")

// BrandVisibility gives, group by group, one row per bucket that has answers, ascending.
var BrandVisibility = rollup[BucketFilter, Bucket]("brand_visibility")

// ShareOfVoice gives, group by group, one row per bucket, platform and model, and before those of a bucket the one that
// sums it up.
var ShareOfVoice = rollup[BucketFilter, Voice]("share_of_voice")

// PromptPerformance gives the prompts that have answers in the window.
var PromptPerformance = rollup[PromptFilter, Prompt]("prompt_performance")

// DegradedPlatforms gives, group by group and bucket by bucket, the platforms of which over a fifth of the runs were
// given up.
var DegradedPlatforms = rollup[BucketFilter, DegradedPlatform]("degraded_platforms")

// ModelChanges gives, group by group, the buckets in which served models changed.
var ModelChanges = rollup[BucketFilter, ModelChange]("model_changes")

// FilterValues gives what runs can be filtered by: values by kind, then by name, then by value, in code-point order.
var FilterValues = rollup[Filter, FilterValue]("filter_values")

// Visibility is what a set of answers says of the brand or of a competitor. Percentages, scores and averages are
// rounded to one decimal, the factor to four; nil is where there is nothing to divide by. Intervals are nil under 5
// prompts.
type Visibility struct {
	Answers           int64    `ch:"answers"`
	MentionAnswers    int64    `ch:"mention_answers"`
	CitationAnswers   int64    `ch:"citation_answers"`
	Mentions          int64    `ch:"mentions"`
	Citations         int64    `ch:"citations"` // to the entity's own domains
	PromptCount       uint64   `ch:"prompt_count"`
	VisiblePrompts    uint64   `ch:"visible_prompts"`
	VisibilityRatePct *float64 `ch:"visibility_rate_pct"`
	AvgVisibility     *float64 `ch:"avg_visibility"`
	PositionFactor    *float64 `ch:"position_factor"`
	Score             *float64 `ch:"ai_visibility_score"`
	IntervalLow       *float64 `ch:"interval_low"`
	IntervalHigh      *float64 `ch:"interval_high"`
	MentionRatePct    *float64 `ch:"mention_rate_pct"`
	MentionRateLow    *float64 `ch:"mention_rate_low"`
	MentionRateHigh   *float64 `ch:"mention_rate_high"`
}

// Entity is the brand or a live competitor over the window. All are measured
// over the same answers. The brand's row has no name.
type Entity struct {
	Group   string `ch:"group_key"`
	ID      UUID   `ch:"entity_id"`
	IsBrand bool   `ch:"is_brand"`
	Name    string `ch:"name"`
	Visibility
	AvgPosition *float64 `ch:"avg_position"` // over the answers that mention it
}

// Bucket is the brand over the answers of one bucket.
type Bucket struct {
	Group              string    `ch:"group_key"`
	Bucket             time.Time `ch:"bucket"`
	GivenUp            int64     `ch:"given_up"`             // runs
	AvgCompetitorScore *float64  `ch:"avg_competitor_score"` // over pairs of an answer and a live competitor named in it
	Visibility
}

// Voice is how often the brand and its live competitors are mentioned on a
// platform by a requested model, or on all of them.
type Voice struct {
	Group              string    `ch:"group_key"`
	Bucket             time.Time `ch:"bucket"`
	AllPlatforms       bool      `ch:"all_platforms"` // then Platform and Model are empty
	Platform           string    `ch:"platform"`
	Model              string    `ch:"model"`
	Answers            int64     `ch:"answers"`
	BrandMentions      int64     `ch:"brand_mentions"`
	CompetitorMentions int64     `ch:"competitor_mentions"`
	Pct                *float64  `ch:"sov_pct"` // one decimal, nil without mentions
}

// Prompt is the brand over the answers to one prompt. SortedBy is the figure that the list is in the order of.
type Prompt struct {
	ID                 UUID     `ch:"prompt_id"`
	Text               string   `ch:"prompt_text"`
	TopicName          *string  `ch:"topic_name"` // the topic that the prompt has now
	Answers            int64    `ch:"answers"`
	MentionAnswers     int64    `ch:"mention_answers"`
	Mentions           int64    `ch:"mentions"`
	Citations          int64    `ch:"citations"`
	AvgVisibility      *float64 `ch:"avg_visibility"`
	AvgCompetitorScore *float64 `ch:"avg_competitor_score"`
	Score              *float64 `ch:"ai_visibility_score"`
	IntervalLow        *float64 `ch:"interval_low"` // nil under 5 answers, as all ends of intervals
	IntervalHigh       *float64 `ch:"interval_high"`
	MentionRatePct     *float64 `ch:"mention_rate_pct"`
	MentionRateLow     *float64 `ch:"mention_rate_low"`
	MentionRateHigh    *float64 `ch:"mention_rate_high"`
	SortedBy           *float64 `ch:"sorted_by"`
}

// DegradedPlatform is a platform with an outage in a bucket.
type DegradedPlatform struct {
	Group    string    `ch:"group_key"`
	Bucket   time.Time `ch:"bucket"`
	Platform string    `ch:"platform"`
	Runs     int64     `ch:"runs"`
	GivenUp  int64     `ch:"given_up"`
}

// ModelChange is a bucket in which a platform answered a requested model with
// other served models than in the bucket before.
type ModelChange struct {
	Group    string    `ch:"group_key"`
	Bucket   time.Time `ch:"bucket"`
	Platform string    `ch:"platform"`
	Model    string    `ch:"model"`
	Before   []string  `ch:"before"`
	Now      []string  `ch:"now"`
}

// FilterValue is a platform, model, region or topic of the runs.
type FilterValue struct {
	Kind  string  `ch:"kind"`  // a GroupBy
	Value string  `ch:"value"` // slug, region or id, never ""
	Name  *string `ch:"name"`  // of a topic as it is called now, nil where it was deleted; of all else the value
}
