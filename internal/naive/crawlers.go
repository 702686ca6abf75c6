package naive

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// CrawlersBody is the body of /api/v1/ai-crawlers.
type CrawlersBody struct {
	TotalRequests      int             `json:"total_requests"`
	VerifiedRequests   int             `json:"verified_requests"`
	UnverifiedRequests int             `json:"unverified_requests"`
	TotalBytes         int64           `json:"total_bytes"`
	CrawlerBreakdown   []CrawlerCrawls `json:"crawler_breakdown"`
	PurposeBreakdown   []PurposeCrawls `json:"purpose_breakdown"`
	StatusBreakdown    []StatusCrawls  `json:"status_breakdown"`
	TopPages           []PageCrawls    `json:"top_pages"`
}

// CrawlerCrawls is the requests of one crawler; nil is not said.
type CrawlerCrawls struct {
	Crawler            string  `json:"crawler"`
	Operator           *string `json:"operator"`
	Platform           *string `json:"platform"`
	Purpose            string  `json:"purpose"`
	Requests           int     `json:"requests"`
	VerifiedRequests   int     `json:"verified_requests"`
	UnverifiedRequests int     `json:"unverified_requests"`
}

// PurposeCrawls is the requests for one purpose.
type PurposeCrawls struct {
	Purpose  string `json:"purpose"`
	Requests int    `json:"requests"`
}

// StatusCrawls is the requests that were answered with one status; nil: with none.
type StatusCrawls struct {
	Status   *int `json:"status"`
	Requests int  `json:"requests"`
}

// PageCrawls is the requests for one path, on whatever host.
type PageCrawls struct {
	URL      string `json:"url"`
	Requests int    `json:"requests"`
}

// Crawlers computes the crawls of a brand between two inclusive days from the records
// in the order in which they were told. Of those with one id the first counts.
func Crawlers(told []event.Crawl, organization, brand uuid.UUID, from, to string) CrawlersBody {
	type crawler struct{ name, operator, platform, purpose string }
	known := map[[3]uuid.UUID]bool{}
	crawlers, purposes, statuses, paths := map[crawler]*CrawlerCrawls{}, map[string]int{}, map[string]int{}, map[string]int{}
	body := CrawlersBody{CrawlerBreakdown: []CrawlerCrawls{}, PurposeBreakdown: []PurposeCrawls{}, StatusBreakdown: []StatusCrawls{}, TopPages: []PageCrawls{}}
	for _, c := range told {
		id, day := [3]uuid.UUID{c.OrganizationID, c.BrandID, c.ID}, c.At.String()[:len("2006-01-02")]
		first := !known[id]
		known[id] = true
		if !first || c.OrganizationID != organization || c.BrandID != brand || day < from || day > to {
			continue
		}
		which := crawler{c.Crawler, c.Operator, c.Platform, string(c.Purpose)}
		if crawlers[which] == nil {
			crawlers[which] = &CrawlerCrawls{Crawler: c.Crawler, Operator: unlessEmpty(c.Operator), Platform: unlessEmpty(c.Platform), Purpose: string(c.Purpose)}
		}
		of := crawlers[which]
		of.Requests++
		body.TotalRequests++
		body.TotalBytes += c.Bytes
		if c.Verified != nil && *c.Verified {
			of.VerifiedRequests++
			body.VerifiedRequests++
		}
		if c.Verified != nil && !*c.Verified {
			of.UnverifiedRequests++
			body.UnverifiedRequests++
		}
		purposes[string(c.Purpose)]++
		statuses[strconv.Itoa(c.Status)]++
		paths[c.Path]++
	}
	for _, of := range crawlers {
		body.CrawlerBreakdown = append(body.CrawlerBreakdown, *of)
	}
	slices.SortFunc(body.CrawlerBreakdown, func(a, b CrawlerCrawls) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Crawler, b.Crawler), strings.Compare(orEmpty(a.Operator), orEmpty(b.Operator)),
			strings.Compare(orEmpty(a.Platform), orEmpty(b.Platform)), strings.Compare(a.Purpose, b.Purpose))
	})
	for _, purpose := range byRequests(purposes) {
		body.PurposeBreakdown = append(body.PurposeBreakdown, PurposeCrawls{purpose, purposes[purpose]})
	}
	for _, text := range byRequests(statuses) {
		of := StatusCrawls{Requests: statuses[text]}
		if status, _ := strconv.Atoi(text); status != 0 {
			of.Status = &status
		}
		body.StatusBreakdown = append(body.StatusBreakdown, of)
	}
	for _, path := range byRequests(paths) {
		if len(body.TopPages) < 10 {
			body.TopPages = append(body.TopPages, PageCrawls{path, paths[path]})
		}
	}
	return body
}

// byRequests orders names by their requests, the most first; those with as many by
// name in code-point order.
func byRequests(requests map[string]int) []string {
	var names []string
	for name := range requests {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(requests[b], requests[a]), strings.Compare(a, b))
	})
	return names
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
