package job

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
func (l *ledger) ask(ctx context.Context, run uuid.UUID) (bool, error) {
	e := &entry{run: run, written: make(chan struct{})}
	l.write(ctx, e)
	return e.granted, e.err
}

// end stores how a request ended, and reports whether the brand has other running jobs.
func (l *ledger) end(ctx context.Context, o postgres.RunOutcome) (others bool, err error) {
	e := &entry{run: o.ID, outcome: &o, written: make(chan struct{})}
	l.write(ctx, e)
	return e.others, e.err
}

// write returns once e is written.
func (l *ledger) write(ctx context.Context, e *entry) {
	l.mu.Lock()
	l.pending = append(l.pending, e)
	if !l.writing {
		l.writing = true
		go l.drain(ctx)
	}
	l.mu.Unlock()
	<-e.written
}

// drain writes all that is pending, and what comes meanwhile.
func (l *ledger) drain(ctx context.Context) {
	for {
		l.mu.Lock()
		batch := l.pending
		l.pending = nil
		l.writing = len(batch) > 0
		l.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		l.commit(ctx, batch)
		for _, e := range batch {
			close(e.written)
		}
	}
}

// commit writes a batch. While PostgreSQL is away it waits: an answer that is not stored was paid for in vain.
func (l *ledger) commit(ctx context.Context, batch []*entry) {
	err := l.try(ctx, batch)
	for err != nil && postgres.Unreached(err) && lifecycle.Pause(ctx, time.Second) == nil {
		err = l.try(ctx, batch)
	}
	for _, e := range batch {
		e.err = err
	}
}

func (l *ledger) try(ctx context.Context, batch []*entry) error {
	var asks []uuid.UUID
	var outcomes []postgres.RunOutcome
	for _, e := range batch {
		if e.outcome == nil {
			asks = append(asks, e.run)
		} else {
			outcomes = append(outcomes, *e.outcome)
		}
	}
	var errs []error
	if len(outcomes) > 0 {
		others, err := l.claim.End(ctx, outcomes)
		errs = append(errs, err)
		for _, e := range batch {
			e.others = others
		}
	}
	if len(asks) > 0 {
		granted, err := l.claim.Ask(ctx, asks)
		errs = append(errs, err)
		may := make(map[uuid.UUID]bool, len(granted))
		for _, id := range granted {
			may[id] = true
		}
		for _, e := range batch {
			e.granted = e.outcome == nil && may[e.run]
		}
	}
	return errors.Join(errs...)
}
