package httpd

import (
	"context"
	"sync"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/sync/semaphore"
)

// requestsAtOnce is how many requests of one organization are answered at once; its others wait in the order in which
// they came. An organization with many requests thus takes its own time, and no database connections from the others.
const requestsAtOnce = 4

// Slots bounds the requests of each organization that are answered at once. The zero value is ready, and safe for
// concurrent use.
type Slots struct {
	mu            sync.Mutex
	organizations map[uuid.UUID]*organizationSlots
}

type organizationSlots struct {
	free     *semaphore.Weighted
	requests int // under way or waiting
}

// Acquire waits for a slot of an organization; release gives it to the organization's next request.
func (s *Slots) Acquire(ctx context.Context, organization uuid.UUID) (release func(), err error) {
	s.mu.Lock()
	slots := s.organizations[organization]
	if slots == nil {
		if s.organizations == nil {
			s.organizations = map[uuid.UUID]*organizationSlots{}
		}
		slots = &organizationSlots{free: semaphore.NewWeighted(requestsAtOnce)}
		s.organizations[organization] = slots
	}
	slots.requests++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if slots.requests--; slots.requests == 0 {
			delete(s.organizations, organization)
		}
	}
	if err := slots.free.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	return func() { slots.free.Release(1); leave() }, nil
}
