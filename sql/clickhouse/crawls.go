package clickhouse

import (
	"context"
	"slices"
	"time"
)

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
	Verified  *bool     `ch:"verified"` // nil: nobody looked
	Simulated bool      `ch:"simulated"`
}

// Crawls is the landing table of topic crawls.
var Crawls = table[CrawlRow]("crawls")

// Place is where the row stands.
func (r CrawlRow) Place() RowPlace {
	return RowPlace{r.OrganizationID, r.BrandID, r.ID, r.Day, RecordPlace{r.LogTopic, r.LogPartition, r.LogOffset}}
}

// CrawlKey is what a crawl is known by.
type CrawlKey struct {
	OrganizationID UUID `ch:"organization_id"`
	BrandID        UUID `ch:"brand_id"`
	ID             UUID `ch:"id"`
}

var landedCrawls = query[landedVisitsParams, CrawlKey]("landed_crawls")

// LandedCrawls says which of keys are in the landing table, as far as below lets it
// see. at tells the instant in an id, which is that of the crawl.
func LandedCrawls(ctx context.Context, conn *Conn, keys []CrawlKey, at func(UUID) time.Time, below Below) (map[CrawlKey]bool, error) {
	landed := make(map[CrawlKey]bool)
	for some := range slices.Chunk(keys, keysAtOnce) {
		rows, err := landedCrawls.All(ctx, conn, lookUpCrawls(some, at, below))
		if err != nil {
			return nil, err
		}
		for _, key := range rows {
			landed[key] = true
		}
	}
	return landed, nil
}

func lookUpCrawls(keys []CrawlKey, at func(UUID) time.Time, below Below) landedVisitsParams {
	p := landedVisitsParams{Topic: below.Topic, Partition: below.Partition, Below: below.Offset}
	for _, key := range keys {
		made := at(key.ID)
		p.Organizations = append(p.Organizations, key.OrganizationID)
		p.Brands = append(p.Brands, key.BrandID)
		p.IDs = append(p.IDs, key.ID)
		p.Times = append(p.Times, uint64(made.UnixMilli()))
		p.Days = append(p.Days, DayOf(made))
	}
	slices.Sort(p.Days)
	p.Days = slices.Compact(p.Days)
	slices.Sort(p.Times)
	p.Times = slices.Compact(p.Times)
	p.Organizations = distinct(p.Organizations, func(a, b UUID) int { return slices.Compare(a[:], b[:]) })
	p.Brands = distinct(p.Brands, func(a, b UUID) int { return slices.Compare(a[:], b[:]) })
	return p
}

// AICrawlers gives the crawls of the window by facet; within one the most requests
// first, then by name in code-point order. Without crawls it gives nothing.
var AICrawlers = rollup[TrafficFilter, Crawling]("ai_crawlers")

// The facets of AICrawlers beside FacetTotal and FacetPage.
const (
	FacetCrawler = "crawler"
	FacetPurpose = "purpose"
	FacetStatus  = "status"
)

// Crawling is how many requests one crawler, purpose, status or path has, or all have.
type Crawling struct {
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
