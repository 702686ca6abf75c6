package sink

import (
	"context"
	"fmt"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Shards lands each batch on the shard that its plan names: there it is inserted, and
// from there it is looked up what has landed before, on whichever shard.
type Shards[T any, S consume.Target[T]] struct {
	conn    *clickhouse.Conn
	targets []S
}

// OnShards makes a target for each shard of a warehouse; of one server there is one.
// The metrics of several are told apart by the label shard.
func OnShards[T any, S consume.Target[T]](conn *clickhouse.Conn, registerer prometheus.Registerer, on func(*clickhouse.Conn, prometheus.Registerer) S) (*Shards[T, S], error) {
	s := &Shards[T, S]{conn: conn}
	for n := range conn.Shards() {
		shard, err := conn.Shard(n)
		if err != nil {
			return nil, err
		}
		labelled := registerer
		if conn.Shards() > 1 {
			labelled = prometheus.WrapRegistererWith(prometheus.Labels{"shard": strconv.Itoa(n)}, registerer)
		}
		s.targets = append(s.targets, on(shard, labelled))
	}
	return s, nil
}

// Version is the extract version that new plans name.
func (s *Shards[T, S]) Version() int { return s.targets[0].Version() }

// Supports says whether a plan of that version can be replayed.
func (s *Shards[T, S]) Supports(version int) bool { return s.targets[0].Supports(version) }

// Read makes the item of a record, which is the same on every shard.
func (s *Shards[T, S]) Read(version int, r consume.Record) (item T, month int, err error) {
	return s.targets[0].Read(version, r)
}

// Land lands a batch on its shard.
func (s *Shards[T, S]) Land(ctx context.Context, b *consume.Batch[T], ours func() error) error {
	if b.Plan.Shard < 0 || b.Plan.Shard >= len(s.targets) {
		return fmt.Errorf("batch %s is of shard %d, and there are %d, counted from 0", b, b.Plan.Shard, len(s.targets))
	}
	return s.targets[b.Plan.Shard].Land(ctx, b, ours)
}

// Position is the largest offset of a partition that has landed on any shard. The
// target of the partition's own is asked (consume.ShardOf), since it remembers. It
// is asked when a partition is begun: what somebody else inserted at another replica is
// waited for, since the lookups of its batches must find it.
func (s *Shards[T, S]) Position(ctx context.Context, topic string, partition int32) (last int64, ok bool, err error) {
	for n := range s.targets {
		shard, err := s.conn.Shard(n)
		if err == nil {
			err = shard.CatchUp(ctx)
		}
		if err != nil {
			return 0, false, fmt.Errorf("shard %d: %w", n, err)
		}
	}
	return s.targets[consume.ShardOf(partition, len(s.targets))].Position(ctx, topic, partition)
}
