package simulator

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/useragent"
)

// Crawls yields the requests of AI crawlers for the site, day by day, those of a
// day in order. They are the same whatever From and Until are, as Visits are.
func (s *Simulator) Crawls(plan SitePlan) iter.Seq[event.Crawl] {
	return func(yield func(event.Crawl) bool) {
		for date := day(plan.From); date.Before(plan.Until); date = date.AddDate(0, 0, 1) {
			for _, c := range s.crawlsOf(plan, date) {
				if !c.At.After(plan.Until) && !yield(c) {
					return
				}
			}
		}
	}
}

// visitingCrawlers are crawlers by name, and how many requests each makes on a usual day.
var visitingCrawlers = []struct {
	name   string
	usual  int
	bursts bool // comes in waves, not every day
}{
	{"GPTBot", 60, true}, {"ClaudeBot", 45, true}, {"CCBot", 80, true}, {"Bytespider", 12, false},
	{"OAI-SearchBot", 14, false}, {"PerplexityBot", 9, false}, {"Claude-SearchBot", 4, false},
	{"ChatGPT-User", 22, false}, {"Perplexity-User", 7, false}, {"Claude-User", 3, false},
}

// crawled are the pages that crawlers ask for: those that answers cite, and others.
var crawled = slices.Concat(ownPages, innerPages, []string{"/robots.txt", "/sitemap.xml", "/products/discontinued"})

func (s *Simulator) crawlsOf(plan SitePlan, date time.Time) (crawls []event.Crawl) {
	for _, visiting := range visitingCrawlers {
		crawler, _ := useragent.CrawlerOf(visiting.name) // each is known, as a test checks
		c := chance(s.config.Seed, "crawls", plan.Brand.ID.String(), date.Format(time.DateOnly), visiting.name)
		n := visiting.usual * (70 + c.IntN(60)) / 100
		if visiting.bursts {
			n = n * []int{0, 0, 1, 1, 1, 3}[c.IntN(6)]
		}
		for i := range n {
			crawls = append(crawls, crawlOf(c, plan, crawler, date, i))
		}
	}
	slices.SortFunc(crawls, func(a, b event.Crawl) int { return a.At.Compare(b.At.Time) })
	return crawls
}

// crawlOf is the i-th request of a crawler on a day.
func crawlOf(c *rand.Rand, plan SitePlan, crawler useragent.Crawler, date time.Time, i int) event.Crawl {
	path, _, _ := strings.Cut(pick(c, crawled), "?")
	crawl := event.Crawl{
		V: event.Version, OrganizationID: plan.OrganizationID, BrandID: plan.Brand.ID,
		At:      event.At(date.Add(time.Duration(c.Int64N(int64(24 * time.Hour))))),
		Crawler: crawler.Name, Operator: crawler.Operator, Platform: crawler.Platform, Purpose: event.Purpose(crawler.Purpose),
		Host: plan.Brand.Domains[0], Path: path, Status: 200, Bytes: 4_000 + c.Int64N(60_000), Simulated: true,
	}
	switch drawn := c.IntN(100); {
	case path == "/products/discontinued":
		crawl.Status, crawl.Bytes = 404, 512
	case drawn < 12:
		crawl.Status, crawl.Bytes = 304, 0
	case drawn == 99:
		crawl.Status, crawl.Bytes = 503, 128
	}
	if from := c.IntN(20); from > 0 { // some operators publish no addresses
		verified := from > 1
		crawl.Verified = &verified
	}
	line := fmt.Sprintf("simulated %s %s %d", crawler.Name, crawl.At, i)
	crawl.ID = event.CrawlID(crawl.Host, []byte(line), 0, crawl.At.Time)
	return crawl
}
