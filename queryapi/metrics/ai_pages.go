package metrics

import (
	"context"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// sitePagesBody answers GET /api/v1/ai-pages.
type sitePagesBody struct {
	Total uint64     `json:"total"` // pages of the step, without the limit
	Steps pageSteps  `json:"steps"`
	Pages []sitePage `json:"pages"`
}

// pageSteps counts the pages of all steps that reach each, and those that stop before the next.
type pageSteps struct {
	Crawled           uint64 `json:"crawled"`
	Cited             uint64 `json:"cited"`
	Visited           uint64 `json:"visited"`
	Converted         uint64 `json:"converted"`
	CrawledNeverCited uint64 `json:"crawled_never_cited"`
	CitedNeverVisited uint64 `json:"cited_never_visited"`
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
	step, _ := q.word("step",
		"crawled", "cited", "visited", "converted", "crawled_never_cited", "cited_never_visited")
	sortBy := q.oneOf("sort_by", "visits", "sessions", "citations", "crawls", "goals")
	if err := q.check(); err != nil {
		return nil, err
	}
	if _, err := a.findBrand(ctx, caller, p.brandID); err != nil {
		return nil, err
	}
	filter := clickhouse.PageFilter{
		ListFilter: clickhouse.ListFilter{Filter: p.filter(caller.OrganizationID), Limit: limit},
		Step:       step, SortBy: sortBy,
	}
	rows, err := clickhouse.AIPages.All(ctx, a.warehouse, filter)
	if err != nil {
		return nil, err
	}
	body := sitePagesBody{Pages: []sitePage{}}
	for _, r := range rows {
		body.Total, body.Steps = r.Total, pageSteps(r.PageSteps)
		body.Pages = append(body.Pages, sitePage{r.Page, r.Crawls, r.Citations, r.Visits, r.Sessions, r.Goals})
	}
	if len(rows) == 0 && step != "" { // no row has the counts of the other steps
		filter.Step = ""
		rows, err = clickhouse.AIPages.All(ctx, a.warehouse, filter)
		if len(rows) > 0 {
			body.Steps = pageSteps(rows[0].PageSteps)
		}
	}
	return body, err
}
