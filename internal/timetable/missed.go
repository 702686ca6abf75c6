package timetable

import (
	"context"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// A Book remembers for all processes when chores last succeeded. It is used from
// several goroutines.
type Book interface {
	// Enter makes chores known that are not.
	Enter(ctx context.Context, names []string) error
	// Past says since when chores have been known, and when those that ever succeeded last did.
	Past(ctx context.Context, names []string) (known, succeeded map[string]time.Time, err error)
	// Succeeded notes that a chore has, just now.
	Succeeded(ctx context.Context, name string) error
}

// day is how long ago a daily chore may have succeeded: one that is done sooner than the
// day before was not missed.
const day = 25 * time.Hour

// missed runs daily chores whose time came while no process was awake.
type missed struct {
	*Timetable
	jobs map[*chore]gocron.Job
}

// watch looks what was missed, now and then until ctx ends.
func (m missed) watch(ctx context.Context) {
	tick := time.NewTicker(m.cfg.Missed)
	defer tick.Stop()
	well := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := m.makeUp(ctx)
		if err != nil && well && ctx.Err() == nil {
			m.log.Warn("chores that were missed are not looked for", "cause", err,
				"next", "see that postgres answers; chores run at their times meanwhile")
		}
		well = err == nil
	}
}

// makeUp runs the first chore that has not succeeded for a day, if this process leads.
// One that failed in this process waits for its next time.
func (m missed) makeUp(ctx context.Context) error {
	if m.leads(ctx) != nil {
		return nil // who leads does it; that nobody can is said where chores are due
	}
	ctx, done := context.WithTimeout(ctx, m.cfg.Patience)
	defer done()
	var names []string
	for _, c := range m.chores {
		names = append(names, c.name)
	}
	if err := m.book.Enter(ctx, names); err != nil {
		return err
	}
	known, succeeded, err := m.book.Past(ctx, names)
	if err != nil {
		return err
	}
	now := time.Now().Round(0) // the wall's: the other clock may stand still while the machine sleeps
	for _, c := range m.chores {
		last, ever := succeeded[c.name]
		if ever {
			m.succeeded.WithLabelValues(c.name).Set(float64(last.UnixMilli()) / 1000)
		} else {
			last = known[c.name]
		}
		if !c.schedule.daily || now.Sub(last) < day || now.Sub(time.Unix(c.begun.Load(), 0)) < day {
			continue
		}
		m.log.Info("chore was missed, and runs now", "chore", c.name, "since", last)
		return m.jobs[c].RunNow() // one at a time
	}
	return nil
}

// note writes into the book that a chore has succeeded. Without that it would only run
// once more.
func (t *Timetable) note(ctx context.Context, c *chore) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), t.cfg.Patience)
	defer done()
	if err := t.book.Succeeded(ctx, c.name); err != nil {
		t.log.Warn("success of a chore not noted", "chore", c.name, "cause", err, "next", "nothing: the chore may run once more than it need")
	}
}
