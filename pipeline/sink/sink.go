// Package sink turns a batch of the log into one ClickHouse insert.
//
// The rows of a batch depend on its plan, its records, and landing rows below it; never on the clock or on the progress
// of another consumer. So the replay of a batch is the same rows, of which those are inserted that the landing table
// lacks.
package sink

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Sink is the consume.Target of one topic. It is safe for concurrent use.
type Sink[R Row] struct {
	topic  topic[R]
	conn   *clickhouse.Conn
	shards []shard
	cache  *visitCache // nil except of visits
	log    *slog.Logger
}

// Row is a row of a landing table.
type Row interface {
	Key() clickhouse.Key
	Month() clickhouse.Month // by whose parts it lands
	Offset() int64           // of its record
}

// topic is what differs between the topics.
type topic[R Row] struct {
	name     string // without its prefix
	table    clickhouse.Table[R]
	version  int // that new plans name: of the extractor, where there is one
	supports func(version int) bool
	decode   func(version int, r consume.Record) (row R, reread bool, err error)
	landed   func(context.Context, *clickhouse.Conn, []clickhouse.Key, clickhouse.LogLimit) (map[clickhouse.Key]bool, error)

	// Of a topic with rereads: the current rows of ids; what a reread makes of one, nothing if it is outdated; and which
	// of the ids that have landed still have their first row.
	current func(context.Context, *clickhouse.Conn, []clickhouse.Key, clickhouse.LogLimit) (map[clickhouse.Key]*R, error)
	correct func(current, reread *R) []R
	counted func(context.Context, *clickhouse.Conn, []clickhouse.Key, clickhouse.LogLimit) (map[clickhouse.Key]bool, error)
}

// shard is what a sink keeps of one server of the warehouse.
type shard struct {
	metrics *metrics
	writers chan struct{} // one for every insert under way
}

// writers bounds the inserts of a shard that are under way at once. Two keep two cores
// busy while others wait for the disk, and more only share what there is.
const writers = 4

// newSink labels the metrics of several shards with the shard.
func newSink[R Row](t topic[R], conn *clickhouse.Conn, registerer prometheus.Registerer, log *slog.Logger) *Sink[R] {
	s := &Sink[R]{topic: t, conn: conn, log: log}
	for n := range conn.Shards() {
		labelled := registerer
		if conn.Shards() > 1 {
			labelled = prometheus.WrapRegistererWith(prometheus.Labels{"shard": strconv.Itoa(n)}, registerer)
		}
		s.shards = append(s.shards, shard{newMetrics(labelled, t.table.Name), make(chan struct{}, writers)})
	}
	return s
}

// Version is what new plans name.
func (s *Sink[R]) Version() int { return s.topic.version }

// Supports says whether a plan of that version can be replayed.
func (s *Sink[R]) Supports(version int) bool { return s.topic.supports(version) }

// Insert inserts a batch on the shard that its plan names.
func (s *Sink[R]) Insert(ctx context.Context, b *consume.Batch[Item[R]], checkOwnership func() error) error {
	conn, err := s.conn.Shard(b.Plan.Shard)
	if err != nil {
		return fmt.Errorf("batch %s: %w", b, err)
	}
	in := insertion[R]{Sink: s, Batch: b, conn: conn, shard: s.shards[b.Plan.Shard], checkOwnership: checkOwnership}
	for _, step := range []func(context.Context) error{in.dispose, in.deduplicate, in.insert, in.mark} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// insertion is a batch on its way into the landing table.
type insertion[R Row] struct {
	*Sink[R]
	*consume.Batch[Item[R]]
	conn           *clickhouse.Conn // of the shard
	shard          shard
	checkOwnership func() error // is called before each insert

	dispositions []disposition // of the items
	deadLetters  []clickhouse.DeadLetter
	rows         []R
	outcomes     outcomes
	cached       *visitIDs // of visits: those below the batch, and its own
}

// below hides the batch's own rows and those after it, so that a replay finds what the first try found.
func (in *insertion[R]) below() clickhouse.LogLimit {
	return clickhouse.LogLimit(in.position(in.First))
}

func (in *insertion[R]) position(offset int64) clickhouse.LogPosition {
	return clickhouse.LogPosition{Topic: in.Batch.Topic, Partition: in.Partition, Offset: offset}
}

// LastOffset is the largest offset of a partition that has landed on any shard. It is asked when a partition is begun:
// replicas catch up first, since the lookups of its batches must find what another consumer inserted at another
// replica.
func (s *Sink[R]) LastOffset(ctx context.Context, topic string, partition int32) (last int64, ok bool, err error) {
	for n := range s.shards {
		conn, err := s.conn.Shard(n)
		if err == nil {
			err = conn.CatchUp(ctx)
		}
		if err != nil {
			return 0, false, fmt.Errorf("shard %d: %w", n, err)
		}
	}
	conn, err := s.conn.Shard(consume.ShardOf(partition, len(s.shards)))
	if err != nil {
		return 0, false, err
	}
	last, ok, err = clickhouse.LastOffset(ctx, conn, topic, partition)
	if err != nil || s.cache == nil {
		return last, ok, err
	}
	next := int64(0)
	if ok {
		next = last + 1
	}
	return last, ok, s.cache.warm(ctx, conn, clickhouse.LogLimit{Topic: topic, Partition: partition, Offset: next})
}
