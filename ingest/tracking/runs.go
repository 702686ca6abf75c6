package tracking

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// run is a run that is to be asked.
type run struct {
	postgres.TrackingRun
	at time.Time // when it may be asked
}

func (r *run) deadline() time.Time { return r.Slot.Add(runTimeout) }

// runs are those of one job and platform that are to be asked, in the order of their times.
type runs struct {
	mu      sync.Mutex
	ready   byTime
	taken   int                // by who asks them
	waiting map[uuid.UUID]*run // for another job that asks their question
	change  chan struct{}      // one is ready, or none is left
}

func newRuns() *runs {
	return &runs{waiting: map[uuid.UUID]*run{}, change: make(chan struct{}, 1)}
}

// add adds a run.
func (q *runs) add(r *run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	heap.Push(&q.ready, r)
	q.signal()
}

// next waits for the next run, which its taker gives back by one of retry, setWaiting and done. False: every run has
// ended, or ctx.
func (q *runs) next(ctx context.Context, now func() time.Time) (*run, bool) {
	for {
		r, wait, ended := q.take(now())
		if r != nil || ended {
			return r, r != nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, false
		case <-q.change:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// take takes the first run if its time has come, or says how long to wait.
func (q *runs) take(now time.Time) (r *run, wait time.Duration, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ready) == 0 {
		return nil, time.Hour, q.taken == 0 && len(q.waiting) == 0
	}
	if wait := q.ready[0].at.Sub(now); wait > 0 {
		return nil, wait, false
	}
	q.taken++
	return heap.Pop(&q.ready).(*run), 0, false
}

// takeAny takes a run that nobody has taken, whatever its time; nil: there is none.
func (q *runs) takeAny() *run {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ready) == 0 {
		return nil
	}
	return heap.Pop(&q.ready).(*run)
}

// retry gives back a run that is asked again.
func (q *runs) retry(r *run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	heap.Push(&q.ready, r)
	q.signal()
}

// setWaiting gives back a run that has ended elsewhere, or whose question another job is asking.
func (q *runs) setWaiting(r *run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	q.waiting[r.ID] = r
}

// done gives back a run that has ended.
func (q *runs) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	q.signal()
}

// waitingIDs are those of the runs that wait.
func (q *runs) waitingIDs() []uuid.UUID {
	q.mu.Lock()
	defer q.mu.Unlock()
	ids := make([]uuid.UUID, 0, len(q.waiting))
	for id := range q.waiting {
		ids = append(ids, id)
	}
	return ids
}

// resume readies those of the waiting runs that are free, and forgets those that have ended.
func (q *runs) resume(of []uuid.UUID, free map[uuid.UUID]bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range of {
		isFree, waits := free[id]
		if waits && !isFree {
			continue
		}
		if isFree {
			heap.Push(&q.ready, q.waiting[id])
		}
		delete(q.waiting, id)
	}
	q.signal()
}

func (q *runs) signal() {
	select {
	case q.change <- struct{}{}:
	default:
	}
}

type byTime []*run

func (h byTime) Len() int           { return len(h) }
func (h byTime) Less(i, k int) bool { return h[i].at.Before(h[k].at) }
func (h byTime) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *byTime) Push(r any)        { *h = append(*h, r.(*run)) }
func (h *byTime) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}
