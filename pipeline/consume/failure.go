package consume

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// failureGrace is how long a batch may fail before readiness says so: an engine may restart meanwhile.
const failureGrace = time.Minute

// failures are the partitions of a topic that have stopped, or do not get past a batch. It is safe for concurrent use.
type failures struct {
	mu      sync.Mutex
	stopped map[int32]error
	failing map[int32]failure
}

// failure is a batch that does not land.
type failure struct {
	since time.Time
	cause error
}

// reset forgets everything: partitions were assigned anew.
func (f *failures) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped, f.failing = map[int32]error{}, map[int32]failure{}
}

func (f *failures) stop(partition int32, cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped[partition] = cause
}

// set remembers why a batch that is under way since then does not land; a nil
// cause is that it did.
func (f *failures) set(partition int32, since time.Time, cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cause == nil {
		delete(f.failing, partition)
		return
	}
	f.failing[partition] = failure{since, cause}
}

// err joins what there is to know.
func (f *failures) err(now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(f.stopped)) {
		errs = append(errs, f.stopped[id])
	}
	for _, id := range slices.Sorted(maps.Keys(f.failing)) {
		if r := f.failing[id]; now.Sub(r.since) > failureGrace {
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
