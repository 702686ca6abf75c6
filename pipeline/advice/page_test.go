package advice

import (
	"fmt"
	"testing"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Of 400 crawls 40 ended in a citation, so 40 crawls of a page let 4 be expected, 36 only 3.6; of 40 citations 20 ended
// in a visit, so 10 let 5 be expected.
func TestPagesAreJudgedByTheRateOfTheSite(t *testing.T) {
	t.Parallel()
	found := findPages([]clickhouse.OwnedPage{
		{Page: "a/crawled", Crawls: 40, CrawlDays: 5},
		{Page: "a/briefly", Crawls: 40, CrawlDays: 4},
		{Page: "a/rarely", Crawls: 36, CrawlDays: 9},
		{Page: "a/cited", Citations: 10, Listed: 11},
		{Page: "a/both", Crawls: 284, CrawlDays: 20, Citations: 30, Visits: 20},
	})
	got := fmt.Sprint(found.Found, " of ", found.Judged)
	for _, s := range found.Suggestions {
		got += fmt.Sprint(", ", s.Key, " ", s.Score, " ", s.Evidence.(PageEvidence).Link)
	}
	if want := "2 of 4, cited:a/cited 5 {page=a%2Fcited 11}, crawled:a/crawled 4 { 0}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if found := findPages(nil); len(found.Reasons) != 1 || found.Reasons[0].Reason != "no_crawls_or_visits" {
		t.Errorf("without pages: %+v", found.Reasons)
	}
}
