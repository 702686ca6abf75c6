package advice

import (
	"context"
	"fmt"
	"math"
	"net/url"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

const (
	leastCrawlDays = 5
	leastCitations = 10
	leastExpected  = 3.7 // a Poisson count of this mean is 0 in 2.5 % of cases
)

// PageEvidence counts what AI platforms do with a page and with the brand's site.
type PageEvidence struct {
	clickhouse.OwnedPage

	Expected      float64 `json:"expected"` // citations or visits, at the site's rate
	SiteCrawls    int64   `json:"site_crawls"`
	SiteCitations int64   `json:"site_citations"`
	SiteVisits    int64   `json:"site_visits"`
	Link
}

// pages finds pages of the brand that are crawled and significantly less cited than its others, or cited and less
// visited.
func pages(ctx context.Context, warehouse *clickhouse.Conn, brand Brand, window Window) ([]Result, error) {
	rows, err := clickhouse.OwnedPages.All(ctx, warehouse, brand.filter(window))
	return []Result{findPages(rows)}, err
}

func findPages(rows []clickhouse.OwnedPage) Result {
	owned := Result{Total: Total{Kind: KindPage}}
	var site clickhouse.OwnedPage
	for _, r := range rows {
		site.Crawls += r.Crawls
		site.Citations += r.Citations
		site.Visits += r.Visits
	}
	for _, r := range rows {
		if r.CrawlDays >= leastCrawlDays {
			owned.judge(site, r, "crawled:", r.Citations,
				float64(r.Crawls)*float64(site.Citations)/float64(site.Crawls),
				fmt.Sprintf("%s was crawled for AI answers %d times on %d days, and no answer cites it.",
					r.Page, r.Crawls, r.CrawlDays), "citations")
		}
		if r.Citations >= leastCitations {
			owned.judge(site, r, "cited:", r.Visits,
				float64(r.Citations)*float64(site.Visits)/float64(site.Citations),
				fmt.Sprintf("%s is cited in %d answers, and AI platforms sent no visit to it.",
					r.Page, r.Citations), "visits")
		}
	}
	owned.ByChance = tenth(owned.ByChance)
	return owned.ranked(Reason{KindPage, "no_crawls_or_visits", int(site.Crawls + site.Visits), 1})
}

// judge suggests a page whose count is 0 where the rate of the site lets enough be expected.
func (r *Result) judge(
	site, page clickhouse.OwnedPage, step string, count int64, expected float64, text, what string,
) {
	if expected < leastExpected {
		return
	}
	r.Judged++
	r.ByChance += math.Exp(-expected)
	if count > 0 {
		return
	}
	e := PageEvidence{page, tenth(expected), site.Crawls, site.Citations, site.Visits, Link{}}
	if page.Listed > 0 {
		e.Link = Link{"page=" + url.QueryEscape(page.Page), page.Listed}
	}
	r.Suggestions = append(r.Suggestions, Suggestion{
		Kind: KindPage, Key: step + page.Page, Text: text, Score: e.Expected, Evidence: e,
		Reason: fmt.Sprintf("At the rate of your whole site it would have %.1f %s; "+
			"by chance it has none in at most 2.5 %% of cases.", expected, what),
	})
}
