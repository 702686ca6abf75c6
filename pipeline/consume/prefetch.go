package consume

import "context"

// A prefetch passes batches from the goroutine that collects them to the one that lands them.
type prefetch[T any] struct {
	batches chan collected[T]
	wanted  chan struct{} // of one: the batch before has landed
}

func newPrefetch[T any]() prefetch[T] {
	return prefetch[T]{make(chan collected[T]), make(chan struct{}, 1)}
}

// want lets a batch end that has lingered. Until then it grows, up to its limits, so that inserts get larger under load.
func (f prefetch[T]) want() {
	select {
	case f.wanted <- struct{}{}:
	default:
	}
}

// took ends want.
func (f prefetch[T]) took() {
	select {
	case <-f.wanted:
	default:
	}
}

// lingered waits until a batch is wanted, and ends it then, or until linger is over.
func (f prefetch[T]) lingered(linger context.Context, end func()) {
	select {
	case <-f.wanted:
		if linger.Err() != nil { // the batch was full first, and the next one is wanted
			f.want()
			return
		}
		end()
	case <-linger.Done():
	}
}

// pass gives a batch to the goroutine that lands it; false when ctx has ended.
func (f prefetch[T]) pass(ctx context.Context, c collected[T]) bool {
	select {
	case f.batches <- c:
		return true
	case <-ctx.Done():
		return false
	}
}
