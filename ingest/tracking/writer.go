package tracking

import (
	"context"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

// maxWriteBytes bounds the records of one write, roughly: many wait after an outage.
const maxWriteBytes = 16 << 20

// batchWriter stores the states of a job's runs. What comes during a write joins the next one, so two thousand runs in
// flight cost PostgreSQL some hundred transactions a second, and a lone one does not wait.
type batchWriter struct {
	claim postgres.TrackingClaim
	ctx   context.Context // of writes; it outlives the worker's, for an answer that is not stored was paid for in vain

	mu      sync.Mutex
	pending []*writeBatch
	writing bool
}

type writeBatch struct {
	asks     []uuid.UUID // runs whose requests are about to be sent
	outcomes []postgres.RunOutcome
	bytes    int
	written  chan struct{} // closed once the results below are set

	granted     map[uuid.UUID]bool // runs whose requests may be sent
	askErr      error
	otherJobs   bool // the brand has other running jobs
	outcomesErr error
}

// ask marks a run as asking, and reports whether its request may be sent.
func (w *batchWriter) ask(run uuid.UUID) (granted bool, err error) {
	b := w.join(func(b *writeBatch) { b.asks = append(b.asks, run) }, 0)
	return b.granted[run], b.askErr
}

// end stores how a request ended, and reports whether the brand has other running jobs. If it has, an answer is stored
// only once it is shared.
func (w *batchWriter) end(o postgres.RunOutcome) (otherJobs bool, err error) {
	b := w.join(func(b *writeBatch) { b.outcomes = append(b.outcomes, o) }, len(o.Answer))
	return b.otherJobs, b.outcomesErr
}

// join adds something of so many bytes to the last pending batch, and returns once that is written.
func (w *batchWriter) join(add func(*writeBatch), bytes int) *writeBatch {
	w.mu.Lock()
	if n := len(w.pending); n == 0 || w.pending[n-1].bytes+bytes > maxWriteBytes {
		w.pending = append(w.pending, &writeBatch{written: make(chan struct{})})
	}
	b := w.pending[len(w.pending)-1]
	add(b)
	b.bytes += bytes
	if !w.writing {
		w.writing = true
		go w.writePending()
	}
	w.mu.Unlock()
	<-b.written
	return b
}

func (w *batchWriter) writePending() {
	for {
		w.mu.Lock()
		if len(w.pending) == 0 {
			w.writing = false
			w.mu.Unlock()
			return
		}
		b := w.pending[0]
		w.pending = w.pending[1:]
		w.mu.Unlock()
		w.write(b)
		close(b.written)
	}
}

// write stores outcomes first, each kind in a transaction of its own.
func (w *batchWriter) write(b *writeBatch) {
	if len(b.outcomes) > 0 {
		b.otherJobs, b.outcomesErr = retryRead(w.ctx, func(ctx context.Context) (bool, error) {
			return w.claim.End(ctx, b.outcomes)
		})
	}
	if len(b.asks) == 0 {
		return
	}
	var granted []uuid.UUID
	granted, b.askErr = retryRead(w.ctx, func(ctx context.Context) ([]uuid.UUID, error) {
		return w.claim.Ask(ctx, b.asks)
	})
	b.granted = make(map[uuid.UUID]bool, len(granted))
	for _, id := range granted {
		b.granted[id] = true
	}
}

const (
	statementTimeout = 15 * time.Second // a connection may be lost without a sign
	statementRetry   = time.Second
)

// retry calls f until PostgreSQL answers it, or ctx ends.
func retry(ctx context.Context, f func(context.Context) error) error {
	backoff := lifecycle.Backoff{First: statementRetry, Max: statementRetry}
	return lifecycle.Retry(ctx, backoff, postgres.IsTransient, nil, func(ctx context.Context) error {
		ctx, done := context.WithTimeout(ctx, statementTimeout)
		defer done()
		return f(ctx)
	})
}

// retryRead is retry for a function with a result.
func retryRead[T any](ctx context.Context, f func(context.Context) (T, error)) (result T, err error) {
	err = retry(ctx, func(ctx context.Context) (err error) { result, err = f(ctx); return err })
	return result, err
}
