// Package reread tells kept answers again, with their brand's present names, so that
// an edit and a better extractor reach what was told before them.
//
// The warehouse says which answers stand with an older (revision, extract_version);
// they are appended to the log as rereads, of which the sink makes corrections, a
// page at a time, and no page before the last one has landed. Telling one twice, from
// two processes too, changes nothing: a reread that is not newer than what stands is
// dropped.
package reread

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Config says how gently answers are told again.
type Config struct {
	producer.Connection
	Group          string        // that lands answers
	Topic          string        // of answers, with the configured prefix
	ExtractVersion int           // the least that they are to be read with
	Answers        int           // most of a page
	Bytes          int           // of texts and sources, after which a page ends
	Landing        time.Duration // for a page to land, before others go on without it
	Still          time.Duration // the same while nothing at all of its partition lands
	Rest           time.Duration // until a brand is taken up again whose partition is behind
	Look           time.Duration // between two looks at how far the partition of a page is
	Turn           time.Duration // for one brand, before another one's turn
	Poll           time.Duration // between two questions whether anything is due
	Late           time.Duration // after an edit's run, until one more look for what was under way
	Retry          time.Duration // until a run that could not go on is taken up again
	Lease          time.Duration // after which a process that fell silent has nothing in hand
	Silence        time.Duration // for which Postgres may say nothing
}

// DefaultConfig suits every size. It needs Brokers, a Group and a Topic.
func DefaultConfig() Config {
	return Config{
		ExtractVersion: extract.Version,
		Answers:        1000,
		Bytes:          8 << 20,
		Landing:        10 * time.Minute,
		Still:          time.Minute,
		Rest:           2 * time.Minute,
		Look:           2 * time.Second,
		Turn:           10 * time.Second,
		Poll:           time.Second,
		Late:           2 * time.Minute,
		Retry:          30 * time.Second,
		Lease:          30 * time.Second,
		Silence:        10 * time.Second,
	}
}

// Validate says what is wrong with c, all at once.
func (c Config) Validate() error {
	errs := []error{c.Connection.Validate()}
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	_, known := extract.At(c.ExtractVersion)
	want(known, "reread extract version %d: want one that this build carries", c.ExtractVersion)
	want(c.Answers >= 1 && c.Answers <= 2000, "reread answers %d: want 1 to 2000", c.Answers)
	want(c.Bytes >= 1, "reread bytes %d: want at least 1", c.Bytes)
	want(c.Group != "" && c.Topic != "", "reread group and topic: want both")
	want(c.Still > 0, "reread still %v: want more than 0", c.Still)
	want(c.Landing >= c.Still, "reread landing %v: want no less than still, %v", c.Landing, c.Still)
	want(c.Rest > 0, "reread rest %v: want more than 0", c.Rest)
	want(c.Look > 0, "reread look %v: want more than 0", c.Look)
	want(c.Turn > 0, "reread turn %v: want more than 0", c.Turn)
	want(c.Poll > 0, "reread poll %v: want more than 0", c.Poll)
	want(c.Late >= 0, "reread late %v: want at least 0", c.Late)
	want(c.Retry > 0, "reread retry %v: want more than 0", c.Retry)
	want(c.Silence > 0, "reread silence %v: want more than 0", c.Silence)
	want(c.Lease >= 2*c.Silence, "reread lease %v: want at least twice the silence, %v", c.Lease, c.Silence)
	return errors.Join(errs...)
}

// Rereader is one of any number of them, each with a brand of its own in hand.
type Rereader struct {
	cfg     Config
	queue   *postgres.RereadQueue
	control *postgres.DB
	kept    *clickhouse.Conn
	log     *producer.Producer
	metrics *metrics
	logger  *slog.Logger

	behind behind
	places []consume.Place // as last looked at, for what is behind
	looked time.Time
}

// New does nothing yet.
func New(cfg Config, control *postgres.DB, kept *clickhouse.Conn, log *producer.Producer, registerer prometheus.Registerer, logger *slog.Logger) (*Rereader, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	queue, err := control.NewRereadQueue(cfg.Lease)
	if err != nil {
		return nil, err
	}
	return &Rereader{cfg: cfg, queue: queue, control: control, kept: kept, log: log, metrics: newMetrics(registerer), logger: logger, behind: behind{}}, nil
}

// Run takes up what is due until ctx is cancelled. It survives every absence of the
// stores and the log: what it had in hand goes on where it was.
func (r *Rereader) Run(ctx context.Context) error {
	pause := &backoff.ExponentialBackOff{InitialInterval: 100 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: 15 * time.Second}
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, r.work(ctx, pause.Reset) },
		backoff.WithBackOff(pause),
		backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, wait time.Duration) {
			r.metrics.failures.Inc()
			r.logger.Warn("reread interrupted", "wait", wait, "cause", err,
				"next", "nothing for some minutes; then see the engine that the cause names")
		}))
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// work takes one brand after the other in hand, until that fails. well is told after
// each that was had in hand without trouble, and when nothing is due.
func (r *Rereader) work(ctx context.Context, well func()) error {
	tick := time.NewTicker(r.cfg.Poll)
	defer tick.Stop()
	for {
		if err := r.survey(ctx); err != nil {
			return err
		}
		claimed, err := within(ctx, r.cfg.Silence, r.queue.Lease)
		switch {
		case err == nil:
			if err := r.turn(ctx, claimed); err != nil {
				return err
			}
			well()
			continue
		case !errors.Is(err, postgres.ErrNotFound):
			return err
		}
		well()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// survey says in the metrics how much there is to be done.
func (r *Rereader) survey(ctx context.Context) error {
	waiting, err := within(ctx, r.cfg.Silence, r.control.RereadsWaiting)
	if err == nil {
		r.metrics.brands.Set(float64(waiting.Brands))
		r.metrics.seconds.Set(waiting.Seconds)
	}
	return err
}

// within bounds what waits for Postgres, whose silence may be that of a network which
// lost one end.
func within[T any](ctx context.Context, silence time.Duration, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, silence, fmt.Errorf("postgres said nothing for %v", silence))
	defer cancel()
	got, err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return got, fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return got, err
}
