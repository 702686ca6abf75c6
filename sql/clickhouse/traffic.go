package clickhouse

import "github.com/shopspring/decimal"

// TrafficFilter selects visits or crawls: the brand, the inclusive UTC days, and the platforms in any letter case. They
// have no model, region or topic.
type TrafficFilter struct {
	OrganizationID UUID     `ch:"organization_id"`
	BrandID        UUID     `ch:"brand_id"`
	DateFrom       Day      `ch:"date_from"`
	DateTo         Day      `ch:"date_to"`
	Platforms      []string `ch:"platforms"`
}

// AITraffic returns the views, sessions and goals of the window by facet. Rows of a facet are sorted by visits, landing
// pages by sessions, then by name and currency in code-point order. There are no rows without visits.
var AITraffic = rollup[TrafficFilter, Traffic]("ai_traffic")

// The facets of AITraffic: what a row sums.
const (
	FacetTotal    = "total"
	FacetPlatform = "platform"
	FacetPage     = "page" // a path: the ten with the most visits
	FacetCountry  = "country"
	FacetLanding  = "landing" // a path: the ten on which most sessions began
	FacetGoal     = "goal"    // by currency: the hundred reached most often
)

// Traffic sums the visits of a facet's value.
type Traffic struct {
	Facet    string          `ch:"facet"`
	Name     string          `ch:"name"`     // "": all, or an unknown country
	Currency string          `ch:"currency"` // of a goal's value, ISO 4217; "": none
	Visits   int64           `ch:"visits"`   // views, or how often a goal was reached
	Sessions int64           `ch:"sessions"` // views that began one
	Value    decimal.Decimal `ch:"value"`    // exact sum of a goal's values, else 0
	OfFacet  uint64          `ch:"of_facet"` // rows of the facet without its limit
}

// AICrawlers returns the crawls of the window by facet. Rows of a facet are sorted by requests, then by name in
// code-point order. There are no rows without crawls.
var AICrawlers = rollup[TrafficFilter, CrawlCount]("ai_crawlers")

// The facets of AICrawlers besides FacetTotal and FacetPage.
const (
	FacetCrawler = "crawler"
	FacetPurpose = "purpose"
	FacetStatus  = "status"
)

// CrawlCount counts the requests of a facet's value.
type CrawlCount struct {
	Facet      string `ch:"facet"`
	Name       string `ch:"name"`     // "": all
	Operator   string `ch:"operator"` // of a crawler, like Platform and Purpose
	Platform   string `ch:"platform"`
	Purpose    string `ch:"purpose"`
	Requests   int64  `ch:"requests"`
	Verified   int64  `ch:"verified"`   // from addresses that the operator publishes
	Unverified int64  `ch:"unverified"` // from others
	Bytes      int64  `ch:"bytes"`
}

// AIPages returns the pages of the brand's site that are crawled, cited or visited, sorted by visits, citations and
// crawls, then by name in code-point order.
var AIPages = rollup[ListFilter, Page]("ai_pages")

// Page is a page of the brand's site, for any scheme and query.
type Page struct {
	Page      string `ch:"page"` // host and path
	Crawls    int64  `ch:"crawls"`
	Citations int64  `ch:"citations"`
	Visits    int64  `ch:"visits"`
	Sessions  int64  `ch:"sessions"` // that began on it
	Goals     int64  `ch:"goals"`    // reached on it
	Total     uint64 `ch:"total"`    // pages, on every row
}
