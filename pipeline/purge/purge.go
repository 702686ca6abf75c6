// Package purge deletes from the warehouse what people have deleted: of a brand, or
// of an organization, every row of every table.
//
// A deletion leaves a tombstone in Postgres, for ever. From then on the sinks drop
// its late records; what is there already goes at once, what a batch that was under
// way still brought in goes ten minutes later, and whatever else may come back (a
// table made anew from what it had before, an edit that the mirror was late with)
// goes in the night.
package purge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Config says when what was deleted is purged.
type Config struct {
	Look  time.Duration // between two looks for what is due
	Again time.Duration // after its deletion a thing is purged again: longer than any batch is under way
	Night time.Duration // a thing that was not purged for so long is, where no night's purge ran
}

// DefaultConfig purges within seconds, after ten minutes, and what missed a night after 36 hours.
func DefaultConfig() Config {
	return Config{Look: 5 * time.Second, Again: 10 * time.Minute, Night: 36 * time.Hour}
}

// Validate says what is wrong with c, all at once.
func (c Config) Validate() error {
	var errs []error
	for _, d := range []struct {
		name string
		is   time.Duration
	}{{"look", c.Look}, {"again", c.Again}, {"night", c.Night}} {
		if d.is <= 0 {
			errs = append(errs, fmt.Errorf("purge %s %v: want more than 0", d.name, d.is))
		}
	}
	return errors.Join(errs...)
}

// An Elector tells one process of many that it is the one to purge.
type Elector interface {
	Leads(ctx context.Context) (bool, error)
}

// Purger is one of any number of purgers, of which one at a time purges.
type Purger struct {
	cfg       Config
	db        *postgres.DB
	warehouse *clickhouse.Conn
	elector   Elector
	metrics   *metrics
	log       *slog.Logger
	failed    bool // the last look did
}

// New does nothing yet.
func New(cfg Config, db *postgres.DB, warehouse *clickhouse.Conn, elector Elector, registerer prometheus.Registerer, log *slog.Logger) (*Purger, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Purger{cfg: cfg, db: db, warehouse: warehouse, elector: elector, metrics: newMetrics(registerer), log: log}, nil
}

// Run purges what is due until ctx is cancelled. It survives every absence of either
// store: what was not purged stays due.
func (p *Purger) Run(ctx context.Context) error {
	tick := time.NewTicker(p.cfg.Look)
	defer tick.Stop()
	for {
		err := p.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			p.metrics.failures.Inc()
			if !p.failed { // once, not every few seconds
				p.log.Error("purge failed", "cause", err, "next", "it is tried again every few seconds; if the server refuses a mutation, see system.mutations there")
			}
		}
		p.failed = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// look purges what is due, if that is this process's to do.
func (p *Purger) look(ctx context.Context) error {
	if ours, err := p.elector.Leads(ctx); err != nil || !ours {
		p.metrics.see(0, 0) // whoever leads tells: what this process saw last would stand for ever
		return err
	}
	if err := p.count(ctx); err != nil { // before too: a purge that hangs is to be seen
		return err
	}
	return errors.Join(p.purge(ctx, p.cfg.Night), p.count(ctx))
}

// lately is how long a thing that was purged is left alone by Nightly.
const lately = time.Hour

// Nightly purges everything that was ever deleted, but what was purged just before.
func (p *Purger) Nightly(ctx context.Context) error { return p.purge(ctx, lately) }

// held does something while no month is rebuilt: rows that a rebuilding has read
// before they are purged would come back with it.
func (p *Purger) held(ctx context.Context, do func() (map[string]uint64, error)) (map[string]uint64, error) {
	for shard := range p.warehouse.Shards() {
		hold, err := p.db.LockSinksShared(ctx, shard)
		if err != nil {
			return nil, err
		}
		defer hold.Release()
	}
	return do()
}

// purge purges what is due, and what was not purged for so long.
func (p *Purger) purge(ctx context.Context, night time.Duration) error {
	for {
		due, err := p.db.DueTombstones(ctx, p.cfg.Again, night)
		if err != nil || len(due) == 0 {
			return err
		}
		began := time.Now()
		found, err := p.held(ctx, func() (map[string]uint64, error) { return clickhouse.Purge(ctx, p.warehouse, deleted(due)) })
		rows := uint64(0)
		for table, n := range found {
			p.metrics.rows.WithLabelValues(table).Add(float64(n))
			rows += n
		}
		if err != nil {
			return fmt.Errorf("purge %d deletions: %w", len(due), err)
		}
		if err := p.db.MarkPurged(ctx, due); err != nil {
			return err
		}
		if rows > 0 || due[0].PurgedAt == nil {
			p.log.Info("purged", "deletions", len(due), "first", due[0].ID, "rows", rows, "took", time.Since(began))
		}
	}
}

// count shows what waits.
func (p *Purger) count(ctx context.Context) error {
	waiting, oldest, err := p.db.Unpurged(ctx)
	if err != nil {
		return err
	}
	p.metrics.see(waiting, oldest)
	return nil
}

func deleted(due []postgres.Tombstone) []clickhouse.Deleted {
	all := make([]clickhouse.Deleted, len(due))
	for i, t := range due {
		all[i].Organization = clickhouse.UUID(t.OrganizationID)
		if t.Kind == "brand" {
			all[i].Brand = clickhouse.UUID(t.ID)
		}
	}
	return all
}

type metrics struct {
	rows     *prometheus.CounterVec // by table
	failures prometheus.Counter
	waiting  prometheus.Gauge
	since    atomic.Pointer[time.Time] // the oldest deletion that waits; nil: none does
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	m := &metrics{
		rows:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "answerscope_purge_rows_total", Help: "Rows of deleted brands and organizations that were deleted from the warehouse."}, []string{"table"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "answerscope_purge_failures_total", Help: "Looks for deletions to purge that failed, each tried again."}),
		waiting:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "answerscope_purge_waiting", Help: "Deletions that were never purged, as the purging process sees them."}),
	}
	registerer.MustRegister(m.rows, m.failures, m.waiting, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "answerscope_purge_oldest_seconds", Help: "Seconds that the oldest deletion waits that was never purged, 0 when none does."}, m.oldest))
	return m
}

// see shows how many deletions wait, and for how long the oldest has, from now on.
func (m *metrics) see(waiting int, oldest time.Duration) {
	m.waiting.Set(float64(waiting))
	if waiting == 0 {
		m.since.Store(nil)
		return
	}
	since := time.Now().Add(-oldest)
	m.since.Store(&since)
}

func (m *metrics) oldest() float64 {
	since := m.since.Load()
	if since == nil {
		return 0
	}
	return time.Since(*since).Seconds()
}
