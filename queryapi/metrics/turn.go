package metrics

import (
	"context"
	"sync"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/sync/semaphore"
)

// requestsAtOnce is how many requests of one organization are answered at once; its others wait in the order in which they
// came. So an organization that asks much takes its own time, and no connections to the warehouse from the rest.
const requestsAtOnce = 4

// turns are of the organizations that have requests under way.
type turns struct {
	mu sync.Mutex
	of map[uuid.UUID]*turn
}

type turn struct {
	free     *semaphore.Weighted
	requests int // under way or waiting
}

// take waits until a request of an organization may be answered; done lets the next one in.
func (t *turns) take(ctx context.Context, organization uuid.UUID) (done func(), err error) {
	t.mu.Lock()
	if t.of[organization] == nil {
		t.of[organization] = &turn{free: semaphore.NewWeighted(requestsAtOnce)}
	}
	own := t.of[organization]
	own.requests++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.requests--; own.requests == 0 {
			delete(t.of, organization)
		}
	}
	if err := own.free.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	return func() { own.free.Release(1); leave() }, nil
}
