package clickhouse

import "time"

// Filter selects the answers of a brand in inclusive UTC days. An empty list filters nothing. Platforms, models and
// regions match in any letter case.
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

// GroupBy is the column by which answers are grouped.
type GroupBy string

// The groupings. Without groups all answers are one group with key "".
const (
	NoGroups   GroupBy = ""
	ByPlatform GroupBy = "platform"
	ByModel    GroupBy = "model" // the requested one
	ByRegion   GroupBy = "region"
	ByTopic    GroupBy = "topic" // the key is the topic's id
)

// GroupFilter is a Filter, also by prompt, whose answers are summed by group. Groups without answers are left out.
type GroupFilter struct {
	Filter
	GroupBy GroupBy `ch:"group_by"`
	Prompts []UUID  `ch:"prompts"` // one or, if empty, all
}

// BrandFilter selects a brand.
type BrandFilter struct {
	OrganizationID UUID `ch:"organization_id"`
	BrandID        UUID `ch:"brand_id"`
}

// Granularity is the width of a bucket.
type Granularity string

// The granularities.
const (
	ByDay    Granularity = "day"
	ByWeek   Granularity = "week"   // ISO weeks, dated by their Monday
	ByMonth  Granularity = "month"  // dated by their first day
	ByWindow Granularity = "window" // one bucket, dated by the window's first day
)

// BucketFilter is a GroupFilter whose answers are summed by bucket.
type BucketFilter struct {
	GroupFilter
	Granularity Granularity `ch:"granularity"`
}

// RunFilter returns the filter of the runs of all prompts, by which platforms are judged.
func (f BucketFilter) RunFilter() RunFilter { return RunFilter{f.Filter, f.GroupBy, f.Granularity} }

// RunFilter is a Filter whose runs are summed by group and bucket.
type RunFilter struct {
	Filter
	GroupBy     GroupBy     `ch:"group_by"`
	Granularity Granularity `ch:"granularity"`
}

// TrendFilter is a Filter, also by prompt, whose answers are summed by bucket.
type TrendFilter struct {
	Filter
	Prompts     []UUID      `ch:"prompts"` // one or, if empty, all
	Granularity Granularity `ch:"granularity"`
}

// ListFilter is a Filter for a list of at most Limit rows.
type ListFilter struct {
	Filter
	Limit uint32 `ch:"limit"`
}

// ShareOfVoice returns, for each group and bucket, a row for all platforms, then a row for each platform and model.
var ShareOfVoice = rollup[BucketFilter, Voice]("share_of_voice")

// DegradedPlatforms returns, for each group and bucket, the platforms that gave up over a fifth of the runs.
var DegradedPlatforms = rollup[RunFilter, DegradedPlatform]("degraded_platforms")

// ModelChanges returns, for each group, the buckets in which served models or providers changed.
var ModelChanges = rollup[RunFilter, ModelChange]("model_changes")

// FilterValues returns the values for filters of runs, sorted by kind, name and value in code-point order.
var FilterValues = rollup[Filter, FilterValue]("filter_values")

// SimulatedAnswers returns a row for each value, false before true.
var SimulatedAnswers = query[Filter, Simulated]("simulated_answers")

// RowNames returns the names of a brand's prompts, live topics and live competitors, sorted by kind, name and id.
var RowNames = rollup[BrandFilter, FilterValue]("row_names")

// Visibility has the figures of the brand or a competitor over a set of answers. Percentages, scores and averages are
// rounded to one decimal, the factor to four; a quotient is nil if its divisor is 0. Intervals are nil under 5 prompts.
type Visibility struct {
	Answers           int64    `ch:"answers"`
	NotShown          int64    `ch:"not_shown"` // runs whose surface had no answer
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

// Voice counts mentions of the brand and its live competitors on a platform by a requested model, or on all platforms.
type Voice struct {
	Group              string    `ch:"group_key"`
	Bucket             time.Time `ch:"bucket"`
	AllPlatforms       bool      `ch:"all_platforms"` // then Platform and Model are empty
	Platform           string    `ch:"platform"`
	Model              string    `ch:"model"`
	Answers            int64     `ch:"answers"`
	BrandMentions      int64     `ch:"brand_mentions"`
	CompetitorMentions int64     `ch:"competitor_mentions"`
	Pct                *float64  `ch:"sov_pct"` // one decimal; nil without mentions
}

// DegradedPlatform is a platform with an outage in a bucket.
type DegradedPlatform struct {
	Group    string    `ch:"group_key"`
	Bucket   time.Time `ch:"bucket"`
	Platform string    `ch:"platform"`
	Runs     int64     `ch:"runs"`
	GivenUp  int64     `ch:"given_up"`
}

// ModelChange is a bucket in which a platform served other models for a requested model, or other providers captured
// it, than in the bucket before.
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
	Kind  string  `ch:"kind"`  // a GroupBy; of RowNames prompt, topic or competitor
	Value string  `ch:"value"` // slug, region or id; never ""
	Name  *string `ch:"name"`  // of a topic its present name, nil if deleted; else the value
}

// Simulated is true if the simulator made some of the filtered runs.
type Simulated struct {
	Simulated bool `ch:"simulated"`
}

// SourceFilter selects citations by the owner of the cited page.
type SourceFilter string

// The source filters.
const (
	AllSources        SourceFilter = "all"
	OwnedSources      SourceFilter = "owned"
	CompetitorSources SourceFilter = "competitor"
	ExternalSources   SourceFilter = "external" // neither owned nor a competitor's
)

// SourceTypes are the types of citations; the first that applies counts.
var SourceTypes = []string{"owned", "competitor", "forum", "social", "review", "institutional", "editorial"}

// CitationFilter is a Filter of citations.
type CitationFilter struct {
	Filter
	Prompts   []UUID       `ch:"prompts"`
	Mentioned []bool       `ch:"mentioned"` // whether the answers mention the brand
	Source    SourceFilter `ch:"source_filter"`
	Consulted bool         `ch:"consulted"` // pages that answers consulted without citing them, in place of citations
}

// CitationListFilter is a CitationFilter whose lists have at most Limit rows.
type CitationListFilter struct {
	CitationFilter
	Limit uint32 `ch:"limit"`
}

// CitationSourceFilter is a CitationListFilter of what citation_daily has.
type CitationSourceFilter struct {
	Filter
	Mentioned []bool       `ch:"mentioned"`
	Source    SourceFilter `ch:"source_filter"`
	Limit     uint32       `ch:"limit"`
}

// CitationBucketFilter is a CitationFilter whose citations are summed by bucket.
type CitationBucketFilter struct {
	CitationFilter
	Granularity Granularity `ch:"granularity"`
}

// CitationBuckets returns the citations by bucket and source type, without zeros.
var CitationBuckets = rollup[CitationBucketFilter, CitationBucket]("citation_buckets")

// CitationBucket counts the citations of one source type in a bucket.
type CitationBucket struct {
	Bucket        time.Time `ch:"bucket"`
	SourceType    string    `ch:"source_type"`
	Citations     int64     `ch:"citations"`
	CitationsPct  *float64  `ch:"citations_pct"`  // of the bucket's
	CitingAnswers *int64    `ch:"citing_answers"` // nil where not all of them are kept
}
