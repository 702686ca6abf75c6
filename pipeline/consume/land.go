package consume

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/internal/fault"
)

// planValid is how long a plan proves that the partition is ours. An older one
// is committed again before the batch is sent.
const planValid = 30 * time.Second

// landing is one batch on its way from the plan to the commit.
type landing[T any] struct {
	*partition[T]
	batch    *Batch[T]
	began    time.Time
	planned  time.Time // when the plan was last committed; zero: not yet
	refusals int       // how often the target has refused the batch
}

// land holds the sinks, plans, lands and commits one batch. Once it is planned it is
// finished even if the partition is being taken away meanwhile, for a bounded time:
// that spares the successor a replay.
func (p *partition[T]) land(ctx context.Context, b *Batch[T]) (err error) {
	defer func() { b.trace.end(err) }()
	l := landing[T]{partition: p, batch: b, began: time.Now()}
	p.progress.at(p.id, b.First, b.oldest)
	ctx = b.trace.within(ctx)
	defer l.letGo()
	if err := l.repeated(ctx, "hold sinks", l.hold); err != nil {
		return fmt.Errorf("hold sinks for batch %s: %w", b, err)
	}
	ctx, cancel := finishing(ctx, p.cfg.Finish)
	defer cancel()
	if err := l.repeated(ctx, "land batch", l.attempt); err != nil {
		return fmt.Errorf("land batch %s: %w", b, err)
	}
	fault.Pass(fault.Landed)
	_, err = retry(ctx, p, "commit batch", func() (struct{}, error) {
		return struct{}{}, step(ctx, "commit", func(ctx context.Context) error { return p.offsets.commit(ctx, b.Last+1, "") })
	})
	if err != nil {
		return err
	}
	fault.Pass(fault.Committed)
	p.progress.at(p.id, b.Last+1, time.Time{})
	p.metrics.landed(p.id, len(b.Items), b.bytes, b.Last, time.Since(l.began))
	return nil
}

// repeated repeats a step, and lets it be known why the batch does not get past it.
func (l *landing[T]) repeated(ctx context.Context, what string, do func(context.Context) error) error {
	_, err := retry(ctx, l.partition, what, func() (struct{}, error) {
		err := do(ctx)
		l.trouble.set(l.id, l.began, err)
		return struct{}{}, err
	})
	return err
}

// maxRefusals is how often a batch is refused before its partition stops, some 6 s after the first time: an error of the
// server that is on no list of ours may still go away.
const maxRefusals = 7

// attempt plans the batch and sends it to the target.
func (l *landing[T]) attempt(ctx context.Context) error {
	ours := func() error { return l.ours(ctx) }
	if err := ours(); err != nil {
		return err
	}
	err := step(ctx, "land", func(ctx context.Context) error { return l.target.Land(ctx, l.batch, ours) })
	if errors.Is(err, ErrRefused) {
		if l.refusals++; l.refusals == maxRefusals {
			return l.stopped(fmt.Sprintf("batch %s is %v", l.batch, err))
		}
	}
	return err
}

// ours is asked before everything that is sent: whether the batch is planned as one
// of this consumer's, and was within one hold of the sinks. Whoever stops them looks
// for open plans once they stand still, so that a hold that was lost before the plan
// may have let him in unseen; the batch then waits for him.
func (l *landing[T]) ours(ctx context.Context) error {
	if err := l.hold(ctx); err != nil {
		return err
	}
	if err := l.plan(ctx); err != nil {
		return err
	}
	if err := l.batch.Hold.Held(ctx); err != nil {
		l.letGo()
		return err
	}
	return nil
}

// plan commits where the batch begins and what it is.
func (l *landing[T]) plan(ctx context.Context) error {
	if changed := l.batch.Plan.age(time.Now()); !changed && time.Since(l.planned) < planValid {
		return nil
	}
	l.planned = time.Time{}
	commit := func(ctx context.Context) error { return l.offsets.commit(ctx, l.batch.First, l.batch.Plan.metadata()) }
	if err := step(ctx, "plan", commit); err != nil {
		return err
	}
	fault.Pass(fault.Planned)
	l.planned = time.Now()
	return nil
}

// hold waits while the sinks are stopped.
func (l *landing[T]) hold(ctx context.Context) error {
	if l.cfg.Gate == nil || l.batch.Hold != nil {
		return nil
	}
	began := time.Now()
	defer func() { l.metrics.waits.Observe(time.Since(began).Seconds()) }()
	return step(ctx, "hold", func(ctx context.Context) (err error) {
		l.batch.Hold, err = l.cfg.Gate(ctx, l.batch.Plan.Shard)
		return err
	})
}

// letGo has the batch planned again before it is sent. Whoever lost his hold may have
// lost the partition as well: a machine that was put to sleep does not see by its own
// clock that the plan is old.
func (l *landing[T]) letGo() {
	l.batch.Hold.Release()
	l.batch.Hold, l.planned = nil, time.Time{}
}
