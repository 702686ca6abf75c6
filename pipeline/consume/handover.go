package consume

import "context"

// A handover passes batches from who collects them to who lands them.
type handover[T any] struct {
	batches chan collected[T]
	wanted  chan struct{} // of one: the one before has landed
}

func newHandover[T any]() handover[T] {
	return handover[T]{make(chan collected[T]), make(chan struct{}, 1)}
}

// want lets a batch end that has lingered: until then it grows, up to its limits, so
// that inserts are the larger the more there is to do.
func (h handover[T]) want() {
	select {
	case h.wanted <- struct{}{}:
	default:
	}
}

// took ends want.
func (h handover[T]) took() {
	select {
	case <-h.wanted:
	default:
	}
}

// lingered waits until a batch is wanted or the linger is over without.
func (h handover[T]) lingered(linger context.Context, end func()) {
	select {
	case <-h.wanted:
		if linger.Err() != nil { // the batch was full first, and what is wanted is the next one
			h.want()
			return
		}
		end()
	case <-linger.Done():
	}
}

// hand gives a batch to who lands them.
func (h handover[T]) hand(ctx context.Context, c collected[T]) bool {
	select {
	case h.batches <- c:
		return true
	case <-ctx.Done():
		return false
	}
}
