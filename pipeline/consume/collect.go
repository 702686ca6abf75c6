package consume

import (
	"context"
	"errors"
	"time"
)

// collected is a batch that is ready to land, or the reason why there will be no further one, or both.
type collected[T any] struct {
	batch *Batch[T]
	stop  error
}

// errAbandoned ends the trace of a batch that was collected but not planned.
var errAbandoned = errors.New("the partition went to another consumer before the batch was planned")

// collect reads ahead: while one batch lands, the next is fetched and decoded. At most two batches of a partition are
// in memory, beside what the reader has fetched.
func (p *partition[T]) collect(ctx context.Context, next int64, to prefetch[T]) {
	f, err := p.open(next)
	if err != nil {
		to.deliver(ctx, collected[T]{stop: err})
		return
	}
	defer f.close(p.log)
	items := 0 // of the batch before
	for {
		c := p.collectBatch(ctx, f, p.newBuilder(items), to)
		items = 0
		switch {
		case c.batch != nil:
			items = len(c.batch.Items)
		case c.stop == nil: // nothing came for idleCheck
			c.stop = p.checkLog(ctx, f.next)
		}
		if ctx.Err() != nil || !to.deliver(ctx, c) {
			if c.batch != nil {
				c.batch.trace.end(errAbandoned)
			}
			return
		}
		if c.stop != nil {
			return
		}
	}
}

// idleCheck is how long a partition may be silent before its log is checked.
const idleCheck = 30 * time.Second

// collectBatch waits for a first record for idleCheck, after which there is no batch, and for further ones until the
// batch is full, or has lingered and is wanted.
func (p *partition[T]) collectBatch(ctx context.Context, f *fetcher, b *builder[T], to prefetch[T]) collected[T] {
	b.batch.Plan.ExtractVersion = p.target.Version()
	b.batch.Plan.Shard = ShardOf(p.id, p.cfg.Shards)
	linger, end := context.WithCancel(ctx)
	defer end()
	timer := time.AfterFunc(idleCheck, func() { to.endWhenWanted(linger, end) })
	defer timer.Stop()
	for !b.full() {
		r, err := p.fetchRetrying(linger, f)
		if _, stopped := errors.AsType[*StoppedError](err); stopped {
			return b.end(err) // the reader reports it only once
		}
		if err != nil {
			break // lingered, idle, or the partition was taken away
		}
		first := len(b.batch.Items) == 0
		if first {
			b.batch.trace = p.beginTrace()
		}
		item, month, err := p.decode(b.batch.Plan.ExtractVersion, &r, b.batch.trace)
		if err != nil {
			return b.end(err)
		}
		if !b.fits(len(r.Key)+len(r.Value), month) {
			f.unfetch(r)
			break
		}
		if first {
			timer.Reset(p.cfg.Limits.Linger)
		}
		b.add(&r, item, month)
	}
	return b.end(nil)
}

// checkLog stops a partition whose log ends before the next offset: once the log has grown past it again, the reader
// would go on unnoticed. Where the log begins after it, the record has expired unread.
func (p *partition[T]) checkLog(ctx context.Context, next int64) error {
	first, end, err := p.offsets.bounds(ctx)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			p.checkWarning.Do(func() {
				p.log.Warn("looking at the log", "cause", err, "next", "nothing while a broker restarts; else see that it is up")
			})
		}
		return nil
	case first > next:
		return p.stopped(notInLog, next)
	case end < next:
		return p.stopped("the log was cut: it ends at %d, but offset %d is next", end, next)
	}
	return nil
}
