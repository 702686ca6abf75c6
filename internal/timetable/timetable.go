// Package timetable runs scheduled tasks at their times: of any number of processes, one.
//
// Times are UTC. A task never runs twice at once: a time that comes while it still runs is passed over, and so is one
// at which no process ran. But a daily task that has not succeeded for more than a day runs as soon as a process is
// there, because a machine may sleep every night.
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

const (
	storeTimeout  = 10 * time.Second // for the elector or the history to answer
	leadInterval  = 2 * time.Second  // between two checks, while a task runs, that this process still leads
	stopTimeout   = 20 * time.Second // for running tasks to end once they are cancelled
	checkInterval = time.Minute      // between two checks for missed tasks; the first comes that long after the start
)

// An Elector lets one process of many lead. It is asked before every run, and while one goes on, from several
// goroutines.
type Elector interface {
	Leads(ctx context.Context) (bool, error)
}

// Timetable holds tasks and runs them.
type Timetable struct {
	elector Elector
	history History
	log     *slog.Logger
	tasks   []*task

	succeeded, failed, took *prometheus.GaugeVec // by task
}

type task struct {
	name     string
	schedule Schedule
	run      func(context.Context) error
	job      gocron.Job
	begun    atomic.Int64 // when it last began in this process, in Unix time
}

// New has no tasks yet.
func New(elector Elector, history History, registerer prometheus.Registerer, log *slog.Logger) *Timetable {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"task"})
	}
	t := &Timetable{elector: elector, history: history, log: log,
		succeeded: gauge("answerscope_task_last_success_timestamp_seconds",
			"When a scheduled task last succeeded in any process, in Unix time, as far as this one knows."),
		failed: gauge("answerscope_task_last_failure_timestamp_seconds",
			"When a scheduled task last failed in this process, in Unix time."),
		took: gauge("answerscope_task_last_duration_seconds",
			"Seconds that a scheduled task's last run in this process took, whether or not it succeeded."),
	}
	registerer.MustRegister(t.succeeded, t.failed, t.took)
	return t
}

// Every adds a task, before Run. Its name is unique, and labels its metrics and logs. The ctx that run is given ends
// when this process no longer leads: run must return soon, since another process may already be running it.
func (t *Timetable) Every(name string, schedule Schedule, run func(ctx context.Context) error) {
	t.tasks = append(t.tasks, &task{name: name, schedule: schedule, run: run})
}

// Run runs the tasks at their times until ctx ends and they have ended.
func (t *Timetable) Run(ctx context.Context) error {
	scheduler, err := gocron.NewScheduler(
		gocron.WithLocation(time.UTC),
		gocron.WithDistributedElector(election{t}),
		gocron.WithStopTimeout(stopTimeout),
		gocron.WithGlobalJobOptions(gocron.WithSingletonMode(gocron.LimitModeReschedule)))
	if err != nil {
		return fmt.Errorf("make timetable: %w", err)
	}
	for _, k := range t.tasks {
		k.job, err = scheduler.NewJob(k.schedule.times, gocron.NewTask(func() { t.do(ctx, k) }), gocron.WithName(k.name))
		if err != nil {
			return errors.Join(fmt.Errorf("schedule task %s: %w", k.name, err), scheduler.Shutdown())
		}
	}
	scheduler.Start()
	t.watchMissed(ctx)
	if err := scheduler.Shutdown(); err != nil {
		return fmt.Errorf("stop timetable: %w", err)
	}
	return nil
}

// do runs a task once, for as long as this process leads.
func (t *Timetable) do(ctx context.Context, k *task) {
	began := time.Now()
	k.begun.Store(began.Unix())
	leading, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		t.watchLead(leading, cancel)
	}()
	err := k.run(leading)
	took := time.Since(began)
	lost := context.Cause(leading)
	cancel(nil)
	<-watched

	t.took.WithLabelValues(k.name).Set(took.Seconds())
	switch {
	case err == nil:
		t.succeeded.WithLabelValues(k.name).SetToCurrentTime()
		t.log.Info("task done", "task", k.name, "took", took)
		t.recordSuccess(ctx, k)
	case ctx.Err() != nil:
		t.log.Info("task interrupted", "task", k.name, "took", took)
	default:
		if errors.Is(lost, errNotLeading) {
			err = errors.Join(lost, err)
		}
		t.failed.WithLabelValues(k.name).SetToCurrentTime()
		t.log.Error("task failed", "task", k.name, "took", took, "cause", err,
			"next", "nothing: it runs again at its time; fix what the cause names by then")
	}
}

// watchLead cancels a running task when another process may run it.
func (t *Timetable) watchLead(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(leadInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := t.leads(ctx); err != nil && ctx.Err() == nil {
				cancel(err)
				return
			}
		}
	}
}

// errNotLeading says that another process runs the tasks.
var errNotLeading = errors.New("this process does not lead")

// leads is nil where this process runs the tasks.
func (t *Timetable) leads(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, storeTimeout)
	defer done()
	leads, err := t.elector.Leads(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errNotLeading, err)
	case !leads:
		return errNotLeading
	}
	return nil
}

// election is the elector in gocron's form.
type election struct{ *Timetable }

func (e election) IsLeader(ctx context.Context) error {
	err := e.leads(ctx)
	if err != nil && !errors.Is(err, context.Canceled) && err != errNotLeading { //nolint:errorlint // the bare one is no failure
		e.log.Warn("no leader elected; tasks are skipped until there is one", "cause", err, "next", "check that postgres answers")
	}
	return err
}
