package sink_test

import (
	"strings"
	"testing"
	"time"

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
		c := &crashing[sink.Answer]{Target: w.sink(t), batch: 3, after: after, crashed: make(chan struct{})}
		w.consume(t, c, small, func(*consume.Consumer[sink.Answer]) bool {
			select {
			case <-c.crashed:
				return true
			default:
				return false
			}
		})
	}
	w.consume(t, w.sink(t), small, func(*consume.Consumer[sink.Answer]) bool {
		return w.number(t, "SELECT toUInt64(sum(last_offset + 1)) FROM (SELECT max(last_offset) AS last_offset FROM log_progress GROUP BY log_partition)") == 3*35
	})
	for partition := range 3 {
		w.tellTo(t, partition, answers(t, 200+6*partition, 206+6*partition)...)
	}
	w.consume(t, w.sink(t), small, func(*consume.Consumer[sink.Answer]) bool {
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
		target := w.sink(t)
		b := &consume.Batch[sink.Answer]{Topic: w.topic, Partition: 1, First: first, Last: first + int64(to-from) - 1, Plan: consume.Plan{Shard: shard}}
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
