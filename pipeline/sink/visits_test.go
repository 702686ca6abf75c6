package sink_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/answerscope/answerscope/sql/clickhouse"
)

var lumen = uuid.Must(uuid.FromString("01890000-0000-7000-8000-000000000001"))

// visit is the n-th visit of a brand's site; its id is n seconds younger than the first's.
func visit(brand uuid.UUID, n int) *event.Visit {
	at := day.Add(time.Duration(n) * time.Second)
	return &event.Visit{
		V: event.Version, ID: event.RunID(event.Identity{BrandID: brand, Sample: int64(n), Due: at}),
		OrganizationID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000a")), BrandID: brand,
		At: event.At(at), Event: event.VisitView, Platform: "chatgpt", PlatformBy: "referrer", Host: "lumen.example",
		Path: "/a", NewSession: true,
	}
}

func visits(t *testing.T, brand uuid.UUID, numbers ...int) [][]byte {
	t.Helper()
	var all [][]byte
	for _, n := range numbers {
		b, err := event.EncodeVisit(nil, visit(brand, n))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

// upTo is from, …, to-1.
func upTo(from, to int) []int {
	var all []int
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}

func (w *environment) visitSink(t *testing.T, remembered int) *sink.Visits {
	return sink.NewVisits(w.conn, remembered, prometheus.NewRegistry(), testkit.Log(t))
}

// wantVisits wants one of each of so many in every table that a visit feeds.
func (w *environment) wantVisits(t *testing.T, want uint64) {
	t.Helper()
	w.wantNumbers(t, want, map[string]string{
		"visits":          "SELECT count() FROM visits",
		"distinct visits": "SELECT uniqExact(id) FROM visits",
		"daily visits":    "SELECT toUInt64(sum(visits)) FROM visit_daily",
		"sessions":        "SELECT toUInt64(sum(sessions)) FROM visit_daily",
	})
}

// A visitBatch is one batch as a consumer gives it to the sink.
type visitBatch struct {
	brand     uuid.UUID
	partition int32
	first     int64
	visits    []int
	shard     int
}

func (w *environment) land(t *testing.T, s *sink.Visits, b visitBatch) error {
	t.Helper()
	batch := &consume.Batch[sink.Visit]{Topic: w.topic, Partition: b.partition, First: b.first,
		Last: b.first + int64(len(b.visits)) - 1, Plan: consume.Plan{Shard: b.shard}}
	for i, value := range visits(t, b.brand, b.visits...) {
		item, _, err := s.Decode(s.Version(), consume.Record{Topic: w.topic, Partition: b.partition,
			Offset: b.first + int64(i), Value: value, Time: day})
		if err != nil {
			t.Fatal(err)
		}
		batch.Items = append(batch.Items, item)
	}
	return s.Insert(t.Context(), batch, isOwner)
}

// loggedVisits is a batch of visits whose records can be fetched once more.
func (w *environment) loggedVisits(t *testing.T, s *sink.Visits, first int64,
	records ...*event.Visit) *consume.Batch[sink.Visit] {
	t.Helper()
	values := func(offset int64) []byte {
		value, err := event.EncodeVisit(nil, records[offset-first])
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	b := &consume.Batch[sink.Visit]{Topic: w.topic, First: first, Last: first + int64(len(records)) - 1}
	b.FetchAll = func(_ context.Context, offsets []int64) ([]*consume.Record, error) {
		var all []*consume.Record
		for _, offset := range offsets {
			all = append(all, &consume.Record{Topic: w.topic, Offset: offset, Time: day, Value: values(offset)})
		}
		return all, nil
	}
	for i := range records {
		item, _, err := s.Decode(s.Version(), consume.Record{Topic: w.topic, Offset: first + int64(i),
			Value: values(first + int64(i)), Time: day})
		if err != nil {
			t.Fatal(err)
		}
		b.Items = append(b.Items, item)
	}
	return b
}

// A crash has left a batch in log_progress and not among the visits, and its plan names another shard than the
// partition's own: the ids that were cached at the beginning lack its visits, and must not be used after it.
func testIDsOfAReplayOnAnotherShardAreCached(t *testing.T, w *environment) {
	s := w.visitSink(t, 100)
	shard, err := w.conn.Shard(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := clickhouse.AdvanceLog(t.Context(), shard, clickhouse.LogPosition{Topic: w.topic, Offset: 9}); err != nil {
		t.Fatal(err)
	}
	if last, ok, err := s.LastOffset(t.Context(), w.topic, 0); last != 9 || !ok || err != nil {
		t.Fatalf("Position() = %d, %v, %v; want 9", last, ok, err)
	}
	for _, b := range []visitBatch{{shard: 1, brand: lumen, visits: upTo(0, 10)},
		{brand: lumen, first: 10, visits: upTo(5, 15)}} {
		if err := w.land(t, s, b); err != nil {
			t.Fatal(err)
		}
	}
	w.wantVisits(t, 15)
}

// A visit is counted once, for any part of the ids that a sink has in memory.
func TestEachVisitOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	shuffled := []int{7, 2, 9, 0, 5, 3, 8, 1, 6, 4}
	caches := []struct {
		cached    int
		restarted bool
	}{{3, false}, {3, true}, {1, false}, {1000, false}}
	tests := 0
	var names []string
	for name, batches := range map[string][]visitBatch{
		"twice in a batch":  {{visits: append(upTo(0, 10), upTo(0, 10)...)}},
		"in the next batch": {{visits: upTo(0, 10)}, {first: 10, visits: upTo(0, 10)}},
		"partly":            {{visits: upTo(0, 8)}, {first: 8, visits: upTo(5, 10)}},
		"in many batches": {{visits: upTo(0, 4)}, {first: 4, visits: upTo(2, 7)},
			{first: 9, visits: upTo(0, 10)}, {first: 19, visits: upTo(0, 3)}},
		"out of order": {{visits: shuffled}, {first: 10, visits: shuffled}},
		"late, then once more": {{visits: upTo(5, 10)}, {first: 5, visits: upTo(0, 5)},
			{first: 10, visits: upTo(0, 10)}},
		"by another partition": {{visits: upTo(0, 10)}, {partition: 1, visits: upTo(0, 10)}},
		"after a gap":          {{visits: upTo(0, 10)}, {first: 5000, visits: upTo(0, 10)}},
		"two generations later": {{visits: []int{9}}, {first: 1, visits: []int{8, 7, 6, 5, 4}},
			{first: 6, visits: []int{3, 2, 1, 0}}, {first: 10, visits: []int{9}}},
		"the newest first": {{visits: []int{9}}, {first: 1, visits: []int{8, 7, 6, 5, 4, 3, 2, 1, 0}},
			{first: 10, visits: shuffled}},
		"the partitions take turns": {{visits: upTo(0, 5)}, {partition: 1, visits: upTo(5, 10)},
			{first: 5, visits: upTo(0, 5)}, {partition: 1, first: 5, visits: upTo(5, 10)}},
	} {
		for _, c := range caches[:testkit.Draws(2, len(caches))] {
			tests++
			names = append(names, fmt.Sprintf("%s, %+v", name, c))
			w.topic = fmt.Sprintf("visits-%d", tests)
			s := w.visitSink(t, c.cached)
			for _, b := range batches {
				if c.restarted {
					s = w.visitSink(t, c.cached)
				}
				b.brand = uuid.UUID{1, byte(tests)}
				if err := w.land(t, s, b); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	questions := map[string]string{}
	for n, name := range names {
		questions[name] = fmt.Sprintf("SELECT count() FROM visits WHERE brand_id = '%s'", uuid.UUID{1, byte(n + 1)})
	}
	w.wantNumbers(t, 10, questions)
	w.wantVisits(t, uint64(10*tests))
}

// A collector's clock is an hour ahead. Its visits come again, as from its spool, when newer ones have taken their
// place in
// memory: had the sink looked up only visits up to its own time, each would be there twice.
func TestAVisitOfAClockThatIsAheadIsThereOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	ahead := int(time.Until(day.Add(-time.Hour)).Abs() / time.Second)
	for _, b := range []visitBatch{{visits: upTo(ahead, ahead+5)}, {first: 5, visits: upTo(0, 10)},
		{first: 15, visits: upTo(ahead, ahead+5)}} {
		b.brand = lumen
		if err := w.land(t, w.visitSink(t, 3), b); err != nil {
			t.Fatal(err)
		}
	}
	w.wantVisits(t, 15)
}

// An insert that failed half-way is repeated as it was, by the same consumer, by another, and by the first again after
// the other went on: its cache had the ids of a batch that had not landed.
func TestABatchOfVisitsThatFailedIsLandedAsItWas(t *testing.T) { //nolint:tparallel // its parts share a warehouse
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	tables := []string{"visit_daily", "visits", "log_progress"}
	for _, target := range tables[:testkit.Draws(1, len(tables))] {
		t.Run(target, func(t *testing.T) {
			w.clear(t)
			first, second := w.visitSink(t, 5), w.visitSink(t, 5)
			land := func(s *sink.Visits, b visitBatch) {
				t.Helper()
				if err := w.land(t, s, b); err != nil {
					t.Fatal(err)
				}
			}
			land(first, visitBatch{brand: lumen, first: 0, visits: upTo(0, 10)})
			repair := w.failBelow(t, target)
			failed := visitBatch{brand: lumen, first: 10, visits: []int{12, 3, 10, 11, 12, 9}}
			if err := w.land(t, first, failed); err == nil {
				t.Fatal("a view that throws let a batch pass")
			}
			repair()
			land(first, failed)
			w.wantVisits(t, 13)
			land(second, failed) // the commit was lost with the partition
			w.wantVisits(t, 13)
			land(second, visitBatch{brand: lumen, first: 16, visits: []int{13, 11, 14}})
			land(first, visitBatch{brand: lumen, first: 19, visits: []int{14, 13, 12, 0, 15}})
			w.wantVisits(t, 16)
			land(first, visitBatch{brand: lumen, first: 19, visits: []int{14, 13, 12, 0, 15}})
			w.wantVisits(t, 16)
		})
	}
}

// Two brands may have visits of the same id. A visit of a newer version stays on the log.
func TestVisitsOfTwoBrandsMayHaveOneID(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	for _, s := range []*sink.Visits{w.visitSink(t, 10), w.visitSink(t, 10)} {
		batch := &consume.Batch[sink.Visit]{Topic: w.topic, First: 0, Last: 1}
		for i, brand := range []uuid.UUID{{1}, {2}} {
			v := visit(lumen, 1)
			v.BrandID = brand
			value, err := event.EncodeVisit(nil, v)
			if err != nil {
				t.Fatal(err)
			}
			item, _, err := s.Decode(s.Version(), consume.Record{Topic: w.topic, Offset: int64(i), Value: value,
				Time: day})
			if err != nil {
				t.Fatal(err)
			}
			batch.Items = append(batch.Items, item)
		}
		if err := s.Insert(t.Context(), batch, isOwner); err != nil {
			t.Fatal(err)
		}
		if n := w.number(t, "SELECT count() FROM visits"); n != 2 {
			t.Errorf("%d visits, want 2", n)
		}
	}
	newer, sink := strings.Replace(string(visits(t, lumen, 1)[0]), `"v":1`, `"v":99`, 1), w.visitSink(t, 10)
	if _, _, err := sink.Decode(sink.Version(), consume.Record{Value: []byte(newer)}); !errors.Is(err, event.ErrNewer) {
		t.Errorf("Read() of a newer version = %v, want %v", err, event.ErrNewer)
	}
}

// A consumer that has lost its partition inserts nothing.
func TestVisitsAreNotSentOnceThePartitionIsGone(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	s := w.visitSink(t, 10)
	gone := errors.New("gone")
	item, _, err := s.Decode(s.Version(), consume.Record{Topic: w.topic, Value: visits(t, lumen, 1)[0], Time: day})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Insert(t.Context(), &consume.Batch[sink.Visit]{Topic: w.topic, Items: []sink.Visit{item}},
		func() error { return gone })
	if !errors.Is(err, gone) {
		t.Errorf("Insert() = %v, want %v", err, gone)
	}
	w.wantVisits(t, 0)
}

// A consumer of visits that ends between its insert and its commit leaves a plan that its successor lands, once;
// garbage among them is kept with its reason.
func TestACrashedBatchOfVisitsIsReplayed(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	w.append(t, visits(t, lumen, upTo(0, 25)...)...)
	w.append(t, []byte(`{"v":1,"id":"no"}`))
	c := &crashing[sink.Visit]{Target: w.visitSink(t, 10), batch: 3, after: true, crashed: make(chan struct{})}
	run(t, w, c, small, c.hasCrashed)
	w.append(t, visits(t, lumen, slices.Concat(upTo(15, 30), upTo(0, 5))...)...)
	run(t, w, w.visitSink(t, 10), large, func(*consume.Consumer[sink.Visit]) bool { return w.hasLanded(0, 45) })
	w.wantVisits(t, 30)
	if n := w.number(t, "SELECT count() FROM deadletters WHERE reason = 'malformed' AND log_offset = 25"); n != 1 {
		t.Errorf("%d dead letters, want 1", n)
	}
}
