// Package timetable runs chores at their times: of any number of processes, one.
//
// Times are UTC. A chore never runs beside itself: a time that comes while it still
// runs is passed over, as is one at which no process ran. But a daily chore that has
// not succeeded for more than a day is made up for: a machine may sleep every night.
package timetable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/prometheus/client_golang/prometheus"
)

// Config bounds how long others may take.
type Config struct {
	Patience time.Duration // for the elector to say who leads
	Watch    time.Duration // between two questions, while a chore runs, whether this process still leads
	Stop     time.Duration // for running chores to end once they are told to
	Missed   time.Duration // from the start until it is looked what was missed, and then again each time
}

// DefaultConfig suits every size.
func DefaultConfig() Config {
	return Config{Patience: 10 * time.Second, Watch: 2 * time.Second, Stop: 20 * time.Second, Missed: time.Minute}
}

// Validate says what is wrong with c, all at once.
func (c Config) Validate() error {
	var errs []error
	for _, d := range []struct {
		name string
		is   time.Duration
	}{{"patience", c.Patience}, {"watch", c.Watch}, {"stop", c.Stop}, {"missed", c.Missed}} {
		if d.is <= 0 {
			errs = append(errs, fmt.Errorf("timetable %s %v: want more than 0", d.name, d.is))
		}
	}
	return errors.Join(errs...)
}

// An Elector tells one process of many that it leads. It is asked before every run,
// and while one goes on, from several goroutines.
type Elector interface {
	Leads(ctx context.Context) (bool, error)
}

// Timetable holds chores and runs them.
type Timetable struct {
	cfg     Config
	elector Elector
	book    Book
	log     *slog.Logger
	chores  []*chore

	succeeded, failed, took *prometheus.GaugeVec // by chore
}

type chore struct {
	name     string
	schedule Schedule
	run      func(context.Context) error
	begun    atomic.Int64 // when it last was in this process, in Unix time
}

// New has no chores yet.
func New(cfg Config, elector Elector, book Book, registerer prometheus.Registerer, log *slog.Logger) (*Timetable, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"chore"})
	}
	t := &Timetable{cfg: cfg, elector: elector, book: book, log: log,
		succeeded: gauge("answerscope_chore_last_success_timestamp_seconds", "When a chore of the timetable last succeeded, in Unix time, in whatever process as far as this one knows."),
		failed:    gauge("answerscope_chore_last_failure_timestamp_seconds", "When a chore of the timetable last failed in this process, in Unix time."),
		took:      gauge("answerscope_chore_last_duration_seconds", "Seconds that a chore's last run in this process took, whatever its end."),
	}
	registerer.MustRegister(t.succeeded, t.failed, t.took)
	return t, nil
}

// Every enters a chore, before Run. Its name is that of its metrics and logs, and
// unique. The ctx that run is given ends with the process's lead: run returns soon
// after, and another process may already be running it then.
func (t *Timetable) Every(name string, schedule Schedule, run func(ctx context.Context) error) {
	t.chores = append(t.chores, &chore{name: name, schedule: schedule, run: run})
}

// Run runs the chores at their times until ctx ends and they have ended.
func (t *Timetable) Run(ctx context.Context) error {
	clock, err := gocron.NewScheduler(
		gocron.WithLocation(time.UTC),
		gocron.WithDistributedElector(election{t}),
		gocron.WithStopTimeout(t.cfg.Stop),
		gocron.WithGlobalJobOptions(gocron.WithSingletonMode(gocron.LimitModeReschedule)))
	if err != nil {
		return fmt.Errorf("make timetable: %w", err)
	}
	missed := missed{Timetable: t, jobs: map[*chore]gocron.Job{}}
	for _, c := range t.chores {
		if missed.jobs[c], err = t.enter(ctx, clock, c); err != nil {
			return errors.Join(err, clock.Shutdown())
		}
	}
	clock.Start()
	missed.watch(ctx)
	if err := clock.Shutdown(); err != nil {
		return fmt.Errorf("stop timetable: %w", err)
	}
	return nil
}

func (t *Timetable) enter(ctx context.Context, clock gocron.Scheduler, c *chore) (gocron.Job, error) {
	job, err := clock.NewJob(c.schedule.times, gocron.NewTask(func() { t.do(ctx, c) }), gocron.WithName(c.name))
	if err != nil {
		return nil, fmt.Errorf("enter chore %s: %w", c.name, err)
	}
	return job, nil
}

// do runs a chore once, for as long as this process leads.
func (t *Timetable) do(ctx context.Context, c *chore) {
	c.begun.Store(time.Now().Unix())
	held, lose := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		t.watch(held, lose)
	}()
	begun := time.Now()
	err := c.run(held)
	took := time.Since(begun)
	lost := context.Cause(held)
	lose(nil)
	<-watched

	t.took.WithLabelValues(c.name).Set(took.Seconds())
	switch {
	case err == nil:
		t.succeeded.WithLabelValues(c.name).SetToCurrentTime()
		t.log.Info("chore done", "chore", c.name, "took", took)
		t.note(ctx, c)
	case ctx.Err() != nil:
		t.log.Info("chore interrupted", "chore", c.name, "took", took)
	default:
		if errors.Is(lost, errNotLeading) {
			err = errors.Join(lost, err)
		}
		t.failed.WithLabelValues(c.name).SetToCurrentTime()
		t.log.Error("chore failed", "chore", c.name, "took", took, "cause", err,
			"next", "nothing: it runs again at its time; what the cause names may need a look by then")
	}
}

// watch ends a running chore's context when another process may run it.
func (t *Timetable) watch(ctx context.Context, lose context.CancelCauseFunc) {
	tick := time.NewTicker(t.cfg.Watch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := t.leads(ctx); err != nil && ctx.Err() == nil {
				lose(err)
				return
			}
		}
	}
}

// errNotLeading says that another process has the chores.
var errNotLeading = errors.New("this process does not lead")

// leads is nil where this process has the chores.
func (t *Timetable) leads(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, t.cfg.Patience)
	defer done()
	ours, err := t.elector.Leads(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errNotLeading, err)
	case !ours:
		return errNotLeading
	}
	return nil
}

// election is the elector as gocron asks it.
type election struct{ *Timetable }

func (e election) IsLeader(ctx context.Context) error {
	err := e.leads(ctx)
	if err != nil && !errors.Is(err, context.Canceled) && err != errNotLeading { //nolint:errorlint // only the bare one is no trouble
		e.log.Warn("no election, chores are passed over until there is one", "cause", err, "next", "see that postgres answers")
	}
	return err
}
