package consume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/segmentio/kafka-go"
)

// collected is a batch that is ready to land, or the reason why there will be
// no further one, or both.
type collected[T any] struct {
	batch *Batch[T]
	stop  error
}

func (c collected[T]) items() int {
	if c.batch == nil {
		return 0
	}
	return len(c.batch.Items)
}

// abandon ends the trace of a batch that nobody takes.
func (c collected[T]) abandon() {
	if c.batch != nil {
		c.batch.trace.end(errAbandoned)
	}
}

// collect reads ahead: while one batch lands, the next is fetched and read. At
// most two batches of a partition are in memory, with what the reader fetched.
func (p *partition[T]) collect(ctx context.Context, next int64, to prefetch[T]) {
	f, err := p.open(p.topic, int(p.id), next)
	if err != nil {
		to.pass(ctx, collected[T]{stop: err})
		return
	}
	defer f.close(p.log)
	var held *Record // fetched, but of the next batch
	items := 0       // of the batch before
	for {
		var c collected[T]
		c, held = p.batch(ctx, f, &next, held, newBuilder[T](p.topic, p.id, p.cfg.Limits, items), to)
		items = c.items()
		if c.batch == nil && c.stop == nil {
			c.stop = p.shrunk(ctx, next) // nothing came for idleCheck
		}
		if ctx.Err() != nil || !to.pass(ctx, c) {
			c.abandon()
			return
		}
		if c.stop != nil {
			return
		}
	}
}

// idleCheck is how long a partition may be silent before its log is looked at.
const idleCheck = 30 * time.Second

// batch collects one batch: it waits for a first record for idleCheck, after
// which there is none, and for further ones until the batch is full, or has lingered
// and is wanted.
func (p *partition[T]) batch(ctx context.Context, f fetcher, next *int64, held *Record, b *builder[T], to prefetch[T]) (collected[T], *Record) {
	b.batch.Plan.ExtractVersion = p.target.Version()
	b.batch.Plan.Shard = ShardOf(p.id, p.cfg.Shards)
	b.batch.FetchAll = p.again
	linger, lingered := context.WithCancel(ctx)
	defer lingered()
	timer := time.AfterFunc(idleCheck, func() { to.lingered(linger, lingered) })
	defer timer.Stop()
	for !b.full() {
		var r Record
		if held != nil {
			r, held = *held, nil
		} else {
			var err error
			if r, err = p.fetch(linger, f); err != nil {
				if linger.Err() != nil && !errors.Is(err, kafka.OffsetOutOfRange) {
					break // lingered, idle, or sent away; of the other the reader tells only once
				}
				return p.end(b, p.gone(err, *next)), nil
			}
			if r.Offset != *next {
				return p.end(b, p.stopped(fmt.Sprintf("offsets %d to %d are gone from the log", *next, r.Offset-1))), nil
			}
			*next++
		}
		if len(b.batch.Items) == 0 {
			b.batch.trace = p.traces.begin(p.topic, p.id)
		}
		item, month, err := p.read(b.batch.Plan.ExtractVersion, &r, b.batch.trace)
		if err != nil {
			return p.end(b, err), nil
		}
		if !b.fits(len(r.Key)+len(r.Value), month) {
			kept := r // r itself is not to be allocated anew for each record
			return p.end(b, nil), &kept
		}
		if len(b.batch.Items) == 0 {
			timer.Reset(p.cfg.Limits.Linger)
		}
		b.add(&r, item, month)
	}
	return p.end(b, nil), nil
}

func (p *partition[T]) end(b *builder[T], stop error) collected[T] {
	if len(b.batch.Items) == 0 {
		b.batch.trace.end(stop)
		return collected[T]{stop: stop}
	}
	b.traced()
	b.batch.Plan.Last = b.batch.Last
	return collected[T]{batch: &b.batch, stop: stop}
}

// fetch takes the next record, however often the broker goes away meanwhile: the
// reader paces its own attempts, so that here it is only asked again.
func (p *partition[T]) fetch(ctx context.Context, f fetcher) (Record, error) {
	for {
		r, err := f.fetch(ctx)
		switch {
		case err == nil, errors.Is(err, kafka.OffsetOutOfRange), ctx.Err() != nil:
			return r, err
		case p.seldom.now():
			p.log.Warn("fetching", "cause", err, "next", "nothing while a broker restarts; else see that it is up")
		}
	}
}

// again fetches records at rising offsets, passing over what is between them.
func (p *partition[T]) again(ctx context.Context, offsets []int64) ([]*Record, error) {
	if len(offsets) == 0 {
		return nil, nil
	}
	failed := func(offset int64, err error) error {
		return fmt.Errorf("fetch %s/%d@%d again: %w", p.topic, p.id, offset, err)
	}
	f, err := p.open(p.topic, int(p.id), offsets[0])
	if err != nil {
		return nil, failed(offsets[0], err)
	}
	defer f.close(p.log)
	all := make([]*Record, 0, len(offsets))
	for next := offsets[0]; len(all) < len(offsets); next++ {
		r, err := f.fetch(ctx)
		if err != nil {
			return nil, failed(next, p.gone(err, next))
		}
		if r.Offset != next {
			return nil, failed(next, p.stopped(fmt.Sprintf("offset %d is gone from the log", next)))
		}
		if next == offsets[len(all)] {
			all = append(all, &r)
		}
	}
	return all, nil
}

// shrunk stops a partition whose log ends before the offset that is waited for: the
// reader would go on unseen once the log has grown past it again. Where the log begins
// behind it, the record has expired unread.
func (p *partition[T]) shrunk(ctx context.Context, next int64) error {
	first, end, err := p.offsets.bounds(ctx)
	if err != nil {
		if ctx.Err() == nil && p.seldom.now() {
			p.log.Warn("looking at the log", "cause", err, "next", "nothing while a broker restarts; else see that it is up")
		}
		return nil
	}
	switch {
	case first > next:
		return p.gone(kafka.OffsetOutOfRange, next)
	case end < next:
		return p.stopped(fmt.Sprintf("the log was cut: it ends at %d, but offset %d is next", end, next))
	}
	return nil
}

// gone turns the broker's word that an offset is not there into a reason to
// stop.
func (p *partition[T]) gone(err error, next int64) error {
	if errors.Is(err, kafka.OffsetOutOfRange) {
		return p.stopped(fmt.Sprintf("offset %d is not in the log: its records expired unread, or the log was replaced", next))
	}
	return err
}

// fetcher reads one partition in order.
type fetcher struct {
	reader *kafka.Reader
}

func (f fetcher) fetch(ctx context.Context) (Record, error) {
	m, err := f.reader.FetchMessage(ctx)
	if err != nil {
		return Record{}, err
	}
	r := Record{Topic: m.Topic, Partition: int32(m.Partition), Offset: m.Offset, Key: m.Key, Value: m.Value, Time: m.Time}
	for _, h := range m.Headers {
		r.Headers = append(r.Headers, Header{h.Key, h.Value})
	}
	return r, nil
}

func (f fetcher) close(log *slog.Logger) {
	if err := f.reader.Close(); err != nil {
		log.Warn("closing reader", "cause", err, "next", "nothing: another one is opened")
	}
}

// reader opens a partition at an offset.
func (c *Consumer[T]) reader(topic string, partition int, from int64) (fetcher, error) {
	r := kafka.NewReader(kafka.ReaderConfig{
		Brokers:               c.cfg.Brokers,
		Topic:                 topic,
		Partition:             partition,
		Dialer:                c.dialer,
		MinBytes:              1,
		MaxBytes:              c.cfg.FetchBytes,
		MaxWait:               500 * time.Millisecond,
		ReadBatchTimeout:      10 * time.Second,
		QueueCapacity:         16, // of the largest records, 128 MB
		ReadLagInterval:       -1, // see watch
		ReadBackoffMin:        50 * time.Millisecond,
		ReadBackoffMax:        time.Second,
		MaxAttempts:           3,
		OffsetOutOfRangeError: true,
		ErrorLogger:           nil,
	})
	if err := r.SetOffset(from); err != nil {
		return fetcher{}, errors.Join(fmt.Errorf("open %s/%d@%d: %w", topic, partition, from, err), r.Close())
	}
	return fetcher{r}, nil
}
