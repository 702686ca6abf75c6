package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// RetentionConfig has the months for which raw facts are kept, beside the current one (0: indefinitely), and the sinks
// that stand still while a month is frozen.
type RetentionConfig struct {
	producer.Connection
	Months      map[string]int // by topic; a topic that is not in it is kept
	DeadLetters int            // months, by the time of the record on the log
	Sinks       []consume.SinkGroup
	lockTimeout time.Duration // for the sinks to end their batches
}

// DefaultRetention keeps everything indefinitely. It lacks Brokers and Sinks.
func DefaultRetention() RetentionConfig {
	return RetentionConfig{Months: map[string]int{}, lockTimeout: 5 * time.Second}
}

// Validate joins all errors of c.
func (c RetentionConfig) Validate() error {
	errs := []error{c.Connection.Validate()}
	months := map[string]int{"dead letters": c.DeadLetters}
	maps.Copy(months, c.Months)
	for _, name := range slices.Sorted(maps.Keys(months)) {
		if months[name] < 0 {
			err := fmt.Errorf("retention of %s %d: want whole months, or 0 to keep everything", name, months[name])
			errs = append(errs, err)
		}
	}
	if len(c.Sinks) == 0 {
		errs = append(errs, errors.New("retention sinks: want all that insert"))
	}
	return errors.Join(errs...)
}

// Retention lets raw facts expire, a month at a time.
//
// A month is frozen before its landing rows expire: entered in Postgres, permanently, while no sink has a batch under
// way. From then on no record of it is inserted, so that its rollups, which stay, are never compared with or corrected
// by a part of the rows. Only then does the warehouse's TTL include the month.
type Retention struct {
	cfg       RetentionConfig
	db        *postgres.DB
	warehouse *clickhouse.Conn
	now       func() time.Time
	frozen    *prometheus.GaugeVec // by topic
	log       *slog.Logger
}

// NewRetention returns a Retention, or an error of the configuration. now is the clock.
func NewRetention(
	cfg RetentionConfig, db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time,
	registerer prometheus.Registerer, log *slog.Logger,
) (*Retention, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	frozen := promauto.With(registerer).NewGaugeVec(prometheus.GaugeOpts{
		Name: "answerscope_retention_frozen_before_timestamp_seconds",
		Help: "First instant, in Unix time, of a topic's first month that is not frozen: raw facts before it expire. " +
			"Absent where none is frozen.",
	}, []string{"topic"})
	return &Retention{cfg, db, warehouse, now, frozen, log}, nil
}

// Enforce freezes the months that are past their time and lets frozen months expire. Sinks that are busy for longer
// than lockTimeout are an error; the next run is soon enough, since a month is only kept for longer.
func (r *Retention) Enforce(ctx context.Context) error {
	now, err := r.earlierClock(ctx)
	if err != nil {
		return err
	}
	return errors.Join(r.freeze(ctx, now), r.expire(ctx, now)) // earlier frozen months expire in any case
}

// earlierClock is the earlier of this machine's time and Postgres's: a frozen month stays frozen, so one clock that is
// years ahead must not freeze years.
func (r *Retention) earlierClock(ctx context.Context) (time.Time, error) {
	database, err := r.db.Now(ctx)
	if local := r.now(); err == nil && local.Before(database) {
		return local, nil
	}
	return database, err
}

// expire sets the TTLs of the warehouse.
func (r *Retention) expire(ctx context.Context, now time.Time) error {
	for _, t := range event.Topics {
		before, err := r.db.FrozenBefore(ctx, t.Name)
		if err != nil {
			return err
		}
		if before.IsZero() {
			continue
		}
		r.frozen.WithLabelValues(t.Name).Set(float64(before.Unix()))
		if err := clickhouse.Expire(ctx, r.warehouse, clickhouse.ExpiringLanding(t.Name), before); err != nil {
			return err
		}
	}
	if r.cfg.DeadLetters == 0 {
		return nil
	}
	return clickhouse.Expire(ctx, r.warehouse, clickhouse.ExpiringDeadLetters, firstKept(now, r.cfg.DeadLetters))
}

// firstKept is the first day that is kept, with so many months before the current one.
func firstKept(now time.Time, months int) time.Time {
	return postgres.MonthOf(now).AddDate(0, -months, 0)
}

// freeze freezes the months of every topic that are past their time.
func (r *Retention) freeze(ctx context.Context, now time.Time) error {
	past := map[string]time.Time{}
	for _, t := range event.Topics {
		if r.cfg.Months[t.Name] == 0 {
			continue
		}
		before, err := r.db.FrozenBefore(ctx, t.Name)
		if err != nil {
			return err
		}
		// Where every possible month is kept, the sinks are not stopped.
		if first := firstKept(now, r.cfg.Months[t.Name]); first.After(postgres.FirstMonth) && before.Before(first) {
			past[t.Name] = first
		}
	}
	if len(past) == 0 {
		return nil
	}
	return r.withSinksStopped(ctx, func(lock *postgres.ExclusiveSinkLock) error {
		if err := r.checkReconciled(ctx, past); err != nil {
			return err
		}
		for topic, before := range past {
			months, err := lock.Freeze(ctx, topic, before)
			if err != nil {
				return err
			}
			r.log.Info("months frozen", "topic", topic, "before", before.Format(time.DateOnly), "months", months)
		}
		return nil
	})
}

// checkReconciled refuses to freeze a suspect month, since a frozen month is never reconciled.
func (r *Retention) checkReconciled(ctx context.Context, past map[string]time.Time) error {
	suspects, err := clickhouse.Suspects(ctx, r.warehouse)
	if err != nil {
		return err
	}
	for _, t := range event.Topics {
		for _, s := range suspects {
			if s.Landing == t.Name && s.Month.First().Before(past[t.Name]) {
				return fmt.Errorf("freeze month %s of %s: not reconciled since the repeated batch at %s",
					s.Month, t.Name, s.LogPosition)
			}
		}
	}
	return nil
}

// withSinksStopped calls f while no sink of any shard has a batch under way or planned: the replay of a batch must find
// its months as its first insert did.
func (r *Retention) withSinksStopped(ctx context.Context, f func(*postgres.ExclusiveSinkLock) error) (err error) {
	lock, err := r.db.LockSinksExclusive(ctx, 0, r.cfg.lockTimeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	for shard := 1; shard < r.warehouse.Shards(); shard++ {
		if err := lock.AddShard(ctx, shard); err != nil {
			return err
		}
	}
	if err := consume.CheckNoPlan(ctx, r.cfg.Connection, r.cfg.Sinks); err != nil {
		return err
	}
	return f(lock)
}
