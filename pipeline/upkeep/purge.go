package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	purgeInterval = 5 * time.Second  // between two looks for deletions that are due
	repeatAfter   = 10 * time.Minute // from a deletion to its second purge: longer than any batch is under way
	missedNight   = 36 * time.Hour   // since its last purge, after which a deletion is due without the nightly purge
	recent        = time.Hour        // since its last purge, within which the nightly purge leaves a deletion out
)

// Purger deletes from the warehouse every row of the brands and organizations that people have deleted. Of any number
// of purgers one at a time purges.
//
// A deletion leaves a permanent tombstone in Postgres, and from then on the sinks drop its late records. Its rows are
// deleted at once; those that a batch under way still inserted, ten minutes later; and rows that may come back after
// that (with a table rebuilt from older rows, or an edit that the mirror copied late) every night.
type Purger struct {
	db                    *postgres.DB
	warehouse             *clickhouse.Conn
	leader                *postgres.Leader
	metrics               *purgeMetrics
	log                   *slog.Logger
	interval, repeatAfter time.Duration
}

// NewPurger returns a Purger that purges while leader leads.
func NewPurger(
	db *postgres.DB, warehouse *clickhouse.Conn, leader *postgres.Leader,
	registerer prometheus.Registerer, log *slog.Logger,
) *Purger {
	return &Purger{db, warehouse, leader, newPurgeMetrics(registerer), log, purgeInterval, repeatAfter}
}

// Run purges deletions that are due until ctx is cancelled. While a store is away, they stay due.
func (p *Purger) Run(ctx context.Context) error {
	failed := false
	for ctx.Err() == nil {
		err := p.purgeDue(ctx)
		if err != nil && ctx.Err() == nil {
			p.metrics.failures.Inc()
			if !failed { // one line for a series of failures
				p.log.Error("purge failed", "cause", err, "next",
					"it is tried again every few seconds; if the server refuses a mutation, see system.mutations there")
			}
		}
		failed = err != nil
		_ = lifecycle.Pause(ctx, p.interval) // its error is that ctx has ended
	}
	return nil
}

// purgeDue purges deletions that are due, if this process leads.
func (p *Purger) purgeDue(ctx context.Context) error {
	if leads, err := p.leader.Leads(ctx); err != nil || !leads {
		p.metrics.set(0, 0) // the leader reports them; the last values of this process would stay
		return err
	}
	if err := p.report(ctx); err != nil { // before the purge too: one that hangs must show
		return err
	}
	return errors.Join(p.purge(ctx, missedNight), p.report(ctx))
}

// Nightly purges everything that was ever deleted, except deletions that were purged within the last hour.
func (p *Purger) Nightly(ctx context.Context) error { return p.purge(ctx, recent) }

// purge purges deletions that are due, or were last purged longer ago than maxAge.
func (p *Purger) purge(ctx context.Context, maxAge time.Duration) error {
	for {
		due, err := p.db.DueTombstones(ctx, p.repeatAfter, maxAge)
		if err != nil || len(due) == 0 {
			return err
		}
		began := time.Now()
		deleted, err := p.deleteRows(ctx, due)
		rows := uint64(0)
		for table, n := range deleted {
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

// deleteRows deletes rows while no rebuild runs: a rebuild that read them earlier would bring them back.
func (p *Purger) deleteRows(ctx context.Context, due []postgres.Tombstone) (rows map[string]uint64, err error) {
	release, err := p.db.LockPurge(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	deleted := make([]clickhouse.DeletedOwner, len(due))
	for i, t := range due {
		deleted[i].Organization = clickhouse.UUID(t.OrganizationID)
		if t.Kind == "brand" {
			deleted[i].Brand = clickhouse.UUID(t.ID)
		}
	}
	return clickhouse.Purge(ctx, p.warehouse, deleted)
}

// report sets the metrics of the waiting deletions.
func (p *Purger) report(ctx context.Context) error {
	waiting, oldest, err := p.db.PurgeBacklog(ctx)
	if err == nil {
		p.metrics.set(waiting, oldest)
	}
	return err
}

type purgeMetrics struct {
	rows     *prometheus.CounterVec // by table
	failures prometheus.Counter
	waiting  prometheus.Gauge
	since    atomic.Pointer[time.Time] // of the oldest waiting deletion; nil: none waits
}

func newPurgeMetrics(registerer prometheus.Registerer) *purgeMetrics {
	register := promauto.With(registerer)
	m := &purgeMetrics{
		rows: register.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_purge_rows_total",
			Help: "Rows of deleted brands and organizations that were deleted from the warehouse.",
		}, []string{"table"}),
		failures: register.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_purge_failures_total",
			Help: "Looks for deletions to purge that failed, each tried again.",
		}),
		waiting: register.NewGauge(prometheus.GaugeOpts{
			Name: "answerscope_purge_waiting",
			Help: "Deletions that were never purged, as the purging process sees them.",
		}),
	}
	register.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "answerscope_purge_oldest_seconds",
		Help: "Seconds that the oldest deletion waits that was never purged, 0 when none does.",
	}, m.oldest)
	return m
}

// set sets how many deletions wait, and for how long the oldest has; its age grows from now on.
func (m *purgeMetrics) set(waiting int, oldest time.Duration) {
	m.waiting.Set(float64(waiting))
	if waiting == 0 {
		m.since.Store(nil)
		return
	}
	since := time.Now().Add(-oldest)
	m.since.Store(&since)
}

func (m *purgeMetrics) oldest() float64 {
	since := m.since.Load()
	if since == nil {
		return 0
	}
	return time.Since(*since).Seconds()
}
