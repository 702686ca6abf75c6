package clickhouse_test

import (
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

func keyOfCrawl(c clickhouse.CrawlRow) clickhouse.Key {
	return clickhouse.Key{OrganizationID: c.OrganizationID, BrandID: c.BrandID, ID: c.ID}
}

// A batch of crawls in two months, sent three times with its token, is there once in every table.
func TestCrawlsWithATokenAreTakenOnceEverywhere(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	unknown, spoofed := warehouse.Crawl(1, warehouse.Day.AddDate(0, 1, 0)), warehouse.Crawl(2, warehouse.Day)
	unknown.Verified, spoofed.Verified = nil, new(false)
	for range 3 {
		if err := clickhouse.Crawls.Insert(t.Context(), conn, "crawls/0@0-2/1",
			[]clickhouse.CrawlRow{warehouse.Crawl(0, warehouse.Day), unknown, spoofed}); err != nil {
			t.Fatal(err)
		}
	}
	for question, want := range map[string]uint64{
		"SELECT count() FROM crawls": 3, "SELECT toUInt64(sum(requests)) FROM crawl_daily": 3,
		"SELECT toUInt64(sum(bytes)) FROM crawl_daily":    3000,
		"SELECT toUInt64(sum(verified)) FROM crawl_daily": 1, "SELECT toUInt64(sum(unverified)) FROM crawl_daily": 1,
	} {
		var got uint64
		if err := conn.QueryRow(t.Context(), question).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", question, got, err, want)
		}
	}
	if last, ok, err := clickhouse.LastOffset(t.Context(), conn, "crawls", 0); err != nil || !ok || last != 2 {
		t.Errorf("LastOffset() = %d, %v, %v; want 2", last, ok, err)
	}
}

// A crawl that has landed is found as far as below lets it be seen, on any day, and among more keys than one question
// has.
func TestLandedCrawls(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	var rows []clickhouse.CrawlRow
	var keys []clickhouse.Key
	for n := range int64(5000) {
		rows = append(rows, warehouse.Crawl(n, warehouse.Day.Add(time.Duration(n)*time.Minute)))
		keys = append(keys, keyOfCrawl(rows[n]))
	}
	if err := clickhouse.Crawls.Insert(t.Context(), conn, "crawls", rows); err != nil {
		t.Fatal(err)
	}
	foreign := keys[0]
	foreign.OrganizationID = neighbour
	for name, c := range map[string]struct {
		keys  []clickhouse.Key
		below clickhouse.LogLimit
		want  int
	}{
		"all":                     {keys, clickhouse.LogLimit{}, 5000},
		"another partition":       {keys, clickhouse.LogLimit{Topic: "crawls", Partition: 1}, 5000},
		"below its own":           {keys, clickhouse.LogLimit{Topic: "crawls", Offset: 3000}, 3000},
		"of another organization": {[]clickhouse.Key{foreign}, clickhouse.LogLimit{}, 0},
		"none":                    {nil, clickhouse.LogLimit{}, 0},
		"what is not there": {[]clickhouse.Key{keyOfCrawl(warehouse.Crawl(9000, warehouse.Day))},
			clickhouse.LogLimit{}, 0},
	} {
		landed, err := clickhouse.Crawls.Landed(t.Context(), conn, c.keys, c.below)
		if err != nil || len(landed) != c.want {
			t.Errorf("%s: %d landed, %v; want %d", name, len(landed), err, c.want)
		}
	}
}
