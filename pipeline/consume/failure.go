package consume

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// failureGrace is how long a batch may fail before readiness reports it: an engine may restart meanwhile.
const failureGrace = time.Minute

// failures are the partitions that have stopped, or fail to land a batch. It is safe for concurrent use.
type failures struct {
	mu         sync.Mutex
	partitions map[int32]failure
}

type failure struct {
	since time.Time // when the batch began; zero: the partition has stopped
	cause error
}

// reset forgets everything: partitions were assigned anew.
func (f *failures) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.partitions = map[int32]failure{}
}

// set records why a partition has not landed the batch that it began at since; nil: it has.
func (f *failures) set(partition int32, since time.Time, cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cause == nil {
		delete(f.partitions, partition)
		return
	}
	f.partitions[partition] = failure{since, cause}
}

// err joins the causes of the partitions that have stopped, or fail for longer than failureGrace.
func (f *failures) err(now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(f.partitions)) {
		switch r := f.partitions[id]; {
		case r.since.IsZero():
			errs = append(errs, r.cause)
		case now.Sub(r.since) > failureGrace:
			errs = append(errs, fmt.Errorf("partition %d has not landed a batch for %s: %w", id, now.Sub(r.since).Round(time.Second), r.cause))
		}
	}
	return errors.Join(errs...)
}
