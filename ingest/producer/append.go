package producer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// Record is a record to append. With a nil Key the producer chooses the partition.
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

	// ErrNoRoom: the disk is full (Config.Room). The record was not sent; AppendAll and AppendTo wait instead.
	ErrNoRoom = errors.New("no room on the disk")

	// ErrNotReady: the spool is still being read, or Kafka has never reported the number of partitions. The record was
	// not sent.
	ErrNotReady = errors.New("producer not ready")

	// ErrAway: no acknowledgement came within AckTimeout. The record may be on the log, now or later, or not:
	// appending it again is right, because readers count an id once.
	ErrAway = errors.New("kafka away")

	// ErrStopped: the producer is stopping. The record was not sent.
	ErrStopped = errors.New("producer stopped")
)

// Append returns nil when all in-sync replicas have the values, or, with a spool, when they are in it. The values have
// no key and share one batch: all are appended or none is, also after a crash. Together they are no larger than one
// record may be. The topic is a name in event.Topics. The values are copied: they may be used again.
//
// The errors are ErrTooLarge, ErrOverloaded, ErrNoRoom, ErrNotReady and ErrStopped (not sent), ErrAway (not known), the
// broker's refusal (not appended), and the end of ctx (not known: a record that joined a batch is sent without ctx).
// With a spool, ErrAway means that its disk fails too.
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

// join reserves room for values and adds them to a batch.
func (p *Producer) join(ctx context.Context, topic string, values [][]byte) (b *batch, err error) {
	bytes := 0
	for _, value := range values {
		bytes += len(value)
	}
	w := bytes + overhead*len(values)
	if err := fits(w); err != nil {
		return nil, err
	}
	if err := p.cfg.Room(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	spills := p.spill != nil && topic == spillTopic
	if spills {
		if err := p.spill.wait(ctx); err != nil {
			return nil, err
		}
	}
	reserved := p.appendBytes.Add(int64(w))
	defer func() {
		if err != nil {
			p.appendBytes.Add(int64(-w))
		}
	}()
	if reserved > maxBufferedBytes/2 || spills && !p.spill.hasRoom(reserved) {
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
	if b, err = q.lockBatch(len(values), bytes); err != nil {
		return nil, err
	}
	b.appendBytes += w
	for _, value := range values {
		b.add(Record{Value: value})
	}
	q.unlockBatch()
	return b, nil
}

// AppendAll appends many records and returns how many of them are known to be on the log once every batch has ended.
// Unlike Append it waits for room in memory and on the disk, and never uses the spool. The records of one key keep
// their order; a record that is too large keeps all from being sent. The error joins one reason for each failed batch
// with the errors of Append.
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
	var stopped error
	for i := range records {
		b, err := p.joinWithRoom(ctx, t.queue(records[i].Key), records[i:i+1])
		if err != nil {
			stopped = p.failed(topic, fmt.Errorf("append to %s: %w", topic, err))
			break
		}
		if counts[b]++; counts[b] == 1 {
			batches = append(batches, b)
		}
	}
	for _, b := range batches {
		select {
		case <-b.done:
			if err = errors.Join(err, b.err); b.err == nil {
				appended += counts[b]
			}
		case <-ctx.Done():
			return appended, errors.Join(stopped, err, context.Cause(ctx))
		}
	}
	return appended, errors.Join(stopped, err)
}

// AppendTo appends records to one partition, in their order, and returns how many of them are known to be there: the
// first ones, when it fails. It is for records that must go where they were before, since readers that count an id once
// may look for it in that partition alone. It waits for room and fails as AppendAll does.
func (p *Producer) AppendTo(
	ctx context.Context, topic string, partition int, records []Record,
) (appended int, err error) {
	failed := func(err error) (int, error) {
		return appended, p.failed(topic, fmt.Errorf("append to %s/%d: %w", topic, partition, err))
	}
	t, err := p.topic(ctx, topic)
	if err != nil {
		return failed(err)
	}
	if partition < 0 || partition >= len(t.keyed) {
		return failed(fmt.Errorf("there are %d partitions, counted from 0", len(t.keyed)))
	}
	for appended < len(records) {
		first, err := p.firstBatch(records[appended:])
		if err != nil {
			return failed(err)
		}
		b, err := p.joinWithRoom(ctx, t.keyed[partition], first)
		if err != nil {
			return failed(err)
		}
		if <-b.done; b.err != nil { // the next ones must not be there without these
			return appended, b.err
		}
		appended += len(first)
	}
	return appended, nil
}

// firstBatch returns as many of the first records as a batch takes; the error is that the first one is too large.
func (p *Producer) firstBatch(records []Record) ([]Record, error) {
	if err := fits(records[0].weight()); err != nil {
		return nil, err
	}
	bytes := 0
	for i := range records {
		r := &records[i]
		bytes += len(r.Key) + len(r.Value)
		if i > 0 && (bytes > maxBatchBytes || fits(r.weight()) != nil) || i == p.cfg.batchRecords {
			return records[:i], nil //nolint:nilerr // a record that is too large fails when it is the first
		}
	}
	return records, nil
}

// joinWithRoom waits for room for records and adds them to a batch.
func (p *Producer) joinWithRoom(ctx context.Context, q *queue, records []Record) (*batch, error) {
	if err := p.AwaitRoom(ctx); err != nil {
		return nil, err
	}
	w, bytes := 0, 0
	for i := range records {
		w += records[i].weight()
		bytes += len(records[i].Key) + len(records[i].Value)
	}
	if p.appendAllRoom.Acquire(ctx, int64(w)) != nil {
		return nil, context.Cause(ctx)
	}
	p.appendAllBytes.Add(int64(w))
	b, err := q.lockBatch(len(records), bytes)
	if err != nil {
		p.free(w)
		return nil, err
	}
	b.appendAllBytes += w
	for _, r := range records {
		b.add(r)
	}
	q.unlockBatch()
	return b, nil
}

// AwaitRoom waits until the disk has room, for callers that write elsewhere on it before an append.
func (p *Producer) AwaitRoom(ctx context.Context) error {
	for {
		full := p.cfg.Room()
		if full == nil {
			return nil
		}
		p.noRoom.Do(func() {
			p.log.Warn("the disk is full: waiting for room", "error", full,
				"next", "make room, and it goes on by itself")
		})
		if err := lifecycle.Pause(ctx, time.Second); err != nil {
			return fmt.Errorf("%w: %w", err, full)
		}
	}
}

// overhead is the cost of a record beside its bytes, on the wire, in memory and in the spool.
const overhead = 64

func weight(key, value []byte) int { return len(key) + len(value) + overhead }

func (r *Record) weight() int {
	w := weight(r.Key, r.Value)
	for _, h := range r.Headers {
		w += weight([]byte(h.Key), h.Value)
	}
	return w
}

// batchOverhead is more than a batch of one record costs beside the record: its header, and the bytes that lz4 adds
// where it cannot compress.
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
