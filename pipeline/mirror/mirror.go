// Package mirror copies what people edit from Postgres to the dimension tables
// of ClickHouse, within a second.
//
// A change is deleted from the outbox only after ClickHouse has it. One that is
// copied twice is the same version of the same row, of which the newest counts.
package mirror

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Config bounds one copy.
type Config struct {
	Changes int           // most that one copy takes
	Silence time.Duration // how long Postgres may say nothing: then it is asked, and then given up
}

// DefaultConfig suits every size.
func DefaultConfig() Config { return Config{Changes: 1000, Silence: 10 * time.Second} }

// Validate says what is wrong with c, all at once.
func (c Config) Validate() error {
	var errs []error
	if c.Changes < 1 {
		errs = append(errs, fmt.Errorf("mirror changes %d: want at least 1", c.Changes))
	}
	if c.Silence <= 0 {
		errs = append(errs, fmt.Errorf("mirror silence %v: want more than 0", c.Silence))
	}
	return errors.Join(errs...)
}

// standby is how often a mirror beside another one asks whether it is gone.
const standby = time.Second

// Mirror is one of any number of mirrors, of which one at a time copies.
type Mirror struct {
	cfg    Config
	from   *postgres.DB
	to     *clickhouse.Conn
	copied prometheus.Counter
	delay  prometheus.Histogram
	log    *slog.Logger
	lost   atomic.Pointer[string] // why the last round ended, nil once one does well
	pause  *backoff.ExponentialBackOff
}

// New does nothing yet.
func New(cfg Config, from *postgres.DB, to *clickhouse.Conn, registerer prometheus.Registerer, log *slog.Logger) (*Mirror, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	m := &Mirror{cfg: cfg, from: from, to: to, log: log,
		copied: prometheus.NewCounter(prometheus.CounterOpts{Name: "answerscope_mirror_changes_total", Help: "Changes of brands, competitors, prompts and topics copied to ClickHouse."}),
		pause:  &backoff.ExponentialBackOff{InitialInterval: 100 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: 5 * time.Second},
		delay:  prometheus.NewHistogram(prometheus.HistogramOpts{Name: "answerscope_mirror_delay_seconds", Help: "Seconds from a change to its copy.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 14)}),
	}
	registerer.MustRegister(m.copied, m.delay)
	return m, nil
}

// Run copies changes as they come until ctx is cancelled. It survives every
// absence of either store: changes wait in the outbox.
func (m *Mirror) Run(ctx context.Context) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, m.round(ctx) },
		backoff.WithBackOff(m.pause),
		backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, wait time.Duration) {
			cause := err.Error()
			m.lost.Store(&cause)
			m.log.Warn("mirror interrupted", "wait", wait, "cause", err,
				"next", "nothing for a minute; then see the engine that the cause names")
		}))
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// Ready is nil unless the last try to copy, or to stand by, failed.
func (m *Mirror) Ready(context.Context) error {
	if cause := m.lost.Load(); cause != nil {
		return errors.New(*cause)
	}
	return nil
}

// round copies for as long as its connection holds.
func (m *Mirror) round(ctx context.Context) error {
	outbox, err := m.from.OpenOutbox(ctx, m.cfg.Silence)
	if err != nil {
		return err
	}
	defer func() {
		if err := outbox.Close(); err != nil {
			m.log.Warn("closing outbox", "cause", err, "next", "nothing: another one is opened")
		}
	}()
	if err := m.standBy(ctx, outbox); err != nil {
		return err
	}
	for {
		changes, err := outbox.Read(ctx, m.cfg.Changes)
		if err != nil {
			return err
		}
		if len(changes) == 0 {
			m.well()
			// A connection whose other end is gone stays silent: the next Read notices.
			if _, err := outbox.Wait(ctx, m.cfg.Silence); err != nil {
				return err
			}
			continue
		}
		if err := m.copy(ctx, changes); err != nil {
			return err
		}
		if err := outbox.Delete(ctx, changes); err != nil {
			return err
		}
		m.well()
		for _, c := range changes {
			m.delay.Observe(time.Since(c.At).Seconds())
		}
		m.copied.Add(float64(len(changes)))
	}
}

// well says that this round does what it should: the next one to fail is not one
// of a series.
func (m *Mirror) well() {
	m.lost.Store(nil)
	m.pause.Reset()
}

// standBy returns when no other mirror copies.
func (m *Mirror) standBy(ctx context.Context, outbox *postgres.Outbox) error {
	tick := time.NewTicker(standby)
	defer tick.Stop()
	for {
		ours, err := outbox.TryLock(ctx)
		if err != nil || ours {
			return err
		}
		m.well()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *Mirror) copy(ctx context.Context, changes []postgres.Change) error {
	var rows rows
	for i := range changes {
		if err := rows.add(&changes[i]); err != nil {
			return err
		}
	}
	// Dimension tables have no window of tokens: the version of a row is what
	// makes a second copy harmless.
	return errors.Join(
		clickhouse.DimensionBrands.Insert(ctx, m.to, "", rows.brands),
		clickhouse.DimensionCompetitors.Insert(ctx, m.to, "", rows.competitors),
		clickhouse.DimensionPrompts.Insert(ctx, m.to, "", rows.prompts),
		clickhouse.DimensionTopics.Insert(ctx, m.to, "", rows.topics),
	)
}
