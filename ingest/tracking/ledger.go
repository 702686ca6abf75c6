package tracking

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

// ledger writes what becomes of a job's runs. What comes while a write is under way joins the next one, so that two
// thousand runs in flight cost PostgreSQL some hundred transactions a second, and a lone one does not wait.
type ledger struct {
	claim postgres.TrackingClaim
	ctx   context.Context // of writes: an answer that is not stored was paid for in vain

	mu      sync.Mutex
	pending []*entry
	writing bool
}

// entry is a run that is about to be asked, or whose request has ended.
type entry struct {
	run     uuid.UUID
	outcome *postgres.RunOutcome // nil: it is about to be asked
	granted bool                 // it may be asked
	others  bool                 // the brand has other running jobs
	err     error
	written chan struct{}
}

// ask reports whether a run may be asked; then its state says that it is.
func (l *ledger) ask(run uuid.UUID) (bool, error) {
	e := &entry{run: run, written: make(chan struct{})}
	l.write(e)
	return e.granted, e.err
}

// end stores how a request ended, and reports whether the brand has other running jobs.
func (l *ledger) end(o postgres.RunOutcome) (others bool, err error) {
	e := &entry{run: o.ID, outcome: &o, written: make(chan struct{})}
	l.write(e)
	return e.others, e.err
}

// endAll is end for some runs together.
func (l *ledger) endAll(outcomes []postgres.RunOutcome) error {
	entries := make([]*entry, len(outcomes))
	for i := range outcomes {
		entries[i] = &entry{run: outcomes[i].ID, outcome: &outcomes[i], written: make(chan struct{})}
	}
	l.write(entries...)
	var errs []error
	for _, e := range entries {
		errs = append(errs, e.err)
	}
	return errors.Join(errs...)
}

// write returns once all entries are written.
func (l *ledger) write(entries ...*entry) {
	l.mu.Lock()
	l.pending = append(l.pending, entries...)
	if !l.writing {
		l.writing = true
		go l.drain()
	}
	l.mu.Unlock()
	for _, e := range entries {
		<-e.written
	}
}

// drain writes all that is pending, and what comes meanwhile.
func (l *ledger) drain() {
	for {
		l.mu.Lock()
		batch := l.pending[:fitting(l.pending)]
		l.pending = l.pending[len(batch):]
		l.writing = len(batch) > 0
		l.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		l.commit(batch)
		for _, e := range batch {
			close(e.written)
		}
	}
}

// maxBatch is how many bytes of records one write has, roughly: after an outage many wait.
const maxBatch = 16 << 20

// fitting is how many of some entries one write takes.
func fitting(pending []*entry) int {
	size := 0
	for i, e := range pending {
		if e.outcome != nil {
			size += len(e.outcome.Answer)
		}
		if size > maxBatch && i > 0 {
			return i
		}
	}
	return len(pending)
}

// commit writes a batch: first what has ended, each part in a transaction of its own, and with an error of its own.
func (l *ledger) commit(batch []*entry) {
	var asks []uuid.UUID
	var outcomes []postgres.RunOutcome
	for _, e := range batch {
		if e.outcome == nil {
			asks = append(asks, e.run)
		} else {
			outcomes = append(outcomes, *e.outcome)
		}
	}
	var others bool
	var granted []uuid.UUID
	var endErr, askErr error
	if len(outcomes) > 0 {
		others, endErr = retryRead(l.ctx, func(ctx context.Context) (bool, error) { return l.claim.End(ctx, outcomes) })
	}
	if len(asks) > 0 {
		granted, askErr = retryRead(l.ctx, func(ctx context.Context) ([]uuid.UUID, error) { return l.claim.Ask(ctx, asks) })
	}
	may := make(map[uuid.UUID]bool, len(granted))
	for _, id := range granted {
		may[id] = true
	}
	for _, e := range batch {
		if e.outcome == nil {
			e.granted, e.err = may[e.run], askErr
		} else {
			e.others, e.err = others, endErr
		}
	}
}

const (
	writeTimeout = 15 * time.Second // of one try
	retryWrite   = time.Second      // after a try that failed
)

// retry calls f until PostgreSQL answers it, or ctx ends. Each call has a deadline, since a connection may be lost
// without a sign.
func retry(ctx context.Context, f func(context.Context) error) error {
	for {
		limited, done := context.WithTimeout(ctx, writeTimeout)
		err := f(limited)
		done()
		if err == nil || !postgres.IsTransient(err) || lifecycle.Pause(ctx, retryWrite) != nil {
			return err
		}
	}
}

// retryRead is retry for what returns something.
func retryRead[T any](ctx context.Context, f func(context.Context) (T, error)) (value T, err error) {
	err = retry(ctx, func(ctx context.Context) (err error) { value, err = f(ctx); return err })
	return value, err
}
