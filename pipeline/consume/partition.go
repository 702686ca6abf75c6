package consume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

// partition reads one partition in one generation of the group.
type partition[T any] struct {
	consumer *Consumer[T]
	id       int32
	offsets  *offsets
	log      *slog.Logger
}

// run reads until the partition is taken away, which is no error, or stops with a StoppedError. A planned batch is
// landed first, within finishTimeout.
func (p *partition[T]) run(ctx context.Context) error {
	began := time.Now()
	var at startPoint
	err := p.retry(ctx, "start partition", func(ctx context.Context) (err error) {
		at, err = p.start(ctx)
		p.consumer.health.setFailure(p.id, began, err)
		return err
	})
	if err != nil {
		return p.ended(ctx, err)
	}
	if at.plan != nil {
		if err := p.replay(ctx, at); err != nil {
			return p.ended(ctx, err)
		}
		at.next = at.plan.Last + 1
	}
	collecting, stop := context.WithCancel(ctx)
	batches := newPrefetch[T]()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.collect(collecting, at.next, batches)
	}()
	err = p.landAll(ctx, batches)
	stop()
	<-done
	return p.ended(ctx, err)
}

// ended is nil where the partition was taken away, else the reason why it ended.
func (p *partition[T]) ended(ctx context.Context, err error) error {
	if stopped, ok := errors.AsType[*StoppedError](err); ok {
		return stopped
	}
	switch {
	case errors.Is(err, errFenced):
		p.log.Info("partition given up", "cause", err)
		return nil
	case ctx.Err() == nil:
		return err
	}
	return nil
}

// landAll lands one batch after the other.
func (p *partition[T]) landAll(ctx context.Context, from prefetch[T]) error {
	for {
		from.demand <- struct{}{} // never blocks: the previous demand was taken before the previous batch came
		select {
		case <-ctx.Done():
			return nil
		case c := <-from.batches:
			if c.batch != nil {
				if err := p.land(ctx, c.batch); err != nil {
					return err
				}
			}
			if c.stop != nil {
				return c.stop
			}
		}
	}
}

// decode makes the item of a record. A panic is a bug that this record triggers: it stops the partition, and not the
// process with all the others.
func (p *partition[T]) decode(version int, r *Record, trace *batchTrace) (item T, month int, err error) {
	began := trace.now()
	defer func() {
		trace.decoded(began)
		if cause := recover(); cause != nil {
			p.log.Error("panic", "offset", r.Offset, "cause", cause, "stack", string(debug.Stack()),
				"next", "report this line as a bug; the partition stops here")
			err = p.stopped("offset %d: panic: %v", r.Offset, cause)
		}
	}()
	item, month, err = p.consumer.target.Decode(version, *r)
	if err != nil {
		err = p.stopped("offset %d: %v", r.Offset, err)
	}
	return item, month, err
}

// replay lands the batch of a plan that was found open: the same records, read by the same version. Some of it may have
// landed.
func (p *partition[T]) replay(ctx context.Context, at startPoint) error {
	if version := at.plan.ExtractVersion; !p.consumer.target.Supports(version) {
		return p.stopped("batch %d to %d was planned with extract version %d, which this build does not carry",
			at.next, at.plan.Last, version)
	}
	trace := p.beginTrace()
	trace.replayed()
	ctx = trace.within(ctx)
	var batch *Batch[T]
	err := p.retry(ctx, "read planned batch", func(ctx context.Context) (err error) {
		batch, err = p.readPlanned(ctx, at, trace)
		return err
	})
	if err != nil {
		trace.end(err)
		return err
	}
	p.consumer.metrics.replays.Inc()
	p.log.Info("replaying planned batch", "first", batch.First, "last", batch.Last)
	return p.land(ctx, batch)
}

// readPlanned fetches and decodes exactly the records of a plan.
func (p *partition[T]) readPlanned(ctx context.Context, at startPoint, trace *batchTrace) (*Batch[T], error) {
	f, err := p.open(at.next)
	if err != nil {
		return nil, err
	}
	defer f.close(p.log)
	b := p.newBuilder(0)
	b.batch.trace = trace
	for f.next <= at.plan.Last {
		r, err := f.fetch(ctx)
		if err != nil {
			return nil, err
		}
		item, month, err := p.decode(at.plan.ExtractVersion, &r, trace)
		if err != nil {
			return nil, err
		}
		b.add(&r, item, month)
	}
	batch := b.end(nil).batch
	batch.Plan, batch.Repeated = *at.plan, true
	return batch, nil
}

var retryBackoff = lifecycle.Backoff{First: 100 * time.Millisecond, Max: 10 * time.Second}

// retry calls f until it succeeds, ctx ends, or the partition has stopped or was given to another consumer. It logs the
// attempts 1, 2, 4, 8 and so on.
func (p *partition[T]) retry(ctx context.Context, name string, f func(context.Context) error) error {
	retryable := func(err error) bool {
		_, stopped := errors.AsType[*StoppedError](err)
		return !stopped && !errors.Is(err, errFenced)
	}
	failed := 0
	return lifecycle.Retry(ctx, retryBackoff, retryable, func(err error, wait time.Duration) {
		p.consumer.metrics.retries.Inc()
		traceRetry(ctx, name, err)
		if failed++; failed&(failed-1) == 0 {
			p.log.Warn("retrying", "step", name, "attempts", failed, "wait", wait, "cause", err,
				"next", "nothing for a minute; then see the engine that the cause names")
		}
	}, f)
}

func (p *partition[T]) stopped(format string, args ...any) *StoppedError {
	return &StoppedError{p.consumer.cfg.Topic, p.id, fmt.Sprintf(format, args...)}
}
