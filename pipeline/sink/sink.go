// Package sink turns a batch of the log into one ClickHouse insert.
//
// The rows of a batch depend on its plan, its records, and landing rows below it; never on the clock or on the progress
// of another consumer. So a replay makes the same rows, and inserts those that the landing table lacks.
package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Sink is the consume.Target of one topic. It is safe for concurrent use.
type Sink[R Row] struct {
	topic  topic[R]
	conn   *clickhouse.Conn
	shards []shard
	cache  *visitCache // nil for other topics than visits
	log    *slog.Logger
}

// Row is a row of a landing table.
type Row interface {
	Key() clickhouse.Key
	Month() clickhouse.Month // its partition in the landing table
	Offset() int64           // of its record
}

// topic describes how the records of one topic become rows.
type topic[R Row] struct {
	name     string // without its prefix
	table    clickhouse.Table[R]
	version  int // in new plans: of the extractor, or noExtractor
	supports func(version int) bool
	decode   func(version int, r consume.Record) (row R, reread bool, err error)
	landed   lookUp[bool]

	// Only for a topic with rereads:
	current lookUp[*R]                   // the current rows of ids
	correct func(current, reread *R) []R // the rows of a correction; none if the reread is outdated
	counted lookUp[bool]                 // ids that have landed and still have their first row
}

// lookUp finds ids among the rows below a position of the log.
type lookUp[V any] func(
	context.Context, *clickhouse.Conn, []clickhouse.Key, clickhouse.LogLimit,
) (map[clickhouse.Key]V, error)

// shard is one server of the warehouse.
type shard struct {
	metrics *metrics
	writers chan struct{} // a token for each insert under way
}

// writers bounds the concurrent inserts of a shard. Two keep two cores busy while others wait for the disk; more only
// share the same resources.
const writers = 4

// newSink adds a label to the metrics if there are several shards.
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

// Version is the extract version of new plans.
func (s *Sink[R]) Version() int { return s.topic.version }

// Supports reports whether a plan of that version can be replayed.
func (s *Sink[R]) Supports(version int) bool { return s.topic.supports(version) }

// Insert inserts a batch on the shard that its plan names.
func (s *Sink[R]) Insert(ctx context.Context, b *consume.Batch[Item[R]], checkOwnership func() error) error {
	conn, err := s.conn.Shard(b.Plan.Shard)
	if err != nil {
		return fmt.Errorf("batch %s: %w", b, err)
	}
	in := insertion[R]{sink: s, batch: b, conn: conn, shard: s.shards[b.Plan.Shard], checkOwnership: checkOwnership}
	for _, step := range []func(context.Context) error{in.dispose, in.deduplicate, in.start, in.insert, in.mark} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if lock, ok := b.Lock.(batchLock); ok {
		lock.Landed()
	}
	return nil
}

// A batchLock is a shared sink lock, which records what a batch changes.
type batchLock interface {
	Start(ctx context.Context, topic string, partition int32, brands []uuid.UUID) error
	Landed()
}

func (in *insertion[R]) start(ctx context.Context) error {
	if lock, ok := in.batch.Lock.(batchLock); ok {
		return lock.Start(ctx, in.sink.topic.name, in.batch.Partition, in.brands)
	}
	return nil
}

// insertion is a batch on its way into the landing table.
type insertion[R Row] struct {
	sink           *Sink[R]
	batch          *consume.Batch[Item[R]]
	conn           *clickhouse.Conn // of the shard
	shard          shard
	checkOwnership func() error // is called before each insert

	brands       []uuid.UUID
	dispositions []disposition // of the items
	deadLetters  []clickhouse.DeadLetter
	rows         []R
	outcomes     outcomes
	cached       *visitIDs // of visits: the ids below the batch, and its own
}

// below limits lookups to rows before the batch, so that a replay finds the same rows as the first attempt.
func (in *insertion[R]) below() clickhouse.LogLimit {
	return clickhouse.LogLimit(in.position(in.batch.First))
}

func (in *insertion[R]) position(offset int64) clickhouse.LogPosition {
	return clickhouse.LogPosition{Topic: in.batch.Topic, Partition: in.batch.Partition, Offset: offset}
}

// LastOffset is the largest offset of a partition that has landed on any shard. It is called when a partition begins.
// Replicas catch up first, since the lookups of its batches must find the rows that another consumer inserted at
// another replica.
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

// Table is the landing table.
func (s *Sink[R]) Table() clickhouse.Table[R] { return s.topic.table }

// Missing has the rows that the landing table has lost of some landed records.
type Missing[R Row] struct {
	Rows    []R
	Records int // that make the rows
	Present int // records that lack nothing
}

// Missing finds lost rows, as after the loss of a part. It takes the steps of a batch up to deduplication, but reads
// all rows of all partitions: an id may have come once more since. Rows of the month come back as they were, also
// corrections, except one between two that were kept. With a lock, rows of deleted brands are left out; under the
// exclusive lock the result stays true.
func (s *Sink[R]) Missing(
	ctx context.Context, conn *clickhouse.Conn, items []Item[R], lock consume.SinkLock,
) (Missing[R], error) {
	recovering := *s
	recovering.cache = nil // it has ids of lost rows
	if s.topic.counted != nil {
		recovering.topic.landed = s.topic.counted
	}
	batch := &consume.Batch[Item[R]]{Items: items, Lock: lock, FetchAll: isFrozen}
	in := insertion[R]{sink: &recovering, conn: conn, batch: batch}
	if err := in.dispose(ctx); err != nil {
		return Missing[R]{}, err
	}
	err := in.deduplicate(ctx)
	o := in.outcomes
	return Missing[R]{in.rows, o[inserted] + o[corrected], o[duplicate] + o[outdated]}, err
}

// ErrFrozen is returned for records of a month that has been frozen.
var ErrFrozen = errors.New("the month is frozen: its facts expire, and its sums stay")

func isFrozen(context.Context, []int64) ([]*consume.Record, error) { return nil, ErrFrozen }
