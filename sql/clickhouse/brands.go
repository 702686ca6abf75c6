package clickhouse

import "time"

// BrandsFilter is a Filter of several brands.
type BrandsFilter struct {
	OrganizationID UUID     `ch:"organization_id"`
	Brands         []UUID   `ch:"brands"`
	DateFrom       Day      `ch:"date_from"`
	DateTo         Day      `ch:"date_to"`
	Platforms      []string `ch:"platforms"`
	Models         []string `ch:"models"` // requested models
	Regions        []string `ch:"regions"`
	Topics         []UUID   `ch:"topics"`
	Branded        []bool   `ch:"branded"`
}

// ForBrands returns the filter for some brands in place of its own.
func (f Filter) ForBrands(brands ...UUID) BrandsFilter {
	return BrandsFilter{
		f.OrganizationID, brands, f.DateFrom, f.DateTo, f.Platforms, f.Models, f.Regions, f.Topics, f.Branded,
	}
}

// BrandsVisitFilter selects visits of brands in a window, and before it from BeforeFrom on.
type BrandsVisitFilter struct {
	OrganizationID UUID     `ch:"organization_id"`
	Brands         []UUID   `ch:"brands"`
	BeforeFrom     Day      `ch:"before_from"`
	DateFrom       Day      `ch:"date_from"`
	DateTo         Day      `ch:"date_to"`
	Platforms      []string `ch:"platforms"`
}

// Brands selects rows of brands from day DateFrom on.
type Brands struct {
	OrganizationID UUID   `ch:"organization_id"`
	Brands         []UUID `ch:"brands"`
	DateFrom       Day    `ch:"date_from"`
}

// The questions of a list of brands. Brands without data have no rows.
var (
	BrandsStanding = rollup[BrandsFilter, BrandStanding]("brands_standing")
	BrandsTrend    = rollup[BrandsFilter, BrandDay]("brands_trend") // ascending days of each brand
	BrandsVisits   = rollup[BrandsVisitFilter, BrandVisits]("brands_visits")
	LastAnswers    = rollup[Brands, LastAnswer]("last_answers")
)

// BrandStanding is the mention rate of a brand beside the competitor that its answers name most often. Intervals are
// nil under 5 prompts.
type BrandStanding struct {
	BrandID        UUID     `ch:"brand_id"`
	Answers        int64    `ch:"answers"`
	MentionAnswers int64    `ch:"mention_answers"`
	Rate           *float64 `ch:"mention_rate_pct"`
	RateLow        *float64 `ch:"mention_rate_low"`
	RateHigh       *float64 `ch:"mention_rate_high"`
	LeaderID       UUID     `ch:"leader_id"` // nil: no competitor is named, then the rest is meaningless
	LeaderName     string   `ch:"leader_name"`
	LeaderRate     *float64 `ch:"leader_rate_pct"`
	RateGap                 // to the leader
}

// BrandDay is the mention rate of a brand on a day.
type BrandDay struct {
	BrandID  UUID      `ch:"brand_id"`
	Day      time.Time `ch:"day"`
	Answers  int64     `ch:"answers"`
	Rate     *float64  `ch:"mention_rate_pct"`
	RateLow  *float64  `ch:"mention_rate_low"`
	RateHigh *float64  `ch:"mention_rate_high"`
}

// BrandVisits counts the views of a brand's site.
type BrandVisits struct {
	BrandID UUID  `ch:"brand_id"`
	Visits  int64 `ch:"visits"`
	Before  int64 `ch:"visits_before"`
}

// LastAnswer is when a brand was last answered, to the day where raw answers have expired.
type LastAnswer struct {
	BrandID    UUID      `ch:"brand_id"`
	AnsweredAt time.Time `ch:"answered_at"`
}

// NewSourceFilter selects the domains that a brand's answers cite in a window, and not before it from BeforeFrom on.
type NewSourceFilter struct {
	OrganizationID UUID   `ch:"organization_id"`
	BrandID        UUID   `ch:"brand_id"`
	BeforeFrom     Day    `ch:"before_from"`
	DateFrom       Day    `ch:"date_from"`
	DateTo         Day    `ch:"date_to"`
	Limit          uint32 `ch:"limit"`
}

// NewSources returns domains by citing answers descending, then by name.
var NewSources = query[NewSourceFilter, NewSource]("new_sources")

// NewSource is a domain that was not cited before.
type NewSource struct {
	Domain        string `ch:"domain"`
	CitingAnswers int64  `ch:"citing_answers"`
}
