package consume

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// planValid is how long a plan proves that this consumer has the partition. An older one is committed again before the
// batch is sent.
const planValid = 30 * time.Second

// plannedBatch is one batch on its way from the plan to the commit.
type plannedBatch[T any] struct {
	*partition[T]
	batch    *Batch[T]
	began    time.Time
	planned  time.Time // when the plan was last committed; zero: not yet
	refusals int       // how often the target has refused the batch
}

// land takes the sink lock, plans, lands and commits one batch. A planned batch is finished, for a bounded time, even
// if the partition is being taken away: that saves the next consumer a replay.
func (p *partition[T]) land(ctx context.Context, b *Batch[T]) (err error) {
	defer func() { b.trace.end(err) }()
	planned := plannedBatch[T]{partition: p, batch: b, began: time.Now()}
	p.progress.at(p.id, b.First, b.oldest)
	ctx = b.trace.within(ctx)
	defer planned.unlock()
	if err := planned.repeat(ctx, "lock sinks", planned.lock); err != nil {
		return fmt.Errorf("lock sinks for batch %s: %w", b, err)
	}
	ctx, cancel := lifecycle.Finishing(ctx, finishTimeout)
	defer cancel()
	if err := planned.repeat(ctx, "land batch", planned.attempt); err != nil {
		return fmt.Errorf("land batch %s: %w", b, err)
	}
	fault.Pass(fault.Landed)
	err = p.retry(ctx, "commit batch", func(ctx context.Context) error {
		return step(ctx, "commit", func(ctx context.Context) error { return p.offsets.commit(ctx, b.Last+1, "") })
	})
	if err != nil {
		return err
	}
	fault.Pass(fault.Committed)
	p.progress.at(p.id, b.Last+1, time.Time{})
	p.metrics.landed(p.id, len(b.Items), b.bytes, b.Last, time.Since(planned.began))
	return nil
}

// repeat repeats a step until it succeeds, and reports why the batch does not get past it.
func (b *plannedBatch[T]) repeat(ctx context.Context, what string, do func(context.Context) error) error {
	return b.retry(ctx, what, func(ctx context.Context) error {
		err := do(ctx)
		b.failures.set(b.id, b.began, err)
		return err
	})
}

// maxRefusals is how often a batch is refused before its partition stops, some 6 s after the first time: a server may
// take a moment later what it has refused.
const maxRefusals = 7

// attempt plans the batch and sends it to the target.
func (b *plannedBatch[T]) attempt(ctx context.Context) error {
	check := func() error { return b.checkOwnership(ctx) }
	if err := check(); err != nil {
		return err
	}
	err := step(ctx, "insert", func(ctx context.Context) error { return b.target.Insert(ctx, b.batch, check) })
	if errors.Is(err, ErrRefused) {
		if b.refusals++; b.refusals == maxRefusals {
			return b.stopped("batch %s is %v", b.batch, err)
		}
	}
	return err
}

// checkOwnership runs before each insert: it retakes a lost sink lock, renews a plan that is old, and rejects a plan
// made while the lock was lost. A rebuild looks for open plans once it has the lock, and would have missed that one;
// the batch then waits until the rebuild ends.
func (b *plannedBatch[T]) checkOwnership(ctx context.Context) error {
	if err := b.lock(ctx); err != nil {
		return err
	}
	if err := b.plan(ctx); err != nil {
		return err
	}
	if b.batch.Lock == nil {
		return nil
	}
	err := b.batch.Lock.Held(ctx)
	if err != nil {
		b.unlock()
	}
	return err
}

// plan commits where the batch begins and what it is.
func (b *plannedBatch[T]) plan(ctx context.Context) error {
	if time.Since(b.planned) < planValid {
		return nil
	}
	b.planned = time.Time{}
	commit := func(ctx context.Context) error { return b.offsets.commit(ctx, b.batch.First, b.batch.Plan.metadata()) }
	if err := step(ctx, "plan", commit); err != nil {
		return err
	}
	fault.Pass(fault.Planned)
	b.planned = time.Now().Round(0) // of the wall clock: the monotonic one may stand still while the machine sleeps
	return nil
}

// lock waits for the sink lock.
func (b *plannedBatch[T]) lock(ctx context.Context) error {
	if b.cfg.Lock == nil || b.batch.Lock != nil {
		return nil
	}
	began := time.Now()
	defer func() { b.metrics.waits.Observe(time.Since(began).Seconds()) }()
	return step(ctx, "lock", func(ctx context.Context) (err error) {
		b.batch.Lock, err = b.cfg.Lock(ctx, b.batch.Plan.Shard)
		return err
	})
}

// unlock releases the sink lock, and has the batch planned again before it is inserted: a consumer that lost the lock
// may have lost the partition as well, and a machine that was asleep does not see by its own clock that the plan is
// old.
func (b *plannedBatch[T]) unlock() {
	if b.batch.Lock != nil {
		b.batch.Lock.Release()
	}
	b.batch.Lock, b.planned = nil, time.Time{}
}
