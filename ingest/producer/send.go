package producer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/answerscope/answerscope/ingest/producer/spool"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// queue puts records into batches, in their order, and sends these to its partitions. One batch goes at a time, so that
// the next one grows meanwhile; a late batch does not delay the others.
//
// A topic has a queue to all partitions for records without a key, and one to each partition for records with a key.
type queue struct {
	p     *Producer
	name  string // of the topic, with prefix
	spill *spill // takes late batches; nil: they are retried until their deadline

	mu      sync.Mutex
	waiting []*batch // the last one may still be joined
	current *batch   // is being sent and not late; nil: the next one may go
	senders []*partitionSender
	next    int // sender to look at first
	records int // of the last batch that was sent, and
	bytes   int // of its data, to make room for the next one
}

// partitionSender sends to one partition, one batch at a time.
type partitionSender struct {
	partition  int
	sending    bool
	avoidUntil time.Time // its last batch was late: others are preferred
}

// lockBatch returns the last batch, or a new one, which takes so many records of so many bytes. The caller adds them
// before unlockBatch; after an error q is not locked.
func (q *queue) lockBatch(records, bytes int) (*batch, error) {
	q.mu.Lock()
	now := time.Now()
	if n := len(q.waiting); n == 0 || !q.waiting[n-1].takes(now, records, bytes, q.p.cfg.batchRecords) {
		if !q.p.begin() {
			q.mu.Unlock()
			return nil, ErrStopped
		}
		b := newBatch(now, q.p.cfg.AckTimeout, max(q.records, records)*5/4, max(q.bytes, bytes)*5/4)
		q.waiting = append(q.waiting, b)
	}
	return q.waiting[len(q.waiting)-1], nil
}

// unlockBatch sends the first batch, if one may go.
func (q *queue) unlockBatch() {
	q.sendNext()
	q.mu.Unlock()
}

// sendNext starts to send the first batch that waits, if one may go. q.mu is held.
func (q *queue) sendNext() {
	if len(q.waiting) == 0 || q.current != nil {
		return
	}
	now := time.Now()
	to := q.idle(now)
	if to == nil {
		return
	}
	b := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	q.records, q.bytes = len(b.ends), len(b.data)
	q.current, to.sending = b, true
	if q.spill != nil && now.Before(to.avoidUntil) {
		go q.spillUnsent(b, to)
	} else {
		go q.send(b, to)
	}
}

// idle returns the next sender without a batch; one to be avoided only when there is no other. q.mu is held.
func (q *queue) idle(now time.Time) *partitionSender {
	var avoided *partitionSender
	soon := false
	for range q.senders {
		q.next = (q.next + 1) % len(q.senders)
		s := q.senders[q.next]
		switch avoid := now.Before(s.avoidUntil); {
		case s.sending:
			soon = soon || !avoid
		case avoid:
			avoided = s
		default:
			return s
		}
	}
	if soon {
		return nil // its batch is acknowledged or late before long
	}
	return avoided
}

// send sends b to its partition. A batch that is not acknowledged in time is late: the next one may go to another
// partition, and the late one is spilled, or, where there is no spool or its disk fails, sent again until its deadline.
func (q *queue) send(b *batch, to *partitionSender) {
	defer q.p.running.Done()
	began := time.Now()
	q.p.metrics.inFlight.Inc()
	defer func() {
		q.p.metrics.inFlight.Dec()
		q.p.metrics.seconds.WithLabelValues(q.name).Observe(time.Since(began).Seconds())
	}()
	var spilled *spool.Ref // nil: b is not on disk
	late := sync.OnceFunc(func() { spilled = q.late(b, to) })
	timer := time.AfterFunc(q.lateIn(b), late)
	err := q.p.produce(q.name, to.partition, b)
	if inTime := timer.Stop() && (err == nil || refusedRecord(err)); !inTime {
		late() // or wait until it has ended
	}
	if spilled == nil {
		if err != nil {
			err = q.p.produceUntil(q.name, to.partition, b, err)
		}
		q.end(b, to, err)
		return
	}
	if err == nil {
		q.recovered(to.partition)
		q.p.metrics.appended(q.name, b)
	}
	q.spill.disk.Load().EndHold(*spilled, err == nil)
}

// lateIn returns in what time b is late.
func (q *queue) lateIn(b *batch) time.Duration {
	if q.spill == nil {
		return lateAfter
	}
	return max(spillAfter/2, spillAfter-time.Since(b.born))
}

// late sends the next batch and spills b while it is being sent; nil when it is not on disk.
func (q *queue) late(b *batch, to *partitionSender) *spool.Ref {
	q.mu.Lock()
	to.avoidUntil = time.Now().Add(avoidFor)
	q.sendAfter(b)
	q.mu.Unlock()
	if q.spill == nil {
		return nil
	}
	return q.put(b, to, true)
}

// spillUnsent spills b without sending it, since its partition does not acknowledge in time.
func (q *queue) spillUnsent(b *batch, to *partitionSender) {
	defer q.p.running.Done()
	if q.put(b, to, false) == nil {
		q.end(b, to, q.p.produceUntil(q.name, to.partition, b, nil))
	}
}

// put writes b to the spool and ends its appends; hold, while b is being sent, keeps it from being drained. It returns
// nil when the disk fails: then b has still to be sent.
func (q *queue) put(b *batch, to *partitionSender, hold bool) *spool.Ref {
	ref, err := q.spill.put(to.partition, b, hold)
	q.mu.Lock()
	to.sending = err != nil
	q.sendAfter(b)
	q.mu.Unlock()
	if err != nil {
		return nil
	}
	q.p.finish(b, nil)
	return &ref
}

// end reports how b ended, and sends its partition's next batch.
func (q *queue) end(b *batch, to *partitionSender, err error) {
	q.mu.Lock()
	to.sending = false
	to.avoidUntil = time.Time{}
	if errors.Is(err, ErrAway) {
		to.avoidUntil = time.Now().Add(avoidFor)
	}
	q.sendAfter(b)
	q.mu.Unlock()
	if err == nil {
		q.p.metrics.appended(q.name, b)
	} else {
		q.p.metrics.failures.WithLabelValues(q.name, reason(err)).Inc()
	}
	q.p.finish(b, err)
}

// sendAfter sends the batch after b. q.mu is held.
func (q *queue) sendAfter(b *batch) {
	if q.current == b {
		q.current = nil
	}
	q.sendNext()
}

// recovered notes that a partition acknowledges again.
func (q *queue) recovered(partition int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if partition < len(q.senders) {
		q.senders[partition].avoidUntil = time.Time{}
		q.sendNext()
	}
}

// setPartitions makes senders for partitions 0 to n-1.
func (q *queue) setPartitions(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.senders = make([]*partitionSender, n)
	for i := range q.senders {
		q.senders[i] = &partitionSender{partition: i}
	}
}

// retries is the schedule by which Kafka is asked again, until a deadline of the context.
var retries = lifecycle.Backoff{First: 20 * time.Millisecond, Max: 500 * time.Millisecond}

// produceUntil sends b to a partition until that acknowledges or refuses it, or until b's deadline: then the error is
// ErrAway with the last cause. err is the error of an earlier request, nil for none.
func (p *Producer) produceUntil(name string, partition int, b *batch, err error) error {
	ctx, cancel := context.WithDeadline(context.Background(), b.deadline)
	defer cancel()
	requests := 0
	ended := lifecycle.Retry(ctx, retries, retryable, nil, func(context.Context) error {
		if requests++; requests > 1 {
			p.metrics.retries.WithLabelValues(name).Inc()
		}
		if requests > 1 || err == nil {
			err = p.produce(name, partition, b)
		}
		return err
	})
	if ended != nil {
		if !refused(err) {
			err = fmt.Errorf("%w: %w", ErrAway, err)
		}
		return fmt.Errorf("append batch of %d to %s/%d: %w", len(b.ends), name, partition, err)
	}
	if requests > 1 {
		p.log.Warn("batch was sent more than once", "topic", name, "partition", partition, "records", len(b.ends),
			"attempts", requests, "next", "nothing: readers count an id once; if it goes on, look at the brokers")
	}
	return nil
}

var errExpired = errors.New("batches before it took too long")

// produce sends b to a partition in one request.
func (p *Producer) produce(topic string, partition int, b *batch) error {
	left := time.Until(b.deadline)
	if left <= 0 {
		return errExpired
	}
	ctx, cancel := context.WithTimeout(context.Background(), min(left, requestTimeout))
	defer cancel()
	res, err := p.client.Produce(ctx, &kafka.ProduceRequest{Topic: topic, Partition: partition,
		RequiredAcks: kafka.RequireAll, Compression: kafka.Lz4, Records: &records{batch: b}})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		p.log.Debug("request to kafka failed", "error", err)
		return err
	}
	fault.Pass(fault.Produced)
	return nil
}

// refused reports whether trying again can change nothing. Every error that the broker does not name as a permanent
// refusal may be a restart, an election or a broken connection, also a topic that it does not know yet.
func refused(err error) bool {
	code, ok := errors.AsType[kafka.Error](err)
	return ok && !code.Temporary()
}

func retryable(err error) bool { return !refused(err) }

// refusedRecord reports whether the broker will never take these records. All else that it refuses, such as a password
// or a right to write, an operator repairs, and the records wait for that in the spool.
func refusedRecord(err error) bool {
	code, ok := errors.AsType[kafka.Error](err)
	return ok && slices.Contains([]kafka.Error{
		kafka.MessageSizeTooLarge, kafka.RecordListTooLarge, kafka.InvalidTimestamp, kafka.InvalidRecord,
		kafka.UnsupportedForMessageFormat, kafka.PolicyViolation,
	}, code)
}

// batch holds the records of one request. Its bytes are copies, so that callers may reuse theirs even when they do not
// wait for the end.
type batch struct {
	born     time.Time
	closes   time.Time // when no more records may join
	deadline time.Time // when its oldest record stops waiting
	data     []byte    // key, value, key, value, …
	ends     []span
	headers  map[int][]Header // by record; nil: none

	appendBytes    int           // reserved by Append
	appendAllBytes int           // and by AppendAll and AppendTo
	done           chan struct{} // closed when err is final
	err            error
}

// span has the ends of a record's key and value in data.
type span struct {
	key, value int
	keyed      bool
}

// newBatch makes a batch with room for about so many records of so many bytes. Records join it in the first quarter of
// its time, so that none ends with ErrAway very soon.
func newBatch(now time.Time, timeout time.Duration, records, bytes int) *batch {
	return &batch{
		born: now, closes: now.Add(timeout / 4), deadline: now.Add(timeout),
		data: make([]byte, 0, bytes), ends: make([]span, 0, records), done: make(chan struct{}),
	}
}

// takes reports whether so many records of so many bytes may join.
func (b *batch) takes(now time.Time, records, bytes, maxRecords int) bool {
	return len(b.ends)+records <= maxRecords && len(b.data)+bytes <= maxBatchBytes && now.Before(b.closes)
}

func (b *batch) add(r Record) {
	if r.Headers != nil {
		if b.headers == nil {
			b.headers = map[int][]Header{}
		}
		b.headers[len(b.ends)] = r.Headers
	}
	b.data = append(b.data, r.Key...)
	end := span{key: len(b.data), keyed: r.Key != nil}
	b.data = append(b.data, r.Value...)
	end.value = len(b.data)
	b.ends = append(b.ends, end)
}

// values yields the values of a batch without keys.
func (b *batch) values() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		begin := 0
		for _, end := range b.ends {
			if !yield(b.data[begin:end.value]) {
				return
			}
			begin = end.value
		}
	}
}

// wait returns how the batch ended.
func (b *batch) wait(ctx context.Context) error {
	if ctx.Done() == nil { // as of a beacon, which waits in any case: a receive costs a third of a select
		<-b.done
		return b.err
	}
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// records reads a batch for one attempt. kafka-go asks for one record at a time and is done with it before the next.
type records struct {
	batch  *batch
	next   int
	begin  int
	record protocol.Record
	key    payload
	value  payload
}

func (r *records) ReadRecord() (*protocol.Record, error) {
	if r.next == len(r.batch.ends) {
		return nil, io.EOF
	}
	end := r.batch.ends[r.next]
	r.record = protocol.Record{Value: &r.value, Headers: r.batch.headers[r.next]}
	if end.keyed {
		r.key.Reset(r.batch.data[r.begin:end.key])
		r.record.Key = &r.key
	}
	r.value.Reset(r.batch.data[end.key:end.value])
	r.begin = end.value
	r.next++
	return &r.record, nil
}

// payload is a protocol.Bytes that can be set again.
type payload struct{ bytes.Reader }

func (*payload) Close() error { return nil }
