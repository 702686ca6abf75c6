package demo

import (
	"slices"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/useragent"
)

// Every crawl may be appended, says that it is simulated, and is of a crawler that a log would show.
func TestCrawlsAreValidAndVaried(t *testing.T) {
	s, _ := open(t, "", today)
	for _, visiting := range visitingCrawlers {
		if _, known := useragent.CrawlerOf(visiting.name); !known {
			t.Errorf("%s is no crawler", visiting.name)
		}
	}
	ids, seen := map[uuid.UUID]bool{}, map[string]int{}
	for c := range site(today.AddDate(0, 0, -59), today).Crawls(s) {
		if err := c.Check(today); err != nil {
			t.Fatal(err)
		}
		if ids[c.ID] || !event.IDTime(c.ID).Equal(c.At.Time) || !c.Simulated || c.Host != cast().Brand.Domains[0] {
			t.Fatalf("%+v", c)
		}
		ids[c.ID] = true
		seen[string(c.Purpose)]++
		if c.Verified != nil && *c.Verified {
			seen["verified"]++
		} else if c.Verified != nil {
			seen["unverified"]++
		}
		if c.Status >= 400 {
			seen["refused"]++
		}
	}
	t.Log(seen)
	for _, what := range []string{"training", "search", "user", "verified", "unverified", "refused"} {
		if seen[what] < 100 {
			t.Errorf("%d of %q, want at least 100", seen[what], what)
		}
	}
}

// A longer history repeats a shorter one.
func TestALongerHistoryOfCrawlsRepeatsAShorterOne(t *testing.T) {
	s, _ := open(t, "", today)
	short := slices.Collect(site(today.AddDate(0, 0, -3), today.AddDate(0, 0, -1)).Crawls(s))
	long := map[uuid.UUID]bool{}
	for c := range site(today.AddDate(0, 0, -9), today).Crawls(s) {
		long[c.ID] = true
	}
	for _, c := range short {
		if !long[c.ID] {
			t.Errorf("%+v is not made again", c)
		}
	}
	if len(short) == 0 || len(short) >= len(long) {
		t.Errorf("%d and %d crawls", len(short), len(long))
	}
}
