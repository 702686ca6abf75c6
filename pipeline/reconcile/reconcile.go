// Package reconcile compares every rollup with its landing rows, month by month, and rebuilds the months that differ.
// Before that it deletes duplicate rows of a landing table.
//
// Sinks insert meanwhile, and a row lands before the rollups have it, so a month in which rows land differs for a
// moment. A month is compared twice beside the sinks, and only if it differs both times a third time under the
// exclusive sink lock (lock.go). Checksums are cached by part, so that only the last rows are read under the lock.
//
// A month is rebuilt from its landing rows in a shadow schema: most of it beside the sinks, the rest under the lock;
// then one statement replaces the old month. A process that is killed at any point leaves each rollup with its old or
// its rebuilt month, and a shadow schema that the next run drops.
//
// Recover puts back landing rows that were lost with a broken part.
//
// A frozen month is left alone: its landing rows expire.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Config has the sinks and how long they are stopped.
type Config struct {
	producer.Connection
	Sinks       []consume.SinkGroup // every consumer group that inserts into landing tables
	lockTimeout time.Duration       // to wait for the batches under way
	outlast     time.Duration       // to stop the sinks if this process is killed while the server replaces a month
	tries       int                 // to stop the sinks, for one month of one rollup
	pause       time.Duration       // between two tries
}

const (
	lockedTimeout     = 30 * time.Second // to stop the sinks, at most
	maxUnread         = 2_000_000        // rows that may be left to read under the lock
	backgroundThreads = 1                // of the server, beside the sinks
	foregroundThreads = 4                // of the server, under the lock
)

// DefaultConfig lacks Brokers and Sinks.
func DefaultConfig() Config {
	return Config{lockTimeout: 5 * time.Second, outlast: time.Minute, tries: 6, pause: 5 * time.Second}
}

// Validate joins all errors of c.
func (c Config) Validate() error {
	err := c.Connection.Validate()
	if len(c.Sinks) == 0 {
		err = errors.Join(err, errors.New("reconcile sinks: want those that insert"))
	}
	return err
}

// Repairs selects the differences that are repaired.
type Repairs int

const (
	// RepairNothing only reports.
	RepairNothing Repairs = iota
	// RepairMissing repairs a rollup that has less than its landing rows make, or as much under other keys.
	RepairMissing
	// RepairRepeated also repairs a rollup that has too much, as after a repeated batch.
	RepairRepeated
	// RepairAll is for a person: it also repairs where landing rows may be lost, so that the rollup has the only trace
	// of them.
	RepairAll
)

// Scope selects the months that are compared and repaired; its zero value compares everything.
type Scope struct {
	From, To clickhouse.Month // both included; 0: no bound
	Landing  string           // landing table whose rollups are compared; "": all
	Owner    rollup.Owner     // whose rows are compared; a month is repaired as a whole
	Repair   Repairs
}

func (s Scope) has(month clickhouse.Month) bool {
	return (s.From == 0 || s.From <= month) && (s.To == 0 || month <= s.To)
}

// all reports whether log_progress is compared too, which has no months and no brands.
func (s Scope) all() bool {
	return s.From == 0 && s.To == 0 && s.Owner == rollup.Owner{} && s.Landing == ""
}

// Reconciler compares and repairs. It is safe for concurrent use.
type Reconciler struct {
	cfg       Config
	db        *postgres.DB
	warehouse *clickhouse.Conn
	metrics   *metrics
	log       *slog.Logger
	broken    sync.Map // clickhouse.BrokenPart: parts that were logged
}

// New returns a Reconciler, or an error of the configuration.
func New(
	cfg Config, db *postgres.DB, warehouse *clickhouse.Conn, registerer prometheus.Registerer, log *slog.Logger,
) (*Reconciler, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Reconciler{cfg: cfg, db: db, warehouse: warehouse, metrics: newMetrics(registerer), log: log}, nil
}

// ErrBusy is returned while another process reconciles.
var ErrBusy = errors.New("another process reconciles; try again when it has ended")

// Reconcile compares and repairs the months in scope, and calls step after each month of each rollup. A month that
// could not be compared or repaired is in the report, and does not stop the others.
func (c *Reconciler) Reconcile(
	ctx context.Context, scope Scope, step func(done, total int),
) (report *Report, err error) {
	lead := c.db.NewLeader("reconcile")
	defer func() { err = errors.Join(err, lead.Close()) }()
	if err := awaitLead(ctx, lead); err != nil {
		return nil, err
	}
	began := time.Now()
	suspects, err := clickhouse.Suspects(ctx, c.warehouse)
	if err != nil {
		return nil, err
	}
	report = &Report{}
	for shard := range c.warehouse.Shards() {
		if err := c.shard(ctx, shard, scope, report, step); err != nil {
			return report, err
		}
	}
	if err := c.settle(ctx, scope, suspects, report); err != nil {
		return report, err
	}
	c.metrics.ended(scope, report, time.Since(began))
	return report, nil
}

// leaderTimeout is how long the leadership of a process that has just ended may last.
const leaderTimeout = 2 * time.Second

// awaitLead waits until no other process reconciles.
func awaitLead(ctx context.Context, lead *postgres.Leader) error {
	waiting, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	for {
		switch leads, err := lead.Leads(ctx); {
		case err != nil:
			return err
		case leads:
			return nil
		}
		if lifecycle.Pause(waiting, 50*time.Millisecond) != nil {
			return ErrBusy
		}
	}
}

// shardRun reconciles one shard.
type shardRun struct {
	reconciler *Reconciler
	shard      int
	conn       *clickhouse.Conn
	scope      Scope
	report     *Report

	cleaned []landingMonth // their surplus rows were deleted
}

func (c *Reconciler) shard(
	ctx context.Context, shard int, scope Scope, report *Report, step func(done, total int),
) error {
	conn, err := c.warehouse.Shard(shard)
	if err != nil {
		return err
	}
	if err := conn.CatchUp(ctx); err != nil {
		return err
	}
	r := &shardRun{reconciler: c, shard: shard, conn: conn, scope: scope, report: report}
	if scope.Repair != RepairNothing {
		if err := rollup.DropRebuilds(ctx, conn); err != nil {
			return err
		}
	}
	cells, err := r.cells(ctx)
	if err != nil {
		return err
	}
	if err := r.surplus(ctx, cells); err != nil {
		return err
	}
	total := (len(cells) + 1) * c.warehouse.Shards()
	done := shard * (len(cells) + 1)
	for i, cell := range cells {
		finding, err := r.reconcile(ctx, cell)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.add(finding, err)
		step(done+i+1, total)
	}
	if scope.all() {
		finding, err := r.progress(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.add(finding, err)
	}
	step(done+len(cells)+1, total)
	return nil
}

// A cell is a month of a rollup, with the checksums that were read of both sides.
type cell struct {
	rollup           *rollup.Rollup
	month            clickhouse.Month
	topic            string // of the landing table, without prefix
	expected, actual *rollup.ChecksumCache
}

// cells lists the months in scope, the latest month of a rollup last. Frozen months are added to the report.
func (r *shardRun) cells(ctx context.Context) ([]*cell, error) {
	rollups, err := rollup.List(ctx, r.conn)
	if err != nil {
		return nil, err
	}
	var cells []*cell
	for _, ru := range rollups {
		topic := strings.TrimSuffix(ru.Source, clickhouse.LocalSuffix)
		if r.scope.Landing != "" && r.scope.Landing != topic {
			continue
		}
		months, err := ru.Months(ctx, r.conn)
		if err != nil {
			return nil, err
		}
		frozen, err := r.reconciler.frozen(ctx, topic, months...)
		if err != nil {
			return nil, err
		}
		for _, month := range months {
			switch {
			case !r.scope.has(month):
			case frozen[month.First()]:
				r.report.addFrozen(ru.Table, month)
			default:
				expected, actual := ru.Expected(r.conn, month, r.scope.Owner), ru.Actual(r.conn, month, r.scope.Owner)
				cells = append(cells, &cell{ru, month, topic, expected, actual})
			}
		}
	}
	return cells, nil
}

// frozen returns the first days of the topic's months that are frozen.
func (c *Reconciler) frozen(ctx context.Context, topic string, months ...clickhouse.Month) (map[time.Time]bool, error) {
	var firsts []time.Time
	for _, m := range months {
		firsts = append(firsts, m.First())
	}
	return c.db.FrozenMonths(ctx, topic, firsts)
}

// settle clears the suspects that were marked before the comparison began and whose months are right.
func (c *Reconciler) settle(ctx context.Context, scope Scope, suspects []clickhouse.Suspect, report *Report) error {
	if scope.Owner != (rollup.Owner{}) {
		return nil
	}
	var reconciled []clickhouse.Suspect
	for _, s := range suspects {
		inScope := scope.has(s.Month) && (scope.Landing == "" || scope.Landing == s.Landing)
		if inScope && !report.open(s.Month) {
			reconciled = append(reconciled, s)
		}
	}
	return clickhouse.ClearSuspects(ctx, c.warehouse, reconciled)
}

// Nightly compares everything and repairs rollups that lack rows. A rollup that has too much may be the only trace of
// lost landing rows, and waits for a person. It is an error if a difference is left.
func (c *Reconciler) Nightly(ctx context.Context) error {
	return c.task(ctx, Scope{Repair: RepairMissing})
}

// Suspects repairs the suspect months, in which a rollup may have counted rows of a repeated batch twice. A month of
// which the landing table has lost a part waits: its rollups may be the only trace of that part's rows.
func (c *Reconciler) Suspects(ctx context.Context) error {
	suspects, err := clickhouse.Suspects(ctx, c.warehouse)
	if err != nil {
		return err
	}
	sameMonth := func(a, b clickhouse.Suspect) bool { return a.Landing == b.Landing && a.Month == b.Month }
	var errs []error
	for _, s := range slices.CompactFunc(suspects, sameMonth) { // they are in order
		lost, err := hasLost(ctx, c.warehouse, landingMonth{s.Landing, s.Month})
		if err == nil && !lost {
			err = c.task(ctx, Scope{From: s.Month, To: s.Month, Landing: s.Landing, Repair: RepairRepeated})
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c *Reconciler) task(ctx context.Context, scope Scope) error {
	report, err := c.Reconcile(ctx, scope, func(int, int) {})
	if errors.Is(err, ErrBusy) {
		c.log.Info("not reconciled this time", "cause", err)
		return nil
	}
	if err != nil {
		return err
	}
	if report.Open > 0 {
		return fmt.Errorf("%d of %d months of rollups are not as they should be; run: answerscope reconcile",
			report.Open, report.Compared)
	}
	return nil
}
