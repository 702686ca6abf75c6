// Package reread appends kept answers to the log again, with their brand's current names, so that an edit or a better
// extractor reaches earlier answers.
//
// An answer is stale if its current row has an older (revision, extract_version) than a reading would have now. The
// warehouse lists stale answers. They are appended as rereads, of which the sink makes corrections, a page at a time;
// the next page follows when the last one is inserted. The sink drops a reread that is not newer than the current row,
// so appending one twice, even from two processes, changes nothing.
package reread

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Config has the sink of answers and the pace of rereads.
type Config struct {
	producer.Connection
	Group            string        // that inserts answers
	Topic            string        // of answers, with the configured prefix
	ExtractVersion   int           // that readings must have at least
	PageSize         int           // maximum of answers
	StallTimeout     time.Duration // without progress of a page's partition, until the page is given up
	StallPause       time.Duration // until the next turn of a brand on such a partition
	ProgressInterval time.Duration // between two requests for the progress of a partition
	PollInterval     time.Duration // between two looks for a brand that is due
	FollowUp         time.Duration // until a second run after an edit, for answers that were under way
	RetryPause       time.Duration // until the next turn of a run that failed
	Lease            time.Duration // after which the brands of a process that is gone are free
	Timeout          time.Duration // of a statement of Postgres, and of a request to the brokers
}

const (
	pageBytes   = 8 << 20          // of values, after which a page ends
	pageTimeout = 10 * time.Minute // for a page to be inserted, if its partition does make progress
	turnTime    = 10 * time.Second // for one brand, before the next brand's turn
)

// DefaultConfig suits every size. It lacks Brokers, Group and Topic.
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

// Validate joins all errors of c.
func (c Config) Validate() error {
	errs := []error{c.Connection.Validate()}
	if _, ok := extract.At(c.ExtractVersion); !ok {
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
	stalled   map[int32]int64 // partitions that did not insert a page in time, with their end at that time
}

// New returns a Rereader that has leased no brand.
func New(
	cfg Config, control *postgres.DB, warehouse *clickhouse.Conn, appender *producer.Producer,
	registerer prometheus.Registerer, log *slog.Logger,
) (*Rereader, error) {
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

// Run rereads brands that are due until ctx is cancelled. While a store or the log is away it retries, and goes on at
// the last page.
func (r *Rereader) Run(ctx context.Context) error {
	backoff := lifecycle.Backoff{First: 100 * time.Millisecond, Max: 15 * time.Second}
	for ctx.Err() == nil {
		_ = lifecycle.Retry(ctx, backoff, nil, func(err error, wait time.Duration) { // it fails only when ctx ends
			r.metrics.failures.Inc()
			r.log.Warn("reread interrupted", "wait", wait, "cause", err,
				"next", "nothing for some minutes; then see the engine that the cause names")
		}, r.next)
	}
	return nil
}

// next gives a turn to the next brand that is due, or waits for PollInterval if none is.
func (r *Rereader) next(ctx context.Context) error {
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

// report sets the metrics of the waiting brands.
func (r *Rereader) report(ctx context.Context) error {
	waiting, err := within(ctx, r.cfg.Timeout, r.control.RereadBacklog)
	if err == nil {
		r.metrics.brands.Set(float64(waiting.Brands))
		r.metrics.seconds.Set(waiting.Seconds)
	}
	return err
}

// within calls f with a context that ends after timeout: a statement on a lost connection never returns.
func within[T any](ctx context.Context, timeout time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no response from postgres within %v", timeout))
	defer cancel()
	result, err := f(ctx)
	if err != nil && ctx.Err() != nil {
		return result, fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return result, err
}

// exec is within for a function without a result.
func exec(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	_, err := within(ctx, timeout, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

type metrics struct {
	answers, failed, failures, queued prometheus.Counter
	brands, seconds                   prometheus.Gauge
	landing                           prometheus.Histogram
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	register := promauto.With(registerer)
	counter := func(name, help string) prometheus.Counter {
		return register.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return register.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &metrics{
		answers: counter("answerscope_reread_answers_total", "Kept answers appended again."),
		failed: counter("answerscope_reread_left_total",
			"Kept answers that could not be appended again, or were not inserted."),
		failures: counter("answerscope_reread_failures_total", "Interruptions of rereads, each followed by a pause."),
		queued:   counter("answerscope_reread_swept_brands_total", "Brands that the sweep queued."),
		brands: gauge("answerscope_reread_waiting_brands",
			"Brands that are due to be reread or being reread, as last seen."),
		seconds: gauge("answerscope_reread_waiting_seconds",
			"Seconds for which the first of these brands has been due, as last seen."),
		landing: register.NewHistogram(prometheus.HistogramOpts{
			Name: "answerscope_reread_landing_seconds", Help: "Seconds from the append of a page to its insert.",
			Buckets: prometheus.ExponentialBuckets(0.05, 2, 14),
		}),
	}
}
