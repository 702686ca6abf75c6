package timetable

import (
	"context"
	"time"
)

// History records for all processes when tasks last succeeded. It is used from several goroutines.
type History interface {
	// Add adds the tasks that are not known yet.
	Add(ctx context.Context, names []string) error
	// Read returns since when tasks have been known, and when those that ever succeeded last did.
	Read(ctx context.Context, names []string) (known, succeeded map[string]time.Time, err error)
	// Succeeded records that a task has just succeeded.
	Succeeded(ctx context.Context, name string) error
}

// day is how long ago a daily task may have succeeded. It is more than 24 hours, since a run may end earlier than the
// one of the day before.
const day = 25 * time.Hour

// watchMissed runs daily tasks whose time came while no process ran, until ctx ends.
func (t *Timetable) watchMissed(ctx context.Context) {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := t.runMissed(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			t.log.Warn("missed tasks unknown", "cause", err,
				"next", "check that postgres answers; tasks run at their times meanwhile")
		}
		failing = err != nil
	}
}

// runMissed runs the first task that has not succeeded for a day, if this process leads. One that failed in this
// process waits for its next time.
func (t *Timetable) runMissed(ctx context.Context) error {
	if t.leads(ctx) != nil {
		return nil // the leader does it; that none is elected is logged where tasks are due
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
	known, succeeded, err := t.history.Read(ctx, names)
	if err != nil {
		return err
	}
	now := time.Now().Round(0) // of the wall clock: the monotonic one may stop while the machine sleeps
	for _, k := range t.tasks {
		last, ever := succeeded[k.name]
		if ever {
			t.succeeded.WithLabelValues(k.name).Set(float64(last.UnixMilli()) / 1000)
		} else {
			last = known[k.name]
		}
		if !k.schedule.daily || now.Sub(last) < day || now.Sub(time.Unix(k.begun.Load(), 0)) < day {
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
		t.log.Warn("success of a task not recorded", "task", k.name, "cause", err, "next", "nothing: the task may run once more than needed")
	}
}
