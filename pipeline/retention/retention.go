// Package retention lets raw facts expire, a month at a time.
//
// A month is frozen before its landing rows may go: entered in Postgres, for ever,
// while no sink has a batch under way. From then on no record of it lands, so that
// its rollups, which stay, are never compared or corrected by rows that are half
// gone. Only then does the warehouse's TTL name it.
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Config says for how long raw facts are kept, and whose sinks are stopped to freeze
// a month.
type Config struct {
	producer.Connection
	Answers     int // whole months that raw answers are kept beside the present one; 0: for ever
	Visits      int // the same of visits
	Crawls      int // the same of crawls
	DeadLetters int // the same of dead letters, by the time of their record on the log
	Sinks       []Sink
	Patience    time.Duration // for the sinks to end their batches
}

// Sink is a consumer group that lands a topic, both with the configured prefix.
type Sink struct{ Group, Topic string }

// DefaultConfig keeps everything for ever. It needs Brokers and Sinks.
func DefaultConfig() Config { return Config{Patience: 5 * time.Second} }

// Validate says what is wrong with c, all at once.
func (c Config) Validate() error {
	errs := []error{c.Connection.Validate()}
	for _, m := range []struct {
		name   string
		months int
	}{{"answers", c.Answers}, {"visits", c.Visits}, {"crawls", c.Crawls}, {"dead letters", c.DeadLetters}} {
		if m.months < 0 {
			errs = append(errs, fmt.Errorf("retention of %s %d: want whole months, 0 for ever", m.name, m.months))
		}
	}
	if len(c.Sinks) == 0 {
		errs = append(errs, errors.New("retention sinks: want those that land what is frozen"))
	}
	if c.Patience <= 0 {
		errs = append(errs, fmt.Errorf("retention patience %v: want more than 0", c.Patience))
	}
	return errors.Join(errs...)
}

// Retention lets months expire.
type Retention struct {
	cfg       Config
	db        *postgres.DB
	warehouse *clickhouse.Conn
	now       func() time.Time
	frozen    *prometheus.GaugeVec // by topic
	log       *slog.Logger
}

// New does nothing yet. now is the clock.
func New(cfg Config, db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time, registerer prometheus.Registerer, log *slog.Logger) (*Retention, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	frozen := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "answerscope_retention_frozen_before_timestamp_seconds",
		Help: "First instant, in Unix time, of a topic's first month that is not frozen: raw facts before it expire. Absent where none is frozen."}, []string{"topic"})
	registerer.MustRegister(frozen)
	return &Retention{cfg, db, warehouse, now, frozen, log}, nil
}

// topic is what expires of one topic.
type topic struct {
	name   string // without prefix
	months int
	table  clickhouse.Expiring
}

func (r *Retention) topics() []topic {
	return []topic{
		{event.TopicAnswers, r.cfg.Answers, clickhouse.ExpiringAnswers},
		{event.TopicVisits, r.cfg.Visits, clickhouse.ExpiringVisits},
		{event.TopicCrawls, r.cfg.Crawls, clickhouse.ExpiringCrawls},
	}
}

// Enforce freezes the months that are past their time and lets what is frozen go.
// It does nothing where all of it is done. Sinks that are busy for longer than
// Config.Patience are an error, after which the next time is soon enough: a month too
// many is kept meanwhile.
func (r *Retention) Enforce(ctx context.Context) error {
	now, err := r.sureOf(ctx)
	if err != nil {
		return err
	}
	return errors.Join(r.freeze(ctx, now), r.expire(ctx, now)) // what was frozen before waits for nobody
}

// sureOf is the time that has come by this machine's clock and by Postgres's: what is
// frozen stays frozen, and one clock that is years ahead must not take years away.
func (r *Retention) sureOf(ctx context.Context) (time.Time, error) {
	theirs, err := r.db.Now(ctx)
	if ours := r.now(); err == nil && ours.Before(theirs) {
		return ours, nil
	}
	return theirs, err
}

// expire names to the warehouse what may go.
func (r *Retention) expire(ctx context.Context, now time.Time) error {
	for _, t := range r.topics() {
		before, err := r.db.FrozenBefore(ctx, t.name)
		if err != nil {
			return err
		}
		if before.IsZero() {
			continue
		}
		r.frozen.WithLabelValues(t.name).Set(float64(before.Unix()))
		if err := clickhouse.Expire(ctx, r.warehouse, t.table, before); err != nil {
			return err
		}
	}
	if r.cfg.DeadLetters == 0 {
		return nil
	}
	return clickhouse.Expire(ctx, r.warehouse, clickhouse.ExpiringDeadLetters, keptFrom(now, r.cfg.DeadLetters))
}

// keptFrom is the first day that is kept: the present month and so many before it.
func keptFrom(now time.Time, months int) time.Time {
	return postgres.MonthOf(now).AddDate(0, -months, 0)
}

// freeze enters the months of every topic that are past their time.
func (r *Retention) freeze(ctx context.Context, now time.Time) error {
	past := map[string]time.Time{}
	for _, t := range r.topics() {
		if t.months == 0 {
			continue
		}
		before, err := r.db.FrozenBefore(ctx, t.name)
		if err != nil {
			return err
		}
		// Where all that there may be is kept, the sinks are not stopped for nothing.
		if kept := keptFrom(now, t.months); kept.After(postgres.FirstMonth) && before.Before(kept) {
			past[t.name] = kept
		}
	}
	if len(past) == 0 {
		return nil
	}
	return r.still(ctx, func(stop *postgres.ExclusiveSinkLock) error {
		if err := r.settled(ctx, past); err != nil {
			return err
		}
		for topic, before := range past {
			months, err := stop.Freeze(ctx, topic, before)
			if err != nil {
				return err
			}
			r.log.Info("months frozen", "topic", topic, "before", before.Format(time.DateOnly), "months", months)
		}
		return nil
	})
}

// settled wants that no month which is past has figures of a record that ClickHouse
// refused: once it is frozen nobody mends them.
func (r *Retention) settled(ctx context.Context, past map[string]time.Time) error {
	suspects, err := clickhouse.Suspects(ctx, r.warehouse)
	if err != nil {
		return err
	}
	for _, t := range r.topics() {
		for _, s := range suspects {
			month := clickhouse.Month(s.Month)
			if s.Landing == t.table.Table && month.First().Before(past[t.name]) {
				return fmt.Errorf("freeze month %s of %s: not reconciled since record %s/%d@%d was refused or landed late", month, t.name, s.Topic, s.Partition, s.Offset)
			}
		}
	}
	return nil
}

// still does something while no sink of any shard has a batch under way or planned:
// a batch that is repeated after a crash must find its months as it found them first.
func (r *Retention) still(ctx context.Context, do func(*postgres.ExclusiveSinkLock) error) (err error) {
	stop, err := r.db.LockSinksExclusive(ctx, 0, r.cfg.Patience)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop.Release()) }()
	for shard := 1; shard < r.warehouse.Shards(); shard++ {
		if err := stop.AddShard(ctx, shard); err != nil {
			return err
		}
	}
	for _, sink := range r.cfg.Sinks {
		open, err := consume.Planned(ctx, r.cfg.Connection, sink.Group, sink.Topic)
		if err != nil {
			return err
		}
		if len(open) > 0 {
			return fmt.Errorf("batch %s/%d@%d is planned and has not landed: %w", sink.Topic, open[0].Partition, open[0].First, postgres.ErrSinksBusy)
		}
	}
	return do(stop)
}
