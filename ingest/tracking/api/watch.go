package api

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// watch looks at the jobs of all long polls together, with one query however many there are. A poll that waits holds no
// connection of PostgreSQL.
type watch struct {
	db *postgres.DB

	mu     sync.Mutex
	polls  map[postgres.JobKey]int // that wait for a job
	seen   map[uuid.UUID]postgres.TrackingJob
	err    error
	looked chan struct{} // closed after the next look; nil: no poll waits
}

func newWatch(db *postgres.DB) *watch { return &watch{db: db, polls: map[postgres.JobKey]int{}} }

// join has a job looked at until leave is called.
func (w *watch) join(job postgres.JobKey) (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.polls[job]++
	if w.looked == nil {
		w.looked = make(chan struct{})
		go w.run()
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.polls[job]--; w.polls[job] == 0 {
			delete(w.polls, job)
		}
	}
}

// next waits for the next look, and returns how it saw a job that was joined; false: it did not see it, since it was
// joined after the look began, or is gone.
func (w *watch) next(ctx context.Context, id uuid.UUID) (j postgres.TrackingJob, seen bool, err error) {
	w.mu.Lock()
	looked := w.looked
	w.mu.Unlock()
	select {
	case <-ctx.Done():
		return j, false, context.Cause(ctx)
	case <-looked:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	j, seen = w.seen[id]
	return j, seen, w.err
}

// run looks until no poll waits.
func (w *watch) run() {
	for {
		<-time.After(pollInterval)
		w.mu.Lock()
		jobs := slices.Collect(maps.Keys(w.polls))
		if len(jobs) == 0 {
			w.looked, w.seen = nil, nil
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		ctx, done := context.WithTimeout(context.Background(), lookTimeout)
		list, err := w.db.TrackingJobsByKey(ctx, jobs)
		done()
		w.mu.Lock()
		w.seen, w.err = make(map[uuid.UUID]postgres.TrackingJob, len(list)), err
		for _, j := range list {
			w.seen[j.ID] = j
		}
		close(w.looked)
		w.looked = make(chan struct{})
		w.mu.Unlock()
	}
}
