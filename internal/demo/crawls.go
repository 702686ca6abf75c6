package demo

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/useragent"
)

// Crawls yields the requests of AI crawlers for the site in the order of time. A request does not depend on From and
// Until.
func (site Site) Crawls(s *simulator.Simulator) iter.Seq[event.Crawl] {
	return func(yield func(event.Crawl) bool) {
		for date := day(site.From); date.Before(site.Until); date = date.AddDate(0, 0, 1) {
			for _, c := range site.crawlsOn(s, date) {
				if !c.At.After(site.Until) && !yield(c) {
					return
				}
			}
		}
	}
}

// visitingCrawlers lists crawlers by name, with the number of requests on a usual day.
var visitingCrawlers = []struct {
	name   string
	usual  int
	bursts bool // comes in waves, not every day
}{
	{"GPTBot", 60, true}, {"ClaudeBot", 45, true}, {"CCBot", 80, true}, {"Bytespider", 12, false},
	{"OAI-SearchBot", 14, false}, {"PerplexityBot", 9, false}, {"Claude-SearchBot", 4, false},
	{"ChatGPT-User", 22, false}, {"Perplexity-User", 7, false}, {"Claude-User", 3, false},
}

// crawled lists the pages that crawlers request: cited ones and others.
var crawled = slices.Concat(simulator.Pages, innerPages,
	[]string{"/robots.txt", "/sitemap.xml", "/products/discontinued"})

func (site Site) crawlsOn(s *simulator.Simulator, date time.Time) (crawls []event.Crawl) {
	for _, visiting := range visitingCrawlers {
		crawler, _ := useragent.CrawlerOf(visiting.name) // each is known, as a test checks
		c := s.Chance("crawls", site.Brand.ID.String(), date.Format(time.DateOnly), visiting.name)
		n := visiting.usual * (70 + c.IntN(60)) / 100
		if visiting.bursts {
			n = n * []int{0, 0, 1, 1, 1, 3}[c.IntN(6)]
		}
		for i := range n {
			crawls = append(crawls, site.crawl(c, crawler, date, i))
		}
	}
	slices.SortFunc(crawls, func(a, b event.Crawl) int { return a.At.Compare(b.At.Time) })
	return crawls
}

// crawl returns the i-th request of a crawler on a day.
func (site Site) crawl(c *rand.Rand, crawler useragent.Crawler, date time.Time, i int) event.Crawl {
	path, _, _ := strings.Cut(pick(c, crawled), "?")
	crawl := event.Crawl{
		V: event.Version, OrganizationID: site.OrganizationID, BrandID: site.Brand.ID,
		At:      event.At(date.Add(time.Duration(c.Int64N(int64(24 * time.Hour))))),
		Crawler: crawler.Name, Operator: crawler.Operator, Platform: crawler.Platform,
		Purpose: event.Purpose(crawler.Purpose),
		Host:    site.Brand.Domains[0], Path: path, Status: 200, Bytes: 4_000 + c.Int64N(60_000), Simulated: true,
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
