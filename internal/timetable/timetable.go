// Package timetable runs scheduled tasks at their times, on one process of many.
//
// Times are UTC. A task never runs twice at once: a time that comes while it still runs, or while no process runs, is
// skipped. But a daily task that has not succeeded for more than a day runs as soon as a process leads, because a
// machine may sleep every night.
package timetable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

const (
	storeTimeout  = 10 * time.Second // of the elector and the history
	leadInterval  = 2 * time.Second  // between two checks of the leadership while a task runs
	stopTimeout   = 20 * time.Second // for cancelled tasks to end
	checkInterval = time.Minute      // between two checks for missed tasks, and before the first one
)

// An Elector lets one process of many lead. It is called before every run and during runs, from several goroutines.
type Elector interface {
	Leads(ctx context.Context) (bool, error)
}

// Timetable holds tasks and runs them.
type Timetable struct {
	elector  Elector
	history  History
	log      *slog.Logger
	metrics  *Metrics
	tasks    []*task
	onFollow []func()
}

// Metrics are shared by all timetables of a process.
type Metrics struct{ succeeded, failed, took *prometheus.GaugeVec } // by task

type task struct {
	name     string
	schedule Schedule
	run      func(context.Context) error
	job      gocron.Job
	began    atomic.Int64 // last begin in this process, in Unix time
}

// New returns a timetable without tasks.
func New(elector Elector, history History, metrics *Metrics, log *slog.Logger) *Timetable {
	return &Timetable{elector: elector, history: history, log: log, metrics: metrics}
}

// NewMetrics registers metrics.
func NewMetrics(registerer prometheus.Registerer) *Metrics {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return promauto.With(registerer).NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"task"})
	}
	return &Metrics{
		succeeded: gauge("answerscope_task_last_success_timestamp_seconds",
			"When a scheduled task last succeeded in any process, in Unix time, as far as this one knows."),
		failed: gauge("answerscope_task_last_failure_timestamp_seconds",
			"When a scheduled task last failed in this process, in Unix time."),
		took: gauge("answerscope_task_last_duration_seconds",
			"Seconds that a scheduled task's last run in this process took, whether or not it succeeded."),
	}
}

// Every adds a task, before Run. Its name is unique, and labels its metrics and logs. The ctx of a run ends when this
// process no longer leads: run must return soon, since another process may already be running the task.
func (t *Timetable) Every(name string, schedule Schedule, run func(ctx context.Context) error) {
	t.tasks = append(t.tasks, &task{name: name, schedule: schedule, run: run})
}

// OnFollow adds a function, before Run, that runs at each due time while another process leads. It resets the gauges of
// a task, which would otherwise keep their values from when this process led.
func (t *Timetable) OnFollow(f func()) { t.onFollow = append(t.onFollow, f) }

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
		run := gocron.NewTask(func() { t.do(ctx, k) })
		k.job, err = scheduler.NewJob(k.schedule.times, run, gocron.WithName(k.name))
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
	k.began.Store(began.Unix())
	leading, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { t.watchLead(leading, cancel) })
	err := k.run(leading)
	took := time.Since(began)
	lost := context.Cause(leading)
	cancel(nil)
	watching.Wait()

	t.metrics.took.WithLabelValues(k.name).Set(took.Seconds())
	switch {
	case err == nil:
		t.metrics.succeeded.WithLabelValues(k.name).SetToCurrentTime()
		t.log.Log(ctx, k.schedule.level, "task done", "task", k.name, "took", took)
		t.recordSuccess(ctx, k)
	case ctx.Err() != nil:
		t.log.Info("task interrupted", "task", k.name, "took", took)
	default:
		if errors.Is(lost, errNotLeading) {
			err = errors.Join(lost, err)
		}
		t.metrics.failed.WithLabelValues(k.name).SetToCurrentTime()
		t.log.Error("task failed", "task", k.name, "took", took, "cause", err,
			"next", "nothing: it runs again at its time; fix what the cause names by then")
	}
}

// watchLead cancels a running task when another process may run it.
func (t *Timetable) watchLead(ctx context.Context, cancel context.CancelCauseFunc) {
	for lifecycle.Pause(ctx, leadInterval) == nil {
		if err := t.leads(ctx); err != nil && ctx.Err() == nil {
			cancel(err)
			return
		}
	}
}

// errNotLeading is returned while another process runs the tasks.
var errNotLeading = errors.New("this process does not lead")

// leads is nil while this process runs the tasks.
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

// election is the gocron.Elector of a timetable.
type election struct{ timetable *Timetable }

func (e election) IsLeader(ctx context.Context) error {
	err := e.timetable.leads(ctx)
	switch {
	case err == nil, errors.Is(err, context.Canceled):
	case err == errNotLeading: //nolint:errorlint // unwrapped: another process leads
		for _, f := range e.timetable.onFollow {
			f()
		}
	default:
		e.timetable.log.Warn("no leader elected; tasks are skipped until there is one", "cause", err,
			"next", "check that postgres answers")
	}
	return err
}

// A Schedule is the times at which a task is due.
type Schedule struct {
	times gocron.JobDefinition
	daily bool
	level slog.Level // of the line that logs its success
}

// Daily is once a day, at hour:minute; and immediately if the task last succeeded more than a day ago.
func Daily(hour, minute uint) Schedule {
	return Schedule{times: gocron.CronJob(fmt.Sprintf("%d %d * * *", minute, hour), false), daily: true}
}

// Hourly is once an hour, at a minute of it.
func Hourly(minute uint) Schedule {
	return Schedule{times: gocron.CronJob(fmt.Sprintf("%d * * * *", minute), false)}
}

// Interval is every d, the first time d after the start. It is for tasks that mostly have nothing to do, so their
// success is logged at debug level.
func Interval(d time.Duration) Schedule {
	return Schedule{times: gocron.DurationJob(d), level: slog.LevelDebug}
}

// History records for all processes when tasks last succeeded. It is called from several goroutines.
type History interface {
	// Add adds the tasks that have no record.
	Add(ctx context.Context, names []string) error
	// Read returns when tasks were added and, if they ever succeeded, when they last did.
	Read(ctx context.Context, names []string) (added, succeeded map[string]time.Time, err error)
	// Succeeded records that a task has just succeeded.
	Succeeded(ctx context.Context, name string) error
}

// day is how long ago a daily task may have succeeded. It is more than 24 hours, since a run may take longer than the
// run of the day before.
const day = 25 * time.Hour

// watchMissed runs daily tasks whose time came while no process ran, until ctx ends.
func (t *Timetable) watchMissed(ctx context.Context) {
	failing := false
	for lifecycle.Pause(ctx, checkInterval) == nil {
		err := t.runMissed(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			t.log.Warn("missed tasks unknown", "cause", err,
				"next", "check that postgres answers; tasks run at their times meanwhile")
		}
		failing = err != nil
	}
}

// runMissed runs the first task that has not succeeded for a day, if this process leads. A task that failed in this
// process waits for its next time.
func (t *Timetable) runMissed(ctx context.Context) error {
	if t.leads(ctx) != nil {
		return nil // the leader runs it; IsLeader logs that no leader is elected
	}
	ctx, done := context.WithTimeout(ctx, storeTimeout)
	defer done()
	var names []string
	for _, k := range t.tasks {
		names = append(names, k.name)
	}
	if err := t.history.Add(ctx, names); err != nil {
		return err
	}
	added, succeeded, err := t.history.Read(ctx, names)
	if err != nil {
		return err
	}
	now := time.Now().Round(0) // of the wall clock: the monotonic one may stop while the machine sleeps
	for _, k := range t.tasks {
		last, ever := succeeded[k.name]
		if ever {
			t.metrics.succeeded.WithLabelValues(k.name).Set(float64(last.UnixMilli()) / 1000)
		} else {
			last = added[k.name]
		}
		if !k.schedule.daily || now.Sub(last) < day || now.Sub(time.Unix(k.began.Load(), 0)) < day {
			continue
		}
		t.log.Info("task was missed, and runs now", "task", k.name, "since", last)
		return k.job.RunNow() // one at a time
	}
	return nil
}

func (t *Timetable) recordSuccess(ctx context.Context, k *task) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer done()
	if err := t.history.Succeeded(ctx, k.name); err != nil {
		t.log.Warn("success of a task not recorded", "task", k.name, "cause", err,
			"next", "nothing: the task may run once more than needed")
	}
}
