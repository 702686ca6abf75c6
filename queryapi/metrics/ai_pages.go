package metrics

import (
	"context"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// sitePagesBody answers GET /api/v1/ai-pages.
type sitePagesBody struct {
	Total uint64     `json:"total"` // pages without the limit
	Pages []sitePage `json:"pages"`
}

// sitePage is a page of the brand's site, from being crawled to what its visitors do.
type sitePage struct {
	Page      string `json:"page"` // host and path
	Crawls    int64  `json:"crawls"`
	Citations int64  `json:"citations"`
	Visits    int64  `json:"visits"`
	Sessions  int64  `json:"sessions"` // that began on it
	Goals     int64  `json:"goals"`    // reached on it
}

func (a *API) aiPages(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p, limit := q.common(a.now()), q.number("limit", 50, 1, 200)
	if err := q.check(); err != nil {
		return nil, err
	}
	if _, err := a.findBrand(ctx, caller, p.brandID); err != nil {
		return nil, err
	}
	filter := clickhouse.ListFilter{Filter: p.filter(caller.OrganizationID), Limit: limit}
	rows, err := clickhouse.AIPages.All(ctx, a.warehouse, filter)
	if err != nil {
		return nil, err
	}
	body := sitePagesBody{Pages: []sitePage{}}
	for _, r := range rows {
		body.Total = r.Total
		body.Pages = append(body.Pages, sitePage{r.Page, r.Crawls, r.Citations, r.Visits, r.Sessions, r.Goals})
	}
	return body, nil
}
