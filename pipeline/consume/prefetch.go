package consume

import "context"

// A prefetch passes batches from the goroutine that collects them to the one that lands them. The latter puts a request
// into wanted when it waits for a batch, and takes it back once it has one. A batch that has lingered ends when it is
// requested; until then it grows, up to its limits, so that inserts get larger under load.
type prefetch[T any] struct {
	batches chan collected[T]
	wanted  chan struct{} // of one request
}

func newPrefetch[T any]() prefetch[T] {
	return prefetch[T]{make(chan collected[T]), make(chan struct{}, 1)}
}

// request says that a batch is wanted.
func (f prefetch[T]) request() {
	select {
	case f.wanted <- struct{}{}:
	default:
	}
}

// received ends a request.
func (f prefetch[T]) received() {
	select {
	case <-f.wanted:
	default:
	}
}

// endWhenWanted waits until a batch is wanted, and ends it then, or until linger is over.
func (f prefetch[T]) endWhenWanted(linger context.Context, end func()) {
	select {
	case <-f.wanted:
		if linger.Err() != nil { // the batch was full first, and the next one is wanted
			f.request()
			return
		}
		end()
	case <-linger.Done():
	}
}

// deliver gives a batch to the goroutine that lands it; false when ctx has ended.
func (f prefetch[T]) deliver(ctx context.Context, c collected[T]) bool {
	select {
	case f.batches <- c:
		return true
	case <-ctx.Done():
		return false
	}
}
