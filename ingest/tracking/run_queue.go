package tracking

import (
	"context"
	"iter"
	"maps"
	"math/big"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/sql/postgres"
)

// queuedRun is a run that waits for its request, or for its capture.
type queuedRun struct {
	postgres.TrackingRun
	notBefore time.Time
	limit     *rateLimit // of the account that is asked

	tried     []string        // providers that have failed since the run was due
	retryable *platform.Error // the last failure of a provider in tried that another request may mend

	polls         int // of the provider's job
	answeredPolls int
	polledAt      time.Time
	runningSince  time.Time // the provider has begun; zero: not yet
	replacedCost  string    // of the job in whose place a late capture is taken, whose own cost was counted
}

func (r *queuedRun) deadline() time.Time { return r.Slot.Add(runTimeout) }

// pay adds what a failed request cost; "" is nothing.
func (r *queuedRun) pay(cost string) {
	if sum, ok := new(big.Rat).SetString(cost); ok {
		r.Cost = postgres.Decimal(sum.Add(sum, decimal(r.Cost)))
	}
}

// decimal returns an amount of PostgreSQL, which is always a number.
func decimal(text string) *big.Rat {
	amount, _ := new(big.Rat).SetString(text)
	return amount
}

// runQueue holds runs in the order of their times.
type runQueue struct {
	mu      sync.Mutex
	ready   []*queuedRun             // by notBefore
	blocked map[uuid.UUID]*queuedRun // while another job asks their question
	changed chan struct{}            // a run is ready
}

func newRunQueue() *runQueue {
	return &runQueue{blocked: map[uuid.UUID]*queuedRun{}, changed: make(chan struct{}, 1)}
}

func (q *runQueue) add(r *queuedRun) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.insert(r)
}

// insert puts a run behind others of the same time.
func (q *runQueue) insert(r *queuedRun) {
	i := sort.Search(len(q.ready), func(i int) bool { return q.ready[i].notBefore.After(r.notBefore) })
	q.ready = slices.Insert(q.ready, i, r)
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// hasten readies a waiting run, at the earliest a second after its last poll.
func (q *runQueue) hasten(id uuid.UUID, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.ready, func(r *queuedRun) bool { return r.ID == id })
	if i < 0 {
		return
	}
	r := q.ready[i]
	if at := r.polledAt.Add(time.Second); at.After(now) {
		now = at
	}
	if now.Before(r.notBefore) {
		q.ready = slices.Delete(q.ready, i, i+1)
		r.notBefore = now
		q.insert(r)
	}
}

// runs takes each run at its time, until ctx ends.
func (q *runQueue) runs(ctx context.Context, now func() time.Time) iter.Seq[*queuedRun] {
	return func(yield func(*queuedRun) bool) {
		for ctx.Err() == nil {
			r, wait := q.take(now())
			if r != nil && !yield(r) {
				return
			}
			select {
			case <-ctx.Done():
			case <-q.changed:
			case <-time.After(wait): // 0 after a run
			}
		}
	}
}

// take returns the first run if its time has come, else how long to wait for it.
func (q *runQueue) take(now time.Time) (r *queuedRun, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ready) == 0 {
		return nil, time.Hour
	}
	if wait := q.ready[0].notBefore.Sub(now); wait > 0 {
		return nil, wait
	}
	r, q.ready[0] = q.ready[0], nil
	q.ready = q.ready[1:]
	return r, 0
}

// takeAll returns all ready runs, also before their times.
func (q *runQueue) takeAll() []*queuedRun {
	q.mu.Lock()
	defer q.mu.Unlock()
	runs := q.ready
	q.ready = nil
	return runs
}

// block holds a run that has ended elsewhere, or whose question another job is asking.
func (q *runQueue) block(r *queuedRun) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.blocked[r.ID] = r
}

func (q *runQueue) blockedIDs() []uuid.UUID {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Collect(maps.Keys(q.blocked))
}

// unblock readies the blocked runs whose question is free, and returns how many have ended: those that are not in free.
func (q *runQueue) unblock(ids []uuid.UUID, free map[uuid.UUID]bool) (ended int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range ids {
		isFree, unended := free[id]
		switch {
		case !unended:
			ended++
		case isFree:
			q.insert(q.blocked[id])
		default:
			continue
		}
		delete(q.blocked, id)
	}
	return ended
}
