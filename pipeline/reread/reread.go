// Package reread appends kept answers to the log again, with their brand's current names, so that an edit or a better
// extractor reaches earlier answers.
//
// The warehouse lists the answers whose current row has an older (revision, extract_version). They are appended as
// rereads, of which the sink makes corrections, a page at a time, and the next page follows when the last one is
// inserted. The sink drops a reread that is not newer than the current row, so appending one twice, also from two
// processes, changes nothing.
package reread

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Config says whose topic is reread, and at what pace.
type Config struct {
	producer.Connection
	Group            string        // that inserts answers
	Topic            string        // of answers, with the configured prefix
	ExtractVersion   int           // the least that answers are to be read with
	PageSize         int           // answers of a page at most
	StallTimeout     time.Duration // a page is left when its partition makes no progress for so long
	StallPause       time.Duration // until a brand is tried again whose partition makes no progress
	ProgressInterval time.Duration // between two looks at the progress of a partition
	PollInterval     time.Duration // between two looks for a brand that is due
	FollowUp         time.Duration // after a run that an edit caused, until one more for answers that were under way
	RetryPause       time.Duration // until a run is tried again that failed
	Lease            time.Duration // after which the brands of a process that is gone are free
	Timeout          time.Duration // of one statement of Postgres, and one question to the brokers
}

const (
	pageBytes   = 8 << 20          // of values, after which a page ends
	pageTimeout = 10 * time.Minute // for a page to be inserted, if its partition does make progress
	turnTime    = 10 * time.Second // for one brand, before the next brand's turn
)

// DefaultConfig suits every size. It needs Brokers, a Group and a Topic.
func DefaultConfig() Config {
	return Config{
		ExtractVersion:   extract.Version,
		PageSize:         1000,
		StallTimeout:     time.Minute,
		StallPause:       2 * time.Minute,
		ProgressInterval: 2 * time.Second,
		PollInterval:     time.Second,
		FollowUp:         2 * time.Minute,
		RetryPause:       30 * time.Second,
		Lease:            30 * time.Second,
		Timeout:          10 * time.Second,
	}
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	errs := []error{c.Connection.Validate()}
	if _, known := extract.At(c.ExtractVersion); !known {
		errs = append(errs, fmt.Errorf("reread extract version %d: want one that this build carries", c.ExtractVersion))
	}
	if c.Group == "" || c.Topic == "" {
		errs = append(errs, errors.New("reread group and topic: want both"))
	}
	return errors.Join(errs...)
}

// Rereader rereads one brand after the other. Any number of them share the brands.
type Rereader struct {
	cfg       Config
	queue     *postgres.RereadQueue
	control   *postgres.DB
	warehouse *clickhouse.Conn
	producer  *producer.Producer
	metrics   *metrics
	log       *slog.Logger
	stalled   map[int32]int64 // partitions on which a page was not inserted in time; their ends then
}

// New does nothing yet.
func New(cfg Config, control *postgres.DB, warehouse *clickhouse.Conn, appender *producer.Producer, registerer prometheus.Registerer, log *slog.Logger) (*Rereader, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	queue, err := control.NewRereadQueue(cfg.Lease)
	if err != nil {
		return nil, err
	}
	return &Rereader{
		cfg: cfg, queue: queue, control: control, warehouse: warehouse, producer: appender,
		metrics: newMetrics(registerer), log: log, stalled: map[int32]int64{},
	}, nil
}

// Run rereads what is due until ctx is cancelled. While a store or the log is away it tries again, and goes on at the
// last page.
func (r *Rereader) Run(ctx context.Context) error {
	schedule := lifecycle.Schedule{First: 100 * time.Millisecond, Max: 15 * time.Second}
	for ctx.Err() == nil {
		_ = lifecycle.Retry(ctx, schedule, nil, func(err error, wait time.Duration) { // its error is that ctx has ended
			r.metrics.failures.Inc()
			r.log.Warn("reread interrupted", "wait", wait, "cause", err,
				"next", "nothing for some minutes; then see the engine that the cause names")
		}, r.work)
	}
	return nil
}

// work gives the next brand that is due a turn, or waits for PollInterval if none is.
func (r *Rereader) work(ctx context.Context) error {
	if err := r.report(ctx); err != nil {
		return err
	}
	run, err := within(ctx, r.cfg.Timeout, r.queue.Lease)
	switch {
	case errors.Is(err, postgres.ErrNotFound):
		return lifecycle.Pause(ctx, r.cfg.PollInterval)
	case err != nil:
		return err
	}
	return r.turn(ctx, run)
}

// report sets the metrics of what waits.
func (r *Rereader) report(ctx context.Context) error {
	waiting, err := within(ctx, r.cfg.Timeout, r.control.RereadBacklog)
	if err == nil {
		r.metrics.brands.Set(float64(waiting.Brands))
		r.metrics.seconds.Set(waiting.Seconds)
	}
	return err
}

// within calls do with a context that ends after timeout: a lost connection to Postgres would be waited on for ever.
func within[T any](ctx context.Context, timeout time.Duration, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no response from postgres within %v", timeout))
	defer cancel()
	got, err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return got, fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return got, err
}

// exec is within for what returns nothing but an error.
func exec(ctx context.Context, timeout time.Duration, do func(context.Context) error) error {
	_, err := within(ctx, timeout, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}
