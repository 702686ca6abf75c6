package clickhouse

import (
	"time"

	"github.com/shopspring/decimal"
)

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

// TrafficBucketFilter is a TrafficFilter whose visits or crawls are summed by bucket.
type TrafficBucketFilter struct {
	TrafficFilter
	Granularity Granularity `ch:"granularity"`
}

// VisitBuckets returns a row for each bucket and platform with visits or goals, by bucket, then by platform in
// code-point order.
var VisitBuckets = rollup[TrafficBucketFilter, VisitBucket]("visit_buckets")

// VisitBucket sums the visits that a platform sent in a bucket.
type VisitBucket struct {
	Bucket     time.Time         `ch:"bucket"`
	Platform   string            `ch:"platform"`
	Visits     int64             `ch:"visits"`
	Sessions   int64             `ch:"sessions"`
	Goals      int64             `ch:"goals"`
	Currencies []string          `ch:"currencies"` // ISO 4217; "": none
	Amounts    []decimal.Decimal `ch:"amounts"`    // exact sum of the goals' values in each currency, not 0
}

// VisitTotals returns a row for each bucket of the window, ascending.
var VisitTotals = rollup[TrafficBucketFilter, VisitTotal]("visit_totals")

// VisitTotal sums the visits that all platforms sent in a bucket.
type VisitTotal struct {
	Bucket     time.Time         `ch:"bucket"`
	Visits     int64             `ch:"visits"`
	Sessions   int64             `ch:"sessions"`
	Goals      int64             `ch:"goals"`
	Currencies []string          `ch:"currencies"` // as of VisitBucket
	Amounts    []decimal.Decimal `ch:"amounts"`
}

// TrafficChangeFilter is a TrafficFilter with the first of the days before it.
type TrafficChangeFilter struct {
	TrafficFilter
	BeforeFrom Day `ch:"before_from"`
}

// VisitChange returns one row.
var VisitChange = rollup[TrafficChangeFilter, TrafficChange]("visit_change")

// TrafficChange has the counts of the days before a window, and the window's minus them.
type TrafficChange struct {
	VisitsBefore       int64 `ch:"visits_before"`
	SessionsBefore     int64 `ch:"sessions_before"`
	GoalsBefore        int64 `ch:"goals_before"`
	VisitsDifference   int64 `ch:"visits_difference"`
	SessionsDifference int64 `ch:"sessions_difference"`
	GoalsDifference    int64 `ch:"goals_difference"`
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

// CrawlBuckets returns a row for each bucket and purpose with requests, by bucket, then by purpose.
var CrawlBuckets = rollup[TrafficBucketFilter, CrawlBucket]("crawl_buckets")

// CrawlBucket counts the requests for a purpose in a bucket.
type CrawlBucket struct {
	Bucket     time.Time `ch:"bucket"`
	Purpose    string    `ch:"purpose"`
	Requests   int64     `ch:"requests"`
	Verified   int64     `ch:"verified"`   // from addresses that the operator publishes
	Unverified int64     `ch:"unverified"` // from others
	Unchecked  int64     `ch:"unchecked"`
	Errors     int64     `ch:"errors"` // with a status of 400 or above
}

// PageFilter is a ListFilter for sorted pages. Its words are listed in ai_pages.sql; the zero values select all and
// sort by visits.
type PageFilter struct {
	ListFilter
	Step   string `ch:"step"`
	SortBy string `ch:"sort_by"`
}

// AIPages returns the pages of the brand's site that are crawled, cited or visited, sorted by SortBy, visits, citations
// and crawls, then by name in code-point order.
var AIPages = rollup[PageFilter, Page]("ai_pages")

// Page is a page of the brand's site, for any scheme and query.
type Page struct {
	Page      string `ch:"page"` // host and path
	Crawls    int64  `ch:"crawls"`
	Citations int64  `ch:"citations"`
	Visits    int64  `ch:"visits"`
	Sessions  int64  `ch:"sessions"` // that began on it
	Goals     int64  `ch:"goals"`    // reached on it
	Total     uint64 `ch:"total"`    // pages that Step selects, on every row
	PageSteps        // on every row
}

// PageSteps counts the pages of all steps that reach each.
type PageSteps struct {
	Crawled           uint64 `ch:"crawled"`
	Cited             uint64 `ch:"cited"`
	Visited           uint64 `ch:"visited"`
	Converted         uint64 `ch:"converted"` // a goal was reached on the page
	CrawledNeverCited uint64 `ch:"crawled_never_cited"`
	CitedNeverVisited uint64 `ch:"cited_never_visited"`
}
