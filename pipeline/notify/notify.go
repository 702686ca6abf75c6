// Package notify sends what happened to those who want to know: events to endpoints, and mails.
//
// A delivery's row is its queue. A process leases it, sends it, and stores the end if the lease is still its own. A
// process that is killed in between leaves a lease that expires, and the next one sends again: at least once, with the
// same id. No two deliveries of an endpoint are under way at once, so a slow receiver delays none but itself.
package notify

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Config has the senders and the pace.
type Config struct {
	Deliver func(context.Context, postgres.Delivery) postgres.Outcome
	Mail    func(context.Context, postgres.Mail) postgres.Outcome // the default refuses: no mail server is configured

	Receivers    int           // deliveries under way at once: one slow receiver takes one
	Mails        int           // mails under way at once
	Lease        time.Duration // after which the rows of a process that is gone are sent again
	Timeout      time.Duration // of an attempt, within the lease
	PollInterval time.Duration // between two looks for what is due
}

// DefaultConfig lacks Deliver.
func DefaultConfig() Config {
	return Config{
		Mail: func(context.Context, postgres.Mail) postgres.Outcome {
			return postgres.Outcome{Error: "no mail server is configured: set ANSWERSCOPE_SMTP_URL", Final: true}
		},
		Receivers: 1000, Mails: 16, Lease: time.Minute, Timeout: 50 * time.Second, PollInterval: time.Second,
	}
}

const (
	reportInterval = 10 * time.Second // between two looks at what is pending
	finishTimeout  = 10 * time.Second // for attempts that are under way when the process stops
)

// backoff has the waits of statements while PostgreSQL is away.
var backoff = lifecycle.Backoff{First: 100 * time.Millisecond, Max: 5 * time.Second}

// waits are between two attempts.
var waits = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

// waitAfter returns the wait after the n-th attempt, with a deviation of up to a tenth; false after the last one. The
// receiver may ask for a longer wait, up to a day. random is below 1.
func waitAfter(n int, retryAfter time.Duration, random float64) (time.Duration, bool) {
	if n > len(waits) {
		return 0, false
	}
	wait := time.Duration(float64(waits[max(n, 1)-1]) * (0.9 + 0.2*random))
	return max(wait, min(retryAfter, 24*time.Hour)), true
}

// Worker sends deliveries and mails that are due. Any number of them share the rows.
type Worker struct {
	cfg     Config
	db      *postgres.DB
	queue   *postgres.DeliveryQueue
	metrics *metrics
	log     *slog.Logger
}

// New returns a Worker that has leased nothing.
func New(cfg Config, db *postgres.DB, registerer prometheus.Registerer, log *slog.Logger) (*Worker, error) {
	queue, err := db.NewDeliveryQueue(cfg.Lease)
	return &Worker{cfg, db, queue, newMetrics(registerer), log}, err
}

// Run sends due rows until ctx is cancelled. While PostgreSQL is away it retries.
func (w *Worker) Run(ctx context.Context) error {
	var lanes errgroup.Group
	lanes.Go(func() error { return w.report(ctx) })
	lanes.Go(func() error {
		return run(ctx, w, w.cfg.Receivers, w.queue.Deliveries, func(ctx context.Context, d postgres.Delivery) {
			w.attempt(ctx, d.Kind, d.Attempts,
				func(ctx context.Context) postgres.Outcome { return w.cfg.Deliver(ctx, d) },
				func(ctx context.Context, a postgres.Attempt) (bool, error) {
					return w.queue.EndDelivery(ctx, d.ID, a)
				})
		})
	})
	lanes.Go(func() error {
		return run(ctx, w, w.cfg.Mails, w.queue.Mails, func(ctx context.Context, m postgres.Mail) {
			w.attempt(ctx, "mail", m.Attempts,
				func(ctx context.Context) postgres.Outcome { return w.cfg.Mail(ctx, m) },
				func(ctx context.Context, a postgres.Attempt) (bool, error) { return w.queue.EndMail(ctx, m.ID, a) })
		})
	})
	return lanes.Wait()
}

// run leases rows and sends each in a goroutine, at most limit at once. When one has ended it looks for more. An
// endpoint gets at most about ten deliveries in a poll interval of each process.
func run[R any](
	ctx context.Context, w *Worker, limit int, lease func(context.Context, int) ([]R, error),
	send func(context.Context, R),
) error {
	ended := make(chan struct{}, limit)
	underWay := 0
	for ctx.Err() == nil {
		var rows []R
		_ = lifecycle.Retry(ctx, backoff, nil, w.warn, func(ctx context.Context) (err error) { // it fails when ctx ends
			rows, err = within(ctx, func(ctx context.Context) ([]R, error) { return lease(ctx, limit-underWay) })
			return err
		})
		underWay += len(rows)
		for _, row := range rows {
			go func() {
				send(ctx, row)
				ended <- struct{}{}
			}()
		}
		_ = lifecycle.Pause(ctx, w.cfg.PollInterval/10) // rows that end together are replaced by one lease
		select {
		case <-ended:
			underWay--
		case <-time.After(w.cfg.PollInterval):
		case <-ctx.Done():
		}
		for ; len(ended) > 0; underWay-- {
			<-ended
		}
	}
	for range underWay {
		<-ended
	}
	return nil
}

func (w *Worker) warn(err error, wait time.Duration) {
	w.log.Warn("deliveries wait", "wait", wait, "cause", err,
		"next", "nothing for some minutes; then see the engine that the cause names")
}

// attempt sends a row and stores how that ended. One that is cut off by the end of the process is not stored: it is
// sent again.
func (w *Worker) attempt(
	ctx context.Context, kind string, n int,
	send func(context.Context) postgres.Outcome, end func(context.Context, postgres.Attempt) (stored bool, err error),
) {
	fault.Pass(fault.Leased)
	ctx, done := lifecycle.Finishing(ctx, finishTimeout)
	defer done()
	began := time.Now()
	sending, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	outcome := send(sending)
	cancel()
	fault.Pass(fault.Sent)
	if ctx.Err() != nil {
		return
	}
	a := attemptOf(outcome, n, rand.Float64())
	a.Took = time.Since(began)
	stored := false
	err := lifecycle.Retry(ctx, backoff, postgres.IsTransient, nil, func(ctx context.Context) (err error) {
		stored, err = within(ctx, func(ctx context.Context) (bool, error) { return end(ctx, a) })
		return err
	})
	fault.Pass(fault.Recorded)
	if err != nil {
		w.log.Error("end of a delivery not stored", "kind", kind, "cause", err,
			"next", "nothing: it is sent again when its lease expires; if this repeats, report the cause")
		return
	}
	if stored {
		w.metrics.ended.WithLabelValues(kind, a.Status).Inc()
	}
}

// attemptOf returns what follows from the outcome of the n-th attempt.
func attemptOf(o postgres.Outcome, n int, random float64) postgres.Attempt {
	o.Error, o.Excerpt = storable(o.Error), storable(o.Excerpt)
	a := postgres.Attempt{Outcome: o, Status: "delivered"}
	if o.Error == "" {
		return a
	}
	wait, more := waitAfter(n, o.RetryAfter, random)
	if !more || o.Final {
		a.Status = "failed"
		return a
	}
	a.Status, a.Wait = "pending", wait
	return a
}

// storable returns a text that PostgreSQL takes, of what a receiver sent.
func storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "�")
}

// within bounds a statement: on a lost connection it never returns.
func within[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	const timeout = 10 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no response from postgres within %v", timeout))
	defer cancel()
	return f(ctx)
}

// report sets the metrics of pending rows; without PostgreSQL they stay.
func (w *Worker) report(ctx context.Context) error {
	for ; ctx.Err() == nil; _ = lifecycle.Pause(ctx, reportInterval) {
		backlog, _ := within(ctx, w.db.DeliveryBacklog)
		for _, b := range backlog {
			w.metrics.pending.WithLabelValues(b.Kind).Set(float64(b.Pending))
			w.metrics.oldest.WithLabelValues(b.Kind).Set(b.Seconds)
		}
	}
	return nil
}

type metrics struct {
	ended           *prometheus.CounterVec // by kind and outcome
	pending, oldest *prometheus.GaugeVec   // by kind
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	register := promauto.With(registerer)
	return &metrics{
		ended: register.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_deliveries_total",
			Help: "Attempts to deliver events and mails, by kind and outcome: delivered, pending (try again), failed.",
		}, []string{"kind", "outcome"}),
		pending: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "answerscope_deliveries_pending", Help: "Deliveries and mails that are not sent yet, as last seen.",
		}, []string{"kind"}),
		oldest: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "answerscope_deliveries_oldest_due_seconds",
			Help: "Seconds since the most overdue delivery was due, as last seen; of endpoints that have none under " +
				"way and took none within the last minute.",
		}, []string{"kind"}),
	}
}
