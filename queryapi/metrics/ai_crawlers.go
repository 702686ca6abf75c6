package metrics

import (
	"context"
	"strconv"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// crawlersBody answers GET /api/v1/ai-crawlers: the requests of AI crawlers for the brand's site.
type crawlersBody struct {
	TotalRequests      int64            `json:"total_requests"`
	VerifiedRequests   int64            `json:"verified_requests"`   // from addresses that their operators publish
	UnverifiedRequests int64            `json:"unverified_requests"` // from other addresses; the rest was not checked
	TotalBytes         int64            `json:"total_bytes"`
	CrawlerBreakdown   []crawlerCrawls  `json:"crawler_breakdown"`
	PurposeBreakdown   []purposeCrawls  `json:"purpose_breakdown"`
	StatusBreakdown    []statusRequests `json:"status_breakdown"`
	TopPages           []pageCrawls     `json:"top_pages"` // ten at most
	Buckets            []crawlBucket    `json:"buckets"`   // nil without granularity
}

type crawlerCrawls struct {
	Crawler            string  `json:"crawler"`
	Operator           *string `json:"operator"` // null: unknown
	Platform           *string `json:"platform"` // null: none
	Purpose            string  `json:"purpose"`
	Requests           int64   `json:"requests"`
	VerifiedRequests   int64   `json:"verified_requests"`
	UnverifiedRequests int64   `json:"unverified_requests"`
}

type purposeCrawls struct {
	Purpose  string `json:"purpose"`
	Requests int64  `json:"requests"`
}

type statusRequests struct {
	Status   *int  `json:"status"` // null: nothing was sent
	Requests int64 `json:"requests"`
}

type pageCrawls struct {
	URL      string `json:"url"` // a path, on any of the brand's hosts
	Requests int64  `json:"requests"`
}

// crawlBucket has the requests for a purpose in a bucket.
type crawlBucket struct {
	Date               string `json:"date"` // the bucket's first day, which may lie before the window
	Purpose            string `json:"purpose"`
	Requests           int64  `json:"requests"`
	VerifiedRequests   int64  `json:"verified_requests"`
	UnverifiedRequests int64  `json:"unverified_requests"`
	UncheckedRequests  int64  `json:"unchecked_requests"`
	Errors             int64  `json:"errors"` // with a status of 400 or above
}

func (a *API) aiCrawlers(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p, granularity := q.commonOfVisits(a.now()), q.optionalGranularity()
	if err := q.check(); err != nil {
		return nil, err
	}
	if _, err := a.findBrand(ctx, caller, p.brandID); err != nil {
		return nil, err
	}
	filter := p.trafficFilter(caller.OrganizationID)
	var rows []clickhouse.CrawlCount
	var buckets []clickhouse.CrawlBucket
	queries := []queryFunc{fetch(&rows, clickhouse.AICrawlers, filter)}
	if granularity != "" {
		bucketFilter := clickhouse.TrafficBucketFilter{TrafficFilter: filter, Granularity: granularity}
		queries = append(queries, fetch(&buckets, clickhouse.CrawlBuckets, bucketFilter))
	}
	if err := a.runAll(ctx, queries...); err != nil {
		return nil, err
	}
	body := crawlersBody{
		CrawlerBreakdown: []crawlerCrawls{}, PurposeBreakdown: []purposeCrawls{},
		StatusBreakdown: []statusRequests{}, TopPages: []pageCrawls{},
	}
	for _, r := range rows {
		switch r.Facet {
		case clickhouse.FacetTotal:
			body.TotalRequests, body.TotalBytes = r.Requests, r.Bytes
			body.VerifiedRequests, body.UnverifiedRequests = r.Verified, r.Unverified
		case clickhouse.FacetCrawler:
			body.CrawlerBreakdown = append(body.CrawlerBreakdown, crawlerCrawls{
				r.Name, nullIfEmpty(r.Operator), nullIfEmpty(r.Platform), r.Purpose,
				r.Requests, r.Verified, r.Unverified,
			})
		case clickhouse.FacetPurpose:
			body.PurposeBreakdown = append(body.PurposeBreakdown, purposeCrawls{r.Name, r.Requests})
		case clickhouse.FacetStatus:
			body.StatusBreakdown = append(body.StatusBreakdown, statusRequests{statusOf(r.Name), r.Requests})
		case clickhouse.FacetPage:
			body.TopPages = append(body.TopPages, pageCrawls{r.Name, r.Requests})
		}
	}
	if granularity != "" {
		body.Buckets = make([]crawlBucket, len(buckets))
	}
	for i, b := range buckets {
		body.Buckets[i] = crawlBucket{
			dayText(b.Bucket), b.Purpose, b.Requests, b.Verified, b.Unverified, b.Unchecked, b.Errors,
		}
	}
	return body, nil
}

func statusOf(name string) *int {
	if status, err := strconv.Atoi(name); err == nil && status != 0 {
		return &status
	}
	return nil
}
