package consume

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// troublePatience is how long a batch may be refused before readiness says so:
// an engine that restarts is no trouble.
const troublePatience = time.Minute

// trouble is what a person should know of a topic's partitions. It is safe for
// concurrent use.
type trouble struct {
	mu      sync.Mutex
	stopped map[int32]error
	refused map[int32]refusal
}

// refusal is a batch that does not land.
type refusal struct {
	since time.Time
	cause error
}

// reset forgets everything: partitions were assigned anew.
func (t *trouble) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped, t.refused = map[int32]error{}, map[int32]refusal{}
}

func (t *trouble) stop(partition int32, cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped[partition] = cause
}

// set remembers why a batch that is under way since then does not land; a nil
// cause is that it did.
func (t *trouble) set(partition int32, since time.Time, cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cause == nil {
		delete(t.refused, partition)
		return
	}
	t.refused[partition] = refusal{since, cause}
}

// err joins what there is to know.
func (t *trouble) err(now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(t.stopped)) {
		errs = append(errs, t.stopped[id])
	}
	for _, id := range slices.Sorted(maps.Keys(t.refused)) {
		if r := t.refused[id]; now.Sub(r.since) > troublePatience {
			errs = append(errs, fmt.Errorf("partition %d has not landed a batch for %s: %w", id, now.Sub(r.since).Round(time.Second), r.cause))
		}
	}
	return errors.Join(errs...)
}

// seldom lets one of many alike messages through a minute. It is safe for
// concurrent use.
type seldom struct {
	mu   sync.Mutex
	last time.Time
}

func (s *seldom) now() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.last) < time.Minute {
		return false
	}
	s.last = time.Now()
	return true
}
