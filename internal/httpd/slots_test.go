package httpd

import (
	"context"
	"sync"
	"testing"

	"github.com/gofrs/uuid/v5"
)

// Of an organization's forty requests four are answered at once, and another's does not wait for them. One that gives
// up while it waits leaves nothing.
func TestAnOrganizationHasItsSlots(t *testing.T) {
	t.Parallel()
	var slots Slots
	busy, other := uuid.UUID{1}, uuid.UUID{2}
	var asking sync.WaitGroup
	entered, leave := make(chan bool, 40), make(chan bool)
	for range 40 {
		asking.Go(func() {
			release, err := slots.Acquire(t.Context(), busy)
			if err != nil {
				t.Error(err)
				return
			}
			entered <- true
			<-leave
			release()
		})
	}
	for range requestsAtOnce {
		<-entered
	}
	release, err := slots.Acquire(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if _, ok := slots.TryAcquire(busy); ok {
		t.Error("a request that does not wait gets a slot that is taken")
	}
	if release, ok := slots.TryAcquire(other); !ok {
		t.Error("a request that does not wait gets no free slot")
	} else {
		release()
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := slots.Acquire(over, busy); err == nil {
		t.Error("a request that has ended gets a slot")
	}
	if len(entered) > 0 {
		t.Errorf("%d more than %d are answered at once", len(entered), requestsAtOnce)
	}
	close(leave)
	asking.Wait()
	if len(slots.owners) > 0 {
		t.Errorf("%d organizations are kept after their last request", len(slots.owners))
	}
}
