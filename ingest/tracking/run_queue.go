package tracking

import (
	"context"
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

	tried        []string        // providers that have failed since the run was due
	retryable    *platform.Error // of one of them
	polls        int
	heard        int // polls that the provider answered
	polledAt     time.Time
	runningSince time.Time // the provider has begun; zero: not yet
}

func (r *queuedRun) deadline() time.Time { return r.Slot.Add(runTimeout) }

// pay adds what a failed request cost; "" is nothing.
func (r *queuedRun) pay(cost string) {
	if sum, ok := new(big.Rat).SetString(cost); ok {
		r.Cost = postgres.Decimal(sum.Add(sum, decimal(r.Cost)))
	}
}

// canPay reports whether what is left of the run's estimate pays for one more request, where a budget limits cost. A
// run that has cost nothing has it reserved; a price of nil is not limited.
func (r *queuedRun) canPay(price *big.Rat) bool {
	spent := decimal(r.Cost)
	return price == nil || spent.Sign() == 0 || spent.Add(spent, price).Cmp(decimal(r.Estimate)) <= 0
}

// decimal returns an amount of PostgreSQL, which is always a number.
func decimal(text string) *big.Rat {
	amount, ok := new(big.Rat).SetString(text)
	if !ok {
		return new(big.Rat)
	}
	return amount
}

// runQueue holds the runs of one job and platform that have not ended, in the order of their times.
type runQueue struct {
	mu      sync.Mutex
	open    bool         // more may be added
	ready   []*queuedRun // by notBefore
	taken   int
	blocked map[uuid.UUID]*queuedRun // while another job asks their question
	changed chan struct{}            // a run is ready, or none is left
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
	q.signal()
}

// close ends a queue that is open once its runs have ended.
func (q *runQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = false
	q.signal()
}

// adopt counts a run that is elsewhere, and given back later.
func (q *runQueue) adopt() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken++
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

// next waits for the next run, which the caller gives back by retry, block or done. It returns false once every run has
// ended, or ctx has.
func (q *runQueue) next(ctx context.Context, now func() time.Time) (*queuedRun, bool) {
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
		case <-q.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// take returns the first run if its time has come, else how long to wait for it.
func (q *runQueue) take(now time.Time) (r *queuedRun, wait time.Duration, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ready) == 0 {
		return nil, time.Hour, !q.open && q.taken == 0 && len(q.blocked) == 0
	}
	if wait := q.ready[0].notBefore.Sub(now); wait > 0 {
		return nil, wait, false
	}
	q.taken++
	r, q.ready[0] = q.ready[0], nil
	q.ready = q.ready[1:]
	return r, 0, false
}

// takeAll returns all ready runs, also before their times.
func (q *runQueue) takeAll() []*queuedRun {
	q.mu.Lock()
	defer q.mu.Unlock()
	runs := q.ready
	q.ready, q.taken = nil, q.taken+len(runs)
	return runs
}

// retry gives back a run that is asked again.
func (q *runQueue) retry(r *queuedRun) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	q.insert(r)
}

// block gives back a run that has ended elsewhere, or whose question another job is asking.
func (q *runQueue) block(r *queuedRun) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	q.blocked[r.ID] = r
}

// done gives back a run that has ended.
func (q *runQueue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	q.signal()
}

func (q *runQueue) blockedIDs() []uuid.UUID {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Collect(maps.Keys(q.blocked))
}

// unblock readies the blocked runs whose question is free. Runs that are not in free have ended.
func (q *runQueue) unblock(ids []uuid.UUID, free map[uuid.UUID]bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range ids {
		isFree, unended := free[id]
		if unended && !isFree {
			continue
		}
		if isFree {
			q.insert(q.blocked[id])
		}
		delete(q.blocked, id)
	}
	q.signal()
}

func (q *runQueue) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}
