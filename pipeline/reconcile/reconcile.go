package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Config says whose sinks are held, and how long.
type Config struct {
	producer.Connection
	Sinks    []Sink        // every group that inserts into landing tables
	Patience time.Duration // to wait for the batches under way
	Hold     time.Duration // to hold the sinks, at most
	Outlast  time.Duration // to hold them when this process is killed while the server replaces a month
	Tries    int           // to hold the sinks, for one month of one rollup
	Between  time.Duration // two tries
	Unread   uint64        // rows that may be left to read while the sinks are held
	Calm     int           // threads of the server beside the sinks
	Hurry    int           // threads of the server while the sinks are held
}

// A Sink is a group of consumers and its topic, both with their prefix.
type Sink struct{ Group, Topic string }

// DefaultConfig needs Brokers and Sinks.
func DefaultConfig() Config {
	return Config{
		Patience: 5 * time.Second, Hold: 30 * time.Second, Outlast: time.Minute, Tries: 6, Between: 5 * time.Second,
		Unread: 2_000_000, Calm: 1, Hurry: 4,
	}
}

// Validate says what is wrong with c, all at once.
func (c Config) Validate() error {
	errs := []error{c.Connection.Validate()}
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(len(c.Sinks) > 0, "reconcile sinks: want those that insert")
	check(c.Patience > 0 && c.Hold > 0 && c.Outlast > 0 && c.Between > 0, "reconcile patience %v, hold %v, outlast %v, between %v: want more than 0",
		c.Patience, c.Hold, c.Outlast, c.Between)
	check(c.Tries > 0 && c.Unread > 0, "reconcile tries %d, unread %d: want at least 1", c.Tries, c.Unread)
	check(c.Calm > 0 && c.Hurry > 0, "reconcile threads %d and %d: want at least 1", c.Calm, c.Hurry)
	return errors.Join(errs...)
}

// Mending says which differences are mended.
type Mending int

const (
	// Nothing is mended: what differs is told.
	Nothing Mending = iota
	// Missing is what can be mended without anybody looking: a rollup that has less
	// than its landing rows make, or as much under other keys.
	Missing
	// Everything is also what a rollup has too much. It may be landing rows that were
	// lost, and the rollup all that is left of them.
	Everything
)

// Scope says what is compared; its zero value is everything, mending nothing.
type Scope struct {
	From, To clickhouse.Month // both included; 0: no bound
	Landing  string           // landing table whose rollups are compared; "": all
	Whose    rollup.Whose     // whose rows are compared; a month is mended for everybody
	Mend     Mending
}

func (s Scope) has(month clickhouse.Month) bool {
	return (s.From == 0 || s.From <= month) && (s.To == 0 || month <= s.To)
}

// all says that log_progress is compared too, which knows no months and no brands.
func (s Scope) all() bool {
	return s.From == 0 && s.To == 0 && s.Whose == rollup.Whose{} && s.Landing == ""
}

// Reconciler compares and mends. It is safe for concurrent use.
type Reconciler struct {
	cfg       Config
	db        *postgres.DB
	warehouse *clickhouse.Conn
	metrics   *metrics
	log       *slog.Logger
}

// New does nothing yet.
func New(cfg Config, db *postgres.DB, warehouse *clickhouse.Conn, registerer prometheus.Registerer, log *slog.Logger) (*Reconciler, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Reconciler{cfg, db, warehouse, newMetrics(registerer), log}, nil
}

// ErrBusy says that another process reconciles.
var ErrBusy = errors.New("another process reconciles; try again when it has ended")

// Reconcile compares what is in scope and mends what it should. step is told after
// each month of each rollup. What could not be compared or mended is in the report,
// and the rest is done nevertheless; an error is that of the whole.
func (c *Reconciler) Reconcile(ctx context.Context, scope Scope, step func(done, total int)) (report *Report, err error) {
	lead := c.db.NewLeader("reconcile")
	defer func() { err = errors.Join(err, lead.Close()) }()
	if err := alone(ctx, lead); err != nil {
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

// lingering is how long a process that has just ended may seem to reconcile still.
const lingering = 2 * time.Second

// alone is nil when nobody else reconciles.
func alone(ctx context.Context, lead *postgres.Leader) error {
	patience, cancel := context.WithTimeout(ctx, lingering)
	defer cancel()
	for {
		switch leads, err := lead.Leads(ctx); {
		case err != nil:
			return err
		case leads:
			return nil
		}
		if lifecycle.Pause(patience, 50*time.Millisecond) != nil {
			return ErrBusy
		}
	}
}

// A run is what is done of one shard.
type run struct {
	*Reconciler
	shard  int
	conn   *clickhouse.Conn
	scope  Scope
	report *Report
}

func (c *Reconciler) shard(ctx context.Context, shard int, scope Scope, report *Report, step func(done, total int)) error {
	conn, err := c.warehouse.Shard(shard)
	if err != nil {
		return err
	}
	if err := conn.CatchUp(ctx); err != nil {
		return err
	}
	r := &run{c, shard, conn, scope, report}
	if scope.Mend != Nothing {
		if err := rollup.DropRebuilds(ctx, conn); err != nil {
			return err
		}
	}
	cells, err := r.cells(ctx)
	if err != nil {
		return err
	}
	total := (len(cells) + 1) * c.warehouse.Shards()
	done := shard * (len(cells) + 1)
	for i, cell := range cells {
		finding, err := r.reconcile(ctx, cell)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.tell(finding, err)
		step(done+i+1, total)
	}
	if scope.all() {
		finding, err := r.progress(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.tell(finding, err)
	}
	step(done+len(cells)+1, total)
	return nil
}

// A cell is a month of a rollup, with what has been read of both sides.
type cell struct {
	rollup       *rollup.Rollup
	month        clickhouse.Month
	topic        string // of the landing table, without prefix
	wanted, kept *rollup.Ledger
}

// cells are what is in scope, a rollup's months the latest last. Frozen months are
// noted in the report.
func (r *run) cells(ctx context.Context) ([]*cell, error) {
	rollups, err := rollup.List(ctx, r.conn)
	if err != nil {
		return nil, err
	}
	var cells []*cell
	for _, of := range rollups {
		topic := strings.TrimSuffix(of.Source, strings.TrimPrefix(r.conn.Local("x"), "x"))
		if r.scope.Landing != "" && r.scope.Landing != topic {
			continue
		}
		months, err := of.Months(ctx, r.conn)
		if err != nil {
			return nil, err
		}
		frozen, err := r.frozen(ctx, topic, months...)
		if err != nil {
			return nil, err
		}
		for _, month := range months {
			switch {
			case !r.scope.has(month):
			case frozen[month]:
				r.report.leave(of.Table, month)
			default:
				cells = append(cells, &cell{of, month, topic, of.Wanted(r.conn, month, r.scope.Whose), of.Kept(r.conn, month, r.scope.Whose)})
			}
		}
	}
	return cells, nil
}

// frozen says which months of a topic are left alone.
func (c *Reconciler) frozen(ctx context.Context, topic string, months ...clickhouse.Month) (map[clickhouse.Month]bool, error) {
	var firsts []time.Time
	for _, m := range months {
		firsts = append(firsts, m.First())
	}
	found, err := c.db.FrozenMonths(ctx, topic, firsts)
	frozen := map[clickhouse.Month]bool{}
	for first := range found {
		frozen[clickhouse.MonthOf(first)] = true
	}
	return frozen, err
}

// settle says of the suspects that were there before anything was compared that the
// rollups of their months are right.
func (c *Reconciler) settle(ctx context.Context, scope Scope, suspects []clickhouse.Suspect, report *Report) error {
	if scope.Whose != (rollup.Whose{}) {
		return nil
	}
	var settled []clickhouse.Suspect
	for _, s := range suspects {
		month := clickhouse.Month(s.Month)
		if scope.has(month) && (scope.Landing == "" || scope.Landing == s.Landing) && !report.open(month) {
			settled = append(settled, s)
		}
	}
	if len(settled) == 0 {
		return nil
	}
	return clickhouse.ClearSuspects(ctx, c.warehouse, settled)
}
