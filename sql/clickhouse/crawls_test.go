package clickhouse_test

import (
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// crawl is the request of an AI crawler at an instant.
func crawl(offset int64, at time.Time) clickhouse.CrawlRow {
	id := event.CrawlID("lumen.example", []byte("GET /a"), int(offset), at)
	return clickhouse.CrawlRow{
		OrganizationID: organization, BrandID: brand, Day: at.Truncate(24 * time.Hour), ID: clickhouse.UUID(id), LogTopic: "crawls", LogOffset: offset,
		At: at, Crawler: "GPTBot", Operator: "OpenAI", Platform: "chatgpt", Purpose: "training", Host: "lumen.example", Path: "/a",
		Status: 200, Bytes: 1000, Verified: new(true), Simulated: true,
	}
}

func keyOfCrawl(c clickhouse.CrawlRow) clickhouse.CrawlKey {
	return clickhouse.CrawlKey{OrganizationID: c.OrganizationID, BrandID: c.BrandID, ID: c.ID}
}

// A batch of crawls in two months, sent three times with its token, is there once in
// every table.
func TestCrawlsWithATokenAreTakenOnceEverywhere(t *testing.T) {
	conn := migrated(t)
	unknown, spoofed := crawl(1, day.AddDate(0, 1, 0)), crawl(2, day)
	unknown.Verified, spoofed.Verified = nil, new(false)
	for range 3 {
		if err := clickhouse.Crawls.Insert(t.Context(), conn, "crawls/0@0-2/1", []clickhouse.CrawlRow{crawl(0, day), unknown, spoofed}); err != nil {
			t.Fatal(err)
		}
	}
	for question, want := range map[string]uint64{
		"SELECT count() FROM crawls": 3, "SELECT toUInt64(sum(requests)) FROM crawl_daily": 3, "SELECT toUInt64(sum(bytes)) FROM crawl_daily": 3000,
		"SELECT toUInt64(sum(verified)) FROM crawl_daily": 1, "SELECT toUInt64(sum(unverified)) FROM crawl_daily": 1,
	} {
		var got uint64
		if err := conn.QueryRow(t.Context(), question).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", question, got, err, want)
		}
	}
	if last, ok, err := clickhouse.LogPosition(t.Context(), conn, "crawls", 0); err != nil || !ok || last != 2 {
		t.Errorf("LogPosition() = %d, %v, %v; want 2", last, ok, err)
	}
}

// A crawl that has landed is found by whoever may see it, on whatever day it was, and
// among more keys than one question has.
func TestLandedCrawls(t *testing.T) {
	conn := migrated(t)
	var rows []clickhouse.CrawlRow
	var keys []clickhouse.CrawlKey
	for n := range int64(5000) {
		rows = append(rows, crawl(n, day.Add(time.Duration(n)*time.Minute)))
		keys = append(keys, keyOfCrawl(rows[n]))
	}
	if err := clickhouse.Crawls.Insert(t.Context(), conn, "crawls", rows); err != nil {
		t.Fatal(err)
	}
	foreign := keys[0]
	foreign.OrganizationID = neighbour
	for name, c := range map[string]struct {
		keys  []clickhouse.CrawlKey
		below clickhouse.Below
		want  int
	}{
		"all":                     {keys, clickhouse.Below{}, 5000},
		"another partition":       {keys, clickhouse.Below{Topic: "crawls", Partition: 1}, 5000},
		"below its own":           {keys, clickhouse.Below{Topic: "crawls", Offset: 3000}, 3000},
		"of another organization": {[]clickhouse.CrawlKey{foreign}, clickhouse.Below{}, 0},
		"none":                    {nil, clickhouse.Below{}, 0},
		"what is not there":       {[]clickhouse.CrawlKey{keyOfCrawl(crawl(9000, day))}, clickhouse.Below{}, 0},
	} {
		landed, err := clickhouse.LandedCrawls(t.Context(), conn, c.keys, made, c.below)
		if err != nil || len(landed) != c.want {
			t.Errorf("%s: %d landed, %v; want %d", name, len(landed), err, c.want)
		}
	}
}
