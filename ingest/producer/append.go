package producer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
)

// Record is what is appended. With a nil Key the producer chooses the partition.
type Record struct {
	Key, Value []byte
	Headers    []Header
}

// Header is a header of a Kafka record.
type Header = kafka.Header

// The reasons why an append failed, for errors.Is.
var (
	// ErrTooLarge: the record does not fit on the log. It was not sent.
	ErrTooLarge = event.ErrTooLarge

	// ErrOverloaded: too much is waiting to be acknowledged. The record was not sent and may be appended again later.
	ErrOverloaded = errors.New("producer overloaded")

	// ErrNotReady: the spool is still being read, or Kafka has never reported the number of partitions. The same.
	ErrNotReady = errors.New("producer not ready")

	// ErrAway: no acknowledgement came within AckTimeout. The record may be on the log, now or later, or not:
	// appending it again is right, because readers count an id once.
	ErrAway = errors.New("kafka away")

	// ErrStopped: the producer is stopping. The record was not sent.
	ErrStopped = errors.New("producer stopped")
)

// Append returns nil when all in-sync replicas have the values, or, with a spool, when that has them on disk. They have
// no key and go into one batch, so that what becomes of one becomes of all, whatever crashes; together they are no
// larger than one record may be. The topic is one of event.Topics. The values are copied: they may be used again.
//
// The errors are ErrTooLarge, ErrOverloaded, ErrNotReady and ErrStopped (not sent), ErrAway (not known), the broker's
// refusal (not appended), and the end of ctx (not known: a record that joined a batch is sent without ctx). With a
// spool, ErrAway means that its disk fails too.
func (p *Producer) Append(ctx context.Context, topic string, values ...[]byte) error {
	if len(values) == 0 {
		return nil
	}
	b, err := p.join(ctx, topic, values)
	if err != nil {
		return p.failed(topic, fmt.Errorf("append to %s: %w", topic, err))
	}
	return b.wait(ctx)
}

// join reserves room for values, and has them join a batch.
func (p *Producer) join(ctx context.Context, topic string, values [][]byte) (b *batch, err error) {
	bytes := 0
	for _, value := range values {
		bytes += len(value)
	}
	w := bytes + overhead*len(values)
	if err := fits(w); err != nil {
		return nil, err
	}
	spills := p.spill != nil && topic == spillTopic
	if spills {
		if err := p.spill.wait(ctx); err != nil {
			return nil, err
		}
	}
	held := p.appendBytes.Add(int64(w))
	defer func() {
		if err != nil {
			p.appendBytes.Add(int64(-w))
		}
	}()
	if held > maxBufferedBytes/2 || spills && !p.spill.hasRoom(held) {
		return nil, ErrOverloaded
	}
	var q *queue
	if spills {
		q = p.spill.queue
	} else {
		t, err := p.topic(ctx, topic)
		if err != nil {
			return nil, err
		}
		q = t.any
	}
	return q.join(len(values), bytes, func(b *batch) {
		b.appendBytes += w
		for _, value := range values {
			b.add(Record{Value: value})
		}
	})
}

// AppendAll appends many records and returns how many of them are known to be on the log once that is decided for all.
// Unlike Append it waits for room where too much is being sent, and never uses the spool. The records of one key keep
// their order; a record that is too large keeps all from being sent. The error joins one reason for each batch that
// failed, and those of Append.
func (p *Producer) AppendAll(ctx context.Context, topic string, records []Record) (appended int, err error) {
	for i := range records {
		if err := fits(records[i].weight()); err != nil {
			return 0, p.failed(topic, fmt.Errorf("append record %d of %d: %w", i+1, len(records), err))
		}
	}
	t, err := p.topic(ctx, topic)
	if err != nil {
		return 0, p.failed(topic, fmt.Errorf("append to %s: %w", topic, err))
	}
	var batches []*batch
	counts := map[*batch]int{}
	var errs []error
	for _, r := range records {
		w := r.weight()
		if err := p.appendAllRoom.Acquire(ctx, int64(w)); err != nil {
			errs = append(errs, context.Cause(ctx))
			break
		}
		p.appendAllBytes.Add(int64(w))
		b, err := t.queue(r.Key).join(1, len(r.Key)+len(r.Value), func(b *batch) {
			b.appendAllBytes += w
			b.add(r)
		})
		if err != nil {
			p.free(w)
			errs = append(errs, p.failed(topic, fmt.Errorf("append to %s: %w", topic, err)))
			break
		}
		if counts[b]++; counts[b] == 1 {
			batches = append(batches, b)
		}
	}
	for _, b := range batches {
		select {
		case <-b.done:
			if b.err == nil {
				appended += counts[b]
			} else {
				errs = append(errs, b.err)
			}
		case <-ctx.Done():
			return appended, errors.Join(append(errs, context.Cause(ctx))...)
		}
	}
	return appended, errors.Join(errs...)
}

// AppendTo appends records to one partition, in their order, and returns how many of them are known to be there: the
// first ones, when it fails. It is for records that must go where they were before, since readers that count an id once
// may look for it in that partition alone. Its errors are those of AppendAll.
func (p *Producer) AppendTo(ctx context.Context, topic string, partition int, records []Record) (appended int, err error) {
	t, err := p.topic(ctx, topic)
	switch {
	case err != nil:
	case partition < 0 || partition >= len(t.ids):
		err = fmt.Errorf("there are %d partitions, counted from 0", len(t.ids))
	case !p.begin():
		err = ErrStopped
	default:
		defer p.running.Done()
		appended, err = p.appendTo(ctx, p.cfg.Prefix+topic, partition, records)
	}
	if err != nil {
		err = p.failed(topic, fmt.Errorf("append to %s/%d: %w", topic, partition, err))
	}
	return appended, err
}

func (p *Producer) appendTo(ctx context.Context, name string, partition int, records []Record) (appended int, err error) {
	for appended < len(records) {
		b := newBatch(time.Now(), p.cfg.AckTimeout, 0, 0)
		for _, r := range records[appended:] {
			tooLarge := fits(r.weight())
			if len(b.ends) == 0 && tooLarge != nil {
				return appended, tooLarge
			}
			if tooLarge != nil || len(b.ends) > 0 && !b.takes(b.born, 1, len(r.Key)+len(r.Value), p.cfg.batchRecords) {
				break
			}
			b.add(r)
		}
		if ctx.Err() != nil {
			return appended, context.Cause(ctx)
		}
		if err := p.deliver(name, partition, b, nil); err != nil {
			return appended, err
		}
		p.metrics.appended(name, b)
		appended += len(b.ends)
	}
	return appended, nil
}

// overhead is what a record costs beside its bytes, on the wire, in memory and in the spool.
const overhead = 64

func weight(key, value []byte) int { return len(key) + len(value) + overhead }

func (r *Record) weight() int {
	w := weight(r.Key, r.Value)
	for _, h := range r.Headers {
		w += weight([]byte(h.Key), h.Value)
	}
	return w
}

// batchOverhead is more than a batch of one record costs beside the record: its header, and what lz4 adds to bytes that
// it cannot make smaller.
const batchOverhead = 512

// fits reports whether a record of weight w fits into a batch that the topic takes.
func fits(w int) error {
	if w+batchOverhead > event.MaxRecordBytes {
		return &event.TooLargeError{Bytes: w + batchOverhead, Most: event.MaxRecordBytes}
	}
	return nil
}

// finish reports the end of a batch to the callers that wait for it, and gives back its room.
func (p *Producer) finish(b *batch, err error) {
	b.err = err
	close(b.done)
	p.appendBytes.Add(int64(-b.appendBytes))
	p.free(b.appendAllBytes)
}

// free gives back room that AppendAll took.
func (p *Producer) free(n int) {
	p.appendAllBytes.Add(int64(-n))
	p.appendAllRoom.Release(int64(n))
}

func (p *Producer) failed(topic string, err error) error {
	p.metrics.failures.WithLabelValues(p.cfg.Prefix+topic, reason(err)).Inc()
	return err
}

// reason is err as a label of the metrics.
func reason(err error) string {
	for _, known := range []struct {
		err  error
		name string
	}{
		{ErrTooLarge, "too_large"}, {ErrOverloaded, "overloaded"}, {ErrNotReady, "not_ready"}, {ErrAway, "away"}, {ErrStopped, "stopped"},
		{context.Canceled, "given_up"}, {context.DeadlineExceeded, "given_up"},
	} {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	return "refused"
}
