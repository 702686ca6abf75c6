package sink_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// newShardedWorld is a world whose warehouse has two shards.
func newShardedWorld(t *testing.T, partitions int) *world {
	t.Helper()
	c := clickhouse.DefaultConfig()
	c.Cluster, c.Shards = testkit.Cluster, strings.Join(testkit.ClickHouseShards(t), ";")
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	var brokers []string
	if partitions > 0 {
		brokers = testkit.Kafka(t)
	}
	return newWorldOn(t, conn, brokers, partitions)
}

func (w *world) onShards(t *testing.T) *sink.Shards[sink.Item, *sink.Answers] {
	t.Helper()
	target, err := sink.OnShards(w.conn, prometheus.NewRegistry(), func(shard *clickhouse.Conn, registerer prometheus.Registerer) *sink.Answers {
		return sink.New(shard, registerer, logTo(t))
	})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// here is how many answers one shard has.
func (w *world) here(t *testing.T, shard int) (n uint64) {
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

// Partitions go to different shards, a crash leaves a plan that names its shard, and each answer counts once wherever it is.
func TestEachAnswerOnceOnTwoShards(t *testing.T) {
	t.Parallel()
	w := newShardedWorld(t, 3)
	for partition := range 3 {
		w.tellTo(t, partition, answers(t, 20*partition, 20*partition+20)...)
		w.tellTo(t, partition, answers(t, 20*partition+10, 20*partition+20)...) // told again
		w.tellTo(t, partition, answers(t, 100+5*partition, 105+5*partition)...)
	}
	for _, after := range []bool{false, true} {
		c := &crashing[sink.Item]{Target: w.onShards(t), batch: 3, after: after, crashed: make(chan struct{})}
		w.consume(t, c, small, func(*consume.Consumer[sink.Item]) bool {
			select {
			case <-c.crashed:
				return true
			default:
				return false
			}
		})
	}
	w.consume(t, w.onShards(t), small, func(*consume.Consumer[sink.Item]) bool {
		return w.number(t, "SELECT toUInt64(sum(last_offset + 1)) FROM (SELECT max(last_offset) AS last_offset FROM log_progress GROUP BY log_partition)") == 3*35
	})
	for partition := range 3 {
		w.tellTo(t, partition, answers(t, 200+6*partition, 206+6*partition)...)
	}
	w.consume(t, w.onShards(t), small, func(*consume.Consumer[sink.Item]) bool {
		return w.number(t, "SELECT toUInt64(sum(last_offset + 1)) FROM (SELECT max(last_offset) AS last_offset FROM log_progress GROUP BY log_partition)") == 3*41
	})
	w.wantEachOnce(t, 93)
	if first, second := w.here(t, 0), w.here(t, 1); first == 0 || second == 0 || first+second != 93 {
		t.Errorf("%d answers on the first shard and %d on the second, want both to have some of 93", first, second)
	}
}

// A shard was added while a batch was open: it is replayed where it was planned for, and what landed there is known to the
// batches of the partition that land elsewhere.
func TestABatchLandsOnTheShardOfItsPlan(t *testing.T) {
	t.Parallel()
	w := newShardedWorld(t, 0)
	land := func(shard int, first int64, from, to int) error {
		t.Helper()
		target := w.onShards(t)
		b := &consume.Batch[sink.Item]{Topic: w.topic, Partition: 1, First: first, Last: first + int64(to-from) - 1, Plan: consume.Plan{Shard: shard}}
		for i, value := range answers(t, from, to) {
			item, _, err := target.Read(target.Version(), consume.Record{Topic: w.topic, Partition: 1, Offset: first + int64(i), Value: value, Time: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			b.Items = append(b.Items, item)
		}
		return target.Land(t.Context(), b, func() error { return nil })
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

// The server of a shard refuses a record: the search goes on there, in twins of what it has, and the others of the batch land
// there.
func TestARecordThatAShardRefuses(t *testing.T) {
	t.Parallel()
	all := newShardedWorld(t, 0)
	second, err := all.conn.Shard(1)
	if err != nil {
		t.Fatal(err)
	}
	w := *all
	w.conn = second
	w.exec(t, "CREATE MATERIALIZED VIEW refusing TO log_progress_local AS SELECT '' AS log_topic, 0 AS log_partition, toInt64(throwIf("+poisoned+")) AS last_offset FROM citations_local")
	s := w.sink(t)
	records := mixed(0)
	for tries := range 2 { // the second is after a crash
		b := w.logged(t, s, 0, records...)
		b.Tries = tries
		if err := s.Land(t.Context(), b, ours); err != nil {
			t.Fatal(err)
		}
	}
	w.noProbes(t)
	letters := w.letters(t)
	for i, a := range records {
		if l, dead := letters[int64(i)]; dead != (a.Platform == "poison") || dead && l.Reason != "refused" {
			t.Errorf("record %d: dead letter %v, %q", i, dead, l.Reason)
		}
	}
	if first, second := all.here(t, 0), all.here(t, 1); first != 0 || second != 3 {
		t.Errorf("%d answers on the first shard and %d on the second, want 0 and 3", first, second)
	}
	suspects, err := clickhouse.Suspects(t.Context(), all.conn)
	if err != nil || len(suspects) != 2 || suspects[0].Landing != "answers" {
		t.Errorf("suspects are %+v, %v", suspects, err)
	}
	if err := clickhouse.SettleSuspects(t.Context(), all.conn, suspects); err != nil {
		t.Error(err)
	}
	if left, err := clickhouse.Suspects(t.Context(), all.conn); err != nil || len(left) > 0 {
		t.Errorf("left are %+v, %v", left, err)
	}
}
