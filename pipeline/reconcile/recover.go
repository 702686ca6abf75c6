package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Recovered says what became of the records of a month that the log still has.
type Recovered struct {
	Read      int       `json:"read"`
	Present   int       `json:"present"`                // of which nothing was lost
	Recovered int       `json:"recovered"`              // whose rows are back; the rest are dead letters, or of deleted brands
	LogBegins time.Time `json:"log_begins_at,omitzero"` // records that were appended before it may have expired; zero: none
}

// Recover puts back what a landing table has lost of a month with a broken part, as far as the log still has the
// records, and calls step as it reads on. It may be run beside sinks, killed at any point, and run again.
//
// The rows come back at the positions that they had, past the views: their targets have counted them. Appended once
// more, a record would be counted twice there, and be dropped by a sink that has its id in memory.
func Recover[R sink.Row](ctx context.Context, c *Reconciler, of *sink.Sink[R], month clickhouse.Month, step func(done, total int64)) (result Recovered, err error) {
	lead := c.db.NewLeader("reconcile")
	defer func() { err = errors.Join(err, lead.Close()) }()
	if err := alone(ctx, lead); err != nil {
		return result, err
	}
	landing := of.Table().Name
	frozen, err := c.frozen(ctx, landing, month)
	if err == nil && frozen[month.First()] {
		err = fmt.Errorf("recover %s of %s: %w", month, landing, sink.ErrFrozen)
	}
	if err != nil {
		return result, err
	}
	from := c.cfg.Sinks[slices.IndexFunc(c.cfg.Sinks, func(s consume.Sink) bool { return s.Landing == landing })]
	spans, err := consume.LandedSince(ctx, c.cfg.Connection, from, month.First().Add(-appendedBefore))
	if err != nil {
		return result, err
	}
	done, total := int64(0), int64(0)
	for _, s := range spans {
		total += s.End - s.First
	}
	for _, s := range spans {
		p := partition[R]{run: run{Reconciler: c, shard: consume.ShardOf(s.Partition, c.warehouse.Shards())}, of: of, month: month, result: &result}
		if err := p.recover(ctx, from.Topic, s, func() { done++; step(done, total) }); err != nil {
			return result, fmt.Errorf("recover %s of %s, partition %d: %w", month, landing, s.Partition, err)
		}
	}
	return result, nil
}

// appendedBefore is how long before the time of its fact a record may have been appended, and a day for clocks that
// differ.
const appendedBefore = 48 * time.Hour

// Bounds of the records that are looked up at once.
const (
	recordsAtOnce = 20_000
	bytesAtOnce   = 16 << 20
)

// A partition is one of the log, whose rows of a month are recovered at its shard.
type partition[R sink.Row] struct {
	run
	of      *sink.Sink[R]
	month   clickhouse.Month
	staging *rollup.Staging
	items   []sink.Item[R] // of records of the month, to be looked up
	bytes   int            // of these records
	result  *Recovered
}

func (p *partition[R]) recover(ctx context.Context, topic string, s consume.Span, read func()) (err error) {
	if p.conn, err = p.warehouse.Shard(p.shard); err != nil {
		return err
	}
	if err := rollup.DropRebuilds(ctx, p.conn); err != nil { // also what a recovery that was killed has left
		return err
	}
	if p.staging, err = rollup.Stage(ctx, p.conn, p.of.Table().Name); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.staging.Close(context.WithoutCancel(ctx))) }()
	begins := time.Now() // if all has expired
	err = consume.Read(ctx, p.cfg.Connection, topic, s, func(record consume.Record) error {
		if record.Offset == s.First {
			begins = record.Time.UTC()
		}
		read()
		return p.take(ctx, record)
	})
	if s.Expired && begins.After(p.result.LogBegins) {
		p.result.LogBegins = begins
	}
	if err != nil {
		return err
	}
	return p.land(ctx)
}

func (p *partition[R]) take(ctx context.Context, record consume.Record) error {
	item, month, err := p.of.Decode(p.of.Version(), record)
	if err != nil || month != int(p.month) {
		return err
	}
	p.items, p.bytes = append(p.items, item), p.bytes+len(record.Value)
	if len(p.items) < recordsAtOnce && p.bytes < bytesAtOnce {
		return nil
	}
	return p.land(ctx)
}

// land puts back what is missing of the items. They are looked up beside the sinks, and only where something is missing
// once more while they stand still.
func (p *partition[R]) land(ctx context.Context) error {
	if len(p.items) == 0 {
		return nil
	}
	missing, err := p.of.Missing(ctx, p.conn, p.items, nil)
	if err == nil && len(missing.Rows) > 0 {
		err = p.locked(ctx, work{
			prepare: p.conn.CatchUp,
			left:    func(context.Context) (uint64, error) { return 0, nil },
			do: func(ctx context.Context, lock *postgres.ExclusiveSinkLock) (err error) {
				if missing, err = p.of.Missing(ctx, p.conn, p.items, lockOf{lock}); err != nil || len(missing.Rows) == 0 {
					return err
				}
				return p.attach(ctx, lock, missing.Rows)
			},
		})
	}
	if err != nil {
		return err
	}
	p.result.Read += len(p.items)
	p.result.Present += missing.Present
	p.result.Recovered += missing.Records
	p.items, p.bytes = p.items[:0], 0
	return nil
}

// attach adds rows to the landing table alone.
func (p *partition[R]) attach(ctx context.Context, lock *postgres.ExclusiveSinkLock, rows []R) error {
	if err := p.staging.Clear(ctx); err != nil {
		return err
	}
	if err := p.of.Table().InDatabase(p.staging.Database()).Insert(ctx, p.conn, "recover", rows); err != nil {
		return err
	}
	return p.replaceLocked(ctx, lock, func(ctx context.Context) error { return p.staging.Attach(ctx, p.month) })
}

// lockOf is the exclusive lock as a sink takes one; who has taken it releases it.
type lockOf struct{ *postgres.ExclusiveSinkLock }

func (lockOf) Release() {}
