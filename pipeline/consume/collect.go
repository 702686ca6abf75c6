package consume

import (
	"context"
	"errors"
	"sync"
	"time"
)

// prefetch passes batches from the goroutine that collects them to the one that lands them. The latter sends one demand
// for each batch, when it waits for it. A batch that has lingered ends at its demand; until then it grows, up to its
// limits, so that inserts get larger under load.
type prefetch[T any] struct {
	demand  chan struct{}
	batches chan collected[T]
}

func newPrefetch[T any]() prefetch[T] {
	return prefetch[T]{make(chan struct{}, 1), make(chan collected[T])}
}

// collected is a batch that is ready to land, or the reason why there will be no further one, or both.
type collected[T any] struct {
	batch *Batch[T]
	stop  error
}

// deliver sends a batch once it is demanded; false when ctx has ended.
func (f prefetch[T]) deliver(ctx context.Context, c collected[T], demanded bool) bool {
	if !demanded {
		select {
		case <-f.demand:
		case <-ctx.Done():
			return false
		}
	}
	select {
	case f.batches <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

// errAbandoned ends the trace of a batch that was collected but not planned.
var errAbandoned = errors.New("the partition went to another consumer before the batch was planned")

// collect reads ahead: while one batch lands, the next is fetched and decoded. At most two batches of a partition are
// in memory, beside the records that the reader has fetched.
func (p *partition[T]) collect(ctx context.Context, next int64, to prefetch[T]) {
	f, err := p.open(next)
	if err != nil {
		to.deliver(ctx, collected[T]{stop: err}, false)
		return
	}
	defer f.close(p.log)
	items := 0 // of the previous batch
	for {
		c, demanded := p.collectBatch(ctx, f, p.newBuilder(items), to.demand)
		items = 0
		switch {
		case c.batch != nil:
			items = len(c.batch.Items)
		case c.stop == nil: // nothing came for idleCheck
			c.stop = p.checkLog(ctx, f.next)
		}
		if ctx.Err() != nil || !to.deliver(ctx, c, demanded) {
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

// collectBatch fetches records until the batch is full, or until it has lingered and a demand comes, which it takes.
// There is no batch if the first record does not come within idleCheck.
func (p *partition[T]) collectBatch(
	ctx context.Context, f *fetcher, b *builder[T], demand <-chan struct{},
) (c collected[T], demanded bool) {
	b.batch.Plan.ExtractVersion = p.consumer.target.Version()
	b.batch.Plan.Shard = ShardOf(p.id, p.consumer.cfg.Shards)
	open, end := context.WithCancel(ctx)
	timer := time.NewTimer(idleCheck)
	var lingering sync.WaitGroup
	lingering.Go(func() {
		select {
		case <-timer.C:
		case <-open.Done():
			return
		}
		select {
		case <-demand:
			demanded = true
			end()
		case <-open.Done():
		}
	})
	c = p.fill(open, f, b, func() { timer.Reset(p.consumer.cfg.Limits.Linger) })
	end()
	lingering.Wait()
	return c, demanded
}

// fill adds records to a batch until it is full or ctx ends. It calls first with the first record.
func (p *partition[T]) fill(ctx context.Context, f *fetcher, b *builder[T], first func()) collected[T] {
	for !b.full() {
		r, err := p.fetchRetrying(ctx, f)
		if _, stopped := errors.AsType[*StoppedError](err); stopped {
			return b.end(err) // the reader reports it only once
		}
		if err != nil {
			break // lingered, idle, or the partition was taken away
		}
		if len(b.batch.Items) == 0 {
			b.batch.trace = p.beginTrace()
			first()
		}
		item, month, err := p.decode(b.batch.Plan.ExtractVersion, &r, b.batch.trace)
		if err != nil {
			return b.end(err)
		}
		if !b.fits(len(r.Key)+len(r.Value), month) {
			f.unfetch(r)
			break
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
			p.consumer.checkWarning.Do(func() {
				p.log.Warn("looking at the log", "cause", err,
					"next", "nothing while a broker restarts; else see that it is up")
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
