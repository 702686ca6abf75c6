package clickhouse

import "time"

// CrawlRow is one row of the landing table crawls: a request of an AI crawler.
type CrawlRow struct {
	OrganizationID UUID      `ch:"organization_id"`
	BrandID        UUID      `ch:"brand_id"`
	Day            time.Time `ch:"day"` // of At, which is that of ID
	ID             UUID      `ch:"id"`
	LogTopic       string    `ch:"log_topic"`
	LogPartition   int32     `ch:"log_partition"`
	LogOffset      int64     `ch:"log_offset"`

	At        time.Time `ch:"at"`
	Crawler   string    `ch:"crawler"`
	Operator  string    `ch:"operator"`
	Platform  string    `ch:"platform"`
	Purpose   string    `ch:"purpose"`
	Host      string    `ch:"host"`
	Path      string    `ch:"path"`
	Status    uint16    `ch:"status"`
	Bytes     int64     `ch:"bytes"`
	Verified  *bool     `ch:"verified"` // nil: not checked
	Simulated bool      `ch:"simulated"`
}

// Crawls is the landing table of topic crawls.
var Crawls = landing(table[CrawlRow]("crawls"), factKey)

// Key is the row's.
func (r CrawlRow) Key() Key { return Key{r.OrganizationID, r.BrandID, r.ID} }

// Month is the row's, by whose parts it lands.
func (r CrawlRow) Month() Month { return MonthOf(r.Day) }

// Offset is that of the record.
func (r CrawlRow) Offset() int64 { return r.LogOffset }

// AICrawlers gives the crawls of the window by facet; within one the most requests
// first, then by name in code-point order. Without crawls it gives nothing.
var AICrawlers = rollup[TrafficFilter, CrawlCount]("ai_crawlers")

// The facets of AICrawlers beside FacetTotal and FacetPage.
const (
	FacetCrawler = "crawler"
	FacetPurpose = "purpose"
	FacetStatus  = "status"
)

// CrawlCount is how many requests one crawler, purpose, status or path has, or all have.
type CrawlCount struct {
	Facet      string `ch:"facet"`
	Name       string `ch:"name"`     // "" is all
	Operator   string `ch:"operator"` // of a crawler, as Platform and Purpose
	Platform   string `ch:"platform"`
	Purpose    string `ch:"purpose"`
	Requests   int64  `ch:"requests"`
	Verified   int64  `ch:"verified"`   // from addresses that the operator publishes
	Unverified int64  `ch:"unverified"` // from others
	Bytes      int64  `ch:"bytes"`
}
