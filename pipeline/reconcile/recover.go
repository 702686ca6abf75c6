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

// Recovered counts the records of a month that the log still has.
type Recovered struct {
	Read      int `json:"read"`
	Present   int `json:"present"`   // whose rows were not lost
	Recovered int `json:"recovered"` // whose rows are back; the rest are dead letters or of deleted brands
	// Records that were appended before LogBegins may have expired; zero: none.
	LogBegins time.Time `json:"log_begins_at,omitzero"`
}

// Recover puts back the rows of a month that a landing table has lost with a broken part, if the log still has the
// records, and calls step for each record that it reads. It may run beside sinks, be killed at any point, and run
// again.
//
// The rows return to the positions that they had, past the views, whose targets have counted them. If a record were
// appended once more, the targets would count it twice, and a sink that has its id in memory would drop it.
func Recover[R sink.Row](
	ctx context.Context, c *Reconciler, s *sink.Sink[R], month clickhouse.Month, step func(done, total int64),
) (result Recovered, err error) {
	lead := c.db.NewLeader("reconcile")
	defer func() { err = errors.Join(err, lead.Close()) }()
	if err := awaitLead(ctx, lead); err != nil {
		return result, err
	}
	landing := s.Table().Name
	frozen, err := c.frozen(ctx, landing, month)
	if err == nil && frozen[month.First()] {
		err = fmt.Errorf("recover %s of %s: %w", month, landing, sink.ErrFrozen)
	}
	if err != nil {
		return result, err
	}
	from := c.cfg.Sinks[slices.IndexFunc(c.cfg.Sinks, func(s consume.SinkGroup) bool { return s.Landing == landing })]
	spans, err := consume.LandedSince(ctx, c.cfg.Connection, from, month.First().Add(-appendedBefore))
	if err != nil {
		return result, err
	}
	done, total := int64(0), int64(0)
	for _, span := range spans {
		total += span.End - span.First
	}
	for _, span := range spans {
		run := &shardRun{reconciler: c, shard: consume.ShardOf(span.Partition, c.warehouse.Shards())}
		p := recovery[R]{run: run, sink: s, month: month, result: &result}
		if err := p.recover(ctx, from.Topic, span, func() { done++; step(done, total) }); err != nil {
			return result, fmt.Errorf("recover %s of %s, partition %d: %w", month, landing, span.Partition, err)
		}
	}
	return result, nil
}

// appendedBefore is how long before the time of its fact a record may have been appended, with a day for clocks that
// differ.
const appendedBefore = 48 * time.Hour

// Bounds of the records that are looked up at once.
const (
	recordsAtOnce = 20_000
	bytesAtOnce   = 16 << 20
)

// recovery puts back the rows of a month from one partition of the log, at its shard.
type recovery[R sink.Row] struct {
	run     *shardRun
	sink    *sink.Sink[R]
	month   clickhouse.Month
	staging *rollup.Staging
	items   []sink.Item[R] // of records of the month, to be looked up
	bytes   int            // of these records
	result  *Recovered
}

func (p *recovery[R]) recover(ctx context.Context, topic string, span consume.Span, read func()) (err error) {
	c := p.run.reconciler
	if p.run.conn, err = c.warehouse.Shard(p.run.shard); err != nil {
		return err
	}
	if err := rollup.DropRebuilds(ctx, p.run.conn); err != nil { // of a recovery that was killed, too
		return err
	}
	if p.staging, err = rollup.Stage(ctx, p.run.conn, p.sink.Table().Name); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.staging.Close(context.WithoutCancel(ctx))) }()
	begins := time.Now() // if all has expired
	err = consume.Read(ctx, c.cfg.Connection, topic, span, func(record consume.Record) error {
		if record.Offset == span.First {
			begins = record.Time.UTC()
		}
		read()
		return p.add(ctx, record)
	})
	if span.Expired && begins.After(p.result.LogBegins) {
		p.result.LogBegins = begins
	}
	if err != nil {
		return err
	}
	return p.putBack(ctx)
}

func (p *recovery[R]) add(ctx context.Context, record consume.Record) error {
	item, month, err := p.sink.Decode(p.sink.Version(), record)
	if err != nil || month != int(p.month) {
		return err
	}
	p.items, p.bytes = append(p.items, item), p.bytes+len(record.Value)
	if len(p.items) < recordsAtOnce && p.bytes < bytesAtOnce {
		return nil
	}
	return p.putBack(ctx)
}

// putBack inserts the missing rows of the items. The items are looked up beside the sinks, and only if rows are missing
// once more while the sinks stand still.
func (p *recovery[R]) putBack(ctx context.Context) error {
	if len(p.items) == 0 {
		return nil
	}
	missing, err := p.sink.Missing(ctx, p.run.conn, p.items, nil)
	if err == nil && len(missing.Rows) > 0 {
		err = p.run.locked(ctx, work{
			prepare: p.run.conn.CatchUp,
			do: func(ctx context.Context, lock *postgres.ExclusiveSinkLock) (err error) {
				missing, err = p.sink.Missing(ctx, p.run.conn, p.items, borrowedLock{lock})
				if err != nil || len(missing.Rows) == 0 {
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

// attach adds rows to the landing table, and to no target of its views.
func (p *recovery[R]) attach(ctx context.Context, lock *postgres.ExclusiveSinkLock, rows []R) error {
	if err := p.staging.Clear(ctx); err != nil {
		return err
	}
	if err := p.sink.Table().InDatabase(p.staging.Database()).Insert(ctx, p.run.conn, "recover", rows); err != nil {
		return err
	}
	return p.run.replaceLocked(ctx, lock, func(ctx context.Context) error { return p.staging.Attach(ctx, p.month) })
}

// borrowedLock is the exclusive lock as a consume.SinkLock that its owner releases.
type borrowedLock struct{ *postgres.ExclusiveSinkLock }

func (borrowedLock) Release() {}
