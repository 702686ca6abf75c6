package metrics

import (
	"context"
	"sync"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/sync/semaphore"
)

// requestsAtOnce is how many requests of one organization are answered at once; its others wait in the order in which
// they came. So an organization that asks much takes its own time, and no connections to the warehouse from the rest.
const requestsAtOnce = 4

// slots are those of the organizations that have requests under way.
type slots struct {
	mu sync.Mutex
	of map[uuid.UUID]*organizationSlots
}

type organizationSlots struct {
	free     *semaphore.Weighted
	requests int // under way or waiting
}

// acquire waits for a slot of an organization; release lets its next request have it.
func (s *slots) acquire(ctx context.Context, organization uuid.UUID) (release func(), err error) {
	s.mu.Lock()
	if s.of[organization] == nil {
		s.of[organization] = &organizationSlots{free: semaphore.NewWeighted(requestsAtOnce)}
	}
	own := s.of[organization]
	own.requests++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if own.requests--; own.requests == 0 {
			delete(s.of, organization)
		}
	}
	if err := own.free.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	return func() { own.free.Release(1); leave() }, nil
}
