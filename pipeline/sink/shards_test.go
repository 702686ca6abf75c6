package sink_test

import (
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// Two shards have one schema, which takes long to migrate: these tests share it, one after the other.
func TestTwoShards(t *testing.T) { //nolint:tparallel // its parts share a warehouse
	t.Parallel()
	conn, _ := warehouse.Sharded(t)
	tests := map[string]func(*testing.T, *environment){
		"each answer once":                            testEachAnswerOnceOnTwoShards,
		"a batch lands on the shard of its plan":      testABatchLandsOnTheShardOfItsPlan,
		"a repeated batch":                            testARepeatedBatchOnAShard,
		"a view that throws":                          testAViewOfAShardThatThrows,
		"ids of a replay on another shard are cached": testIDsOfAReplayOnAnotherShardAreCached,
	}
	if testkit.All {
		tests["each crawl once"] = testEachCrawlOnceOnTwoShards
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newEnvironmentOn(t, conn, nil, 0)
			w.clear(t)
			test(t, w)
		})
	}
}

// here is how many answers one shard has.
func (w *environment) here(t *testing.T, shard int) (n uint64) {
	t.Helper()
	conn, err := w.conn.Shard(shard)
	if err == nil {
		err = conn.QueryRow(t.Context(), "SELECT count() FROM "+conn.Local("answers")).Scan(&n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Partitions go to different shards, a crash leaves a plan that names its shard, and each answer counts once wherever
// it is.
func testEachAnswerOnceOnTwoShards(t *testing.T, w *environment) {
	w = newEnvironmentOn(t, w.conn, testkit.Kafka(t), 3)
	for partition := range 3 {
		w.appendTo(t, partition, answers(t, 10*partition, 10*partition+10)...)
		w.appendTo(t, partition, answers(t, 10*partition+5, 10*partition+10)...) // again
		w.appendTo(t, partition, answers(t, 100+5*partition, 105+5*partition)...)
	}
	for _, after := range []bool{false, true} {
		c := &crashing[sink.Answer]{Target: w.sink(t), batch: 3, after: after, crashed: make(chan struct{})}
		w.consume(t, c, small, c.hasCrashed)
	}
	landed := func(offset int64) func(*consume.Consumer[sink.Answer]) bool {
		return func(*consume.Consumer[sink.Answer]) bool {
			return w.hasLanded(0, offset) && w.hasLanded(1, offset) && w.hasLanded(2, offset)
		}
	}
	w.consume(t, w.sink(t), small, landed(19))
	for partition := range 3 {
		w.appendTo(t, partition, answers(t, 200+6*partition, 206+6*partition)...)
	}
	w.consume(t, w.sink(t), small, landed(25))
	w.wantEachOnce(t, 63)
	if first, second := w.here(t, 0), w.here(t, 1); first == 0 || second == 0 || first+second != 63 {
		t.Errorf("%d answers on the first shard and %d on the second, want both to have some of 63", first, second)
	}
}

// A shard was added while a batch was open: it is replayed where it was planned for, and what landed there is known to
// the batches of the partition that land elsewhere.
func testABatchLandsOnTheShardOfItsPlan(t *testing.T, w *environment) {
	land := func(shard int, first int64, from, to int) error {
		t.Helper()
		target := w.sink(t)
		b := &consume.Batch[sink.Answer]{Topic: w.topic, Partition: 1, First: first, Last: first + int64(to-from) - 1,
			Plan: consume.Plan{Shard: shard}}
		for i, value := range answers(t, from, to) {
			item, _, err := target.Decode(target.Version(),
				consume.Record{Topic: w.topic, Partition: 1, Offset: first + int64(i), Value: value, Time: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			b.Items = append(b.Items, item)
		}
		return target.Insert(t.Context(), b, isOwner)
	}
	for _, b := range []struct {
		shard    int
		first    int64
		from, to int
	}{{0, 0, 0, 10}, {0, 0, 0, 10}, {1, 10, 5, 15}, {0, 20, 0, 16}} {
		if err := land(b.shard, b.first, b.from, b.to); err != nil {
			t.Fatal(err)
		}
	}
	w.wantEachOnce(t, 16)
	if first, second := w.here(t, 0), w.here(t, 1); first != 11 || second != 5 {
		t.Errorf("%d answers on the first shard and %d on the second, want 11 and 5", first, second)
	}
	if err := land(2, 36, 0, 1); err == nil {
		t.Error("a batch landed on a shard that is not there")
	}
}
