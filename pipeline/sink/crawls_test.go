package sink_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// crawl is the n-th crawl of a brand's site.
func crawl(brand uuid.UUID, n int) *event.Crawl {
	at := day.Add(time.Duration(n/2) * time.Second) // two in a second
	return &event.Crawl{
		V: event.Version, ID: event.CrawlID("lumen.example", []byte("GET /a"), n, at),
		OrganizationID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000a")), BrandID: brand,
		At: event.At(at), Crawler: "GPTBot", Operator: "OpenAI", Platform: "chatgpt", Purpose: event.PurposeTraining,
		Host: "lumen.example", Path: "/a",
		Status: 200, Bytes: 100, Verified: new(true),
	}
}

func crawls(t *testing.T, brand uuid.UUID, numbers ...int) [][]byte {
	t.Helper()
	var all [][]byte
	for _, n := range numbers {
		b, err := event.EncodeCrawl(nil, crawl(brand, n))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func (w *environment) crawlSink(t *testing.T) *sink.Crawls {
	return sink.NewCrawls(w.conn, prometheus.NewRegistry(), testkit.Log(t))
}

// wantCrawls wants one of each of so many in every table that a crawl feeds.
func (w *environment) wantCrawls(t *testing.T, want uint64) {
	t.Helper()
	w.wantNumbers(t, want, map[string]string{
		"crawls":          "SELECT count() FROM crawls",
		"distinct crawls": "SELECT uniqExact(id) FROM crawls",
		"requests":        "SELECT toUInt64(sum(requests)) FROM crawl_daily",
		"verified":        "SELECT toUInt64(sum(verified)) FROM crawl_daily",
		"bytes":           "SELECT toUInt64(intDiv(sum(bytes), 100)) FROM crawl_daily",
	})
}

// landCrawls lands records as one batch from an offset on, as a consumer hands it over.
func (w *environment) landCrawls(t *testing.T, s *sink.Crawls, partition int32, first int64, values ...[]byte) error {
	t.Helper()
	record := func(offset int64) consume.Record {
		return consume.Record{Topic: w.topic, Partition: partition, Offset: offset, Value: values[offset-first],
			Time: day}
	}
	b := &consume.Batch[sink.Crawl]{Topic: w.topic, Partition: partition, First: first,
		Last: first + int64(len(values)) - 1}
	b.FetchAll = func(_ context.Context, offsets []int64) ([]*consume.Record, error) {
		var all []*consume.Record
		for _, offset := range offsets {
			all = append(all, new(record(offset)))
		}
		return all, nil
	}
	for offset := first; offset <= b.Last; offset++ {
		item, _, err := s.Decode(s.Version(), record(offset))
		if err != nil {
			t.Fatal(err)
		}
		b.Items = append(b.Items, item)
	}
	return s.Insert(t.Context(), b, isOwner)
}

// A crawl that is recorded several times, in any partitions, is counted once.
func TestEachCrawlOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	for n, c := range []struct {
		partition int32
		first     int64
		crawls    []int
	}{
		{0, 0, append(upTo(0, 10), upTo(0, 10)...)},
		{0, 20, upTo(5, 15)},
		{1, 0, upTo(0, 20)},
		{0, 30, []int{19, 3, 20, 0, 20}},
	} {
		if err := w.landCrawls(t, w.crawlSink(t), c.partition, c.first, crawls(t, lumen, c.crawls...)...); err != nil {
			t.Fatal(n, err)
		}
	}
	w.wantCrawls(t, 21)
	// of another brand
	if err := w.landCrawls(t, w.crawlSink(t), 0, 35, crawls(t, uuid.UUID{2}, upTo(30, 35)...)...); err != nil {
		t.Fatal(err)
	}
	w.wantCrawls(t, 26)
	newer, sink := strings.Replace(string(crawls(t, lumen, 1)[0]), `"v":1`, `"v":99`, 1), w.crawlSink(t)
	if _, _, err := sink.Decode(sink.Version(), consume.Record{Value: []byte(newer)}); !errors.Is(err, event.ErrNewer) {
		t.Errorf("Read() of a newer version = %v, want %v", err, event.ErrNewer)
	}
}

// An insert that failed half-way is repeated as it was, by the same consumer and by another.
func TestABatchOfCrawlsThatFailedIsLandedAsItWas(t *testing.T) { //nolint:tparallel // its parts share a warehouse
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	tables := []string{"crawl_daily", "crawls", "log_progress"}
	for _, target := range tables[:testkit.Draws(1, len(tables))] {
		t.Run(target, func(t *testing.T) {
			w.clear(t)
			first, second := w.crawlSink(t), w.crawlSink(t)
			if err := w.landCrawls(t, first, 0, 0, crawls(t, lumen, upTo(0, 10)...)...); err != nil {
				t.Fatal(err)
			}
			repair := w.failBelow(t, target)
			failed := crawls(t, lumen, 12, 3, 10, 11, 12, 9)
			if err := w.landCrawls(t, first, 0, 10, failed...); err == nil {
				t.Fatal("a view that throws let a batch pass")
			}
			repair()
			for _, s := range []*sink.Crawls{first, second, first} {
				if err := w.landCrawls(t, s, 0, 10, failed...); err != nil {
					t.Fatal(err)
				}
				w.wantCrawls(t, 13)
			}
		})
	}
}

// A consumer of crawls that ends between its plan and its insert leaves a plan that its successor lands, once; garbage
// among them is kept with its reason.
func TestACrashedBatchOfCrawlsIsReplayed(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	w.append(t, crawls(t, lumen, upTo(0, 25)...)...)
	w.append(t, []byte(`{"v":1,"id":"no"}`))
	c := &crashing[sink.Crawl]{Target: w.crawlSink(t), batch: 3, crashed: make(chan struct{})}
	run(t, w, c, small, c.hasCrashed)
	w.append(t, crawls(t, lumen, slices.Concat(upTo(15, 30), upTo(0, 5))...)...)
	run(t, w, w.crawlSink(t), large, func(*consume.Consumer[sink.Crawl]) bool { return w.hasLanded(0, 45) })
	w.wantCrawls(t, 30)
	if n := w.number(t, "SELECT count() FROM deadletters WHERE reason = 'malformed' AND log_offset = 25"); n != 1 {
		t.Errorf("%d dead letters, want 1", n)
	}
}

// Two shards have each crawl once between them.
func testEachCrawlOnceOnTwoShards(t *testing.T, w *environment) {
	target := w.crawlSink(t)
	for n, shard := range []int{0, 1, 0} {
		b := &consume.Batch[sink.Crawl]{Topic: w.topic, Partition: int32(shard), First: int64(10 * n),
			Last: int64(10*n + 9), Plan: consume.Plan{Shard: shard}}
		for i, value := range crawls(t, lumen, upTo(5*n, 5*n+10)...) {
			item, _, err := target.Decode(target.Version(),
				consume.Record{Topic: w.topic, Partition: b.Partition, Offset: b.First + int64(i), Value: value,
					Time: day})
			if err != nil {
				t.Fatal(err)
			}
			b.Items = append(b.Items, item)
		}
		if err := target.Insert(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
	}
	w.wantCrawls(t, 20)
}
