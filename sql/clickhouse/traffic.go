package clickhouse

import "github.com/shopspring/decimal"

// TrafficFilter is the brand and the inclusive UTC days that a question about
// visits is about, and the platforms, in whatever case. A visit knows no model, region or topic.
type TrafficFilter struct {
	OrganizationID UUID     `ch:"organization_id"`
	BrandID        UUID     `ch:"brand_id"`
	DateFrom       Day      `ch:"date_from"`
	DateTo         Day      `ch:"date_to"`
	Platforms      []string `ch:"platforms"`
}

// AITraffic gives the views, sessions and goals of the window by facet; within one the most visited or most reached
// first, of landing pages those with the most sessions; then by name and currency in code-point order. Without any it
// gives nothing.
var AITraffic = rollup[TrafficFilter, Traffic]("ai_traffic")

// The facets of AITraffic: what a row is about.
const (
	FacetTotal    = "total"
	FacetPlatform = "platform"
	FacetPage     = "page" // a path, one of the ten most visited
	FacetCountry  = "country"
	FacetLanding  = "landing" // a path, one of the ten that most sessions began on
	FacetGoal     = "goal"    // one of the hundred reached most, by currency
)

// Traffic is what one platform, path, country or landing page brought, one goal in one currency, or all did.
type Traffic struct {
	Facet    string          `ch:"facet"`
	Name     string          `ch:"name"`     // "" is all, or an unknown country
	Currency string          `ch:"currency"` // of a goal's value, ISO 4217, "" where none was sent
	Visits   int64           `ch:"visits"`   // views, or how often a goal was reached
	Sessions int64           `ch:"sessions"` // views that began one
	Value    decimal.Decimal `ch:"value"`    // exact sum of a goal's values, 0 of all else
	OfFacet  uint64          `ch:"of_facet"` // how many rows the facet has, with those after the top ones
}

// AIPages gives the pages of the brand's site that are crawled, cited or visited: the most visited first, then the most
// cited and the most crawled, then by name in code-point order.
var AIPages = rollup[ListFilter, Page]("ai_pages")

// Page is a page of the brand's site, whatever its scheme and query.
type Page struct {
	Page      string `ch:"page"` // host and path
	Crawls    int64  `ch:"crawls"`
	Citations int64  `ch:"citations"`
	Visits    int64  `ch:"visits"`
	Sessions  int64  `ch:"sessions"` // that began on it
	Goals     int64  `ch:"goals"`    // reached on it
	Total     uint64 `ch:"total"`    // pages, on every row
}
