package producer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/producer/spool"
)

// away reports whether a batch for l goes to the spool, or to another lane, without
// being sent: the last one did not arrive in time, or, of records with a key, some
// that came before are in the spool still. q.mu is held.
func (q *queue) away(l *partitionSender, now time.Time) bool {
	if l.partition < 0 || now.Before(l.sickUntil) {
		return true
	}
	return q.keyed && q.spooled && q.p.spill.pending(q.topic, l.partition)
}

// pending reports whether records with a key for a partition are in the spool.
func (s *spill) pending(topic string, partition int) bool {
	return s.disk.Pending(spool.Stream{Topic: topic, Partition: int32(partition)}) > 0 || s.disk.Pending(spool.Stream{Topic: topic, Partition: byKey}) > 0
}

// try sends b to l's partition. What is not acknowledged in time is kept on disk and
// answered; the attempt goes on, and strikes it off when it succeeds after all.
func (q *queue) try(b *batch, l *partitionSender) {
	defer q.p.open.Done()
	q.p.metrics.inFlight.Inc()
	defer q.p.metrics.inFlight.Dec()
	begin := time.Now()
	var ref spool.Ref
	var notKept error
	answered := make(chan struct{})
	after := q.p.cfg.Spool.After
	timer := time.AfterFunc(max(after/2, after-begin.Sub(b.born)), func() {
		defer close(answered)
		q.leave(l)
		if ref, notKept = q.p.spill.keep(q.topic, l.partition, b, true); notKept == nil {
			q.p.finish(b, nil)
		}
		q.vacate(l)
	})
	err := q.p.attempt(begin.Add(q.p.cfg.AttemptTimeout), func(ctx context.Context) error { return q.p.produce(ctx, q.name, l.partition, b) })
	q.p.metrics.seconds.WithLabelValues(q.name).Observe(time.Since(begin).Seconds())
	if err != nil {
		q.p.log.Debug("kafka did not answer well", "topic", q.name, "error", err)
	}
	if timer.Stop() {
		q.ended(b, l, err)
		return
	}
	<-answered
	if err == nil {
		q.p.recovered(q.topic, l.partition)
	}
	switch {
	case notKept != nil:
		q.insist(b, l.partition, err)
	case err == nil:
		q.p.metrics.ended(q.name, b, nil)
		q.p.spill.disk.Remove(ref)
	default:
		q.p.spill.disk.Release(ref)
	}
}

// ended is for an attempt that was over in time.
func (q *queue) ended(b *batch, l *partitionSender, err error) {
	if err != nil && !refusedRecord(err) {
		q.leave(l)
		kept := q.put(b, l)
		q.vacate(l)
		if kept != nil {
			q.insist(b, l.partition, errors.Join(err, kept))
		}
		return
	}
	q.free(l)
	if err != nil {
		err = fmt.Errorf("append batch of %d to %s/%d: %w", len(b.ends), q.name, l.partition, err)
	}
	q.p.metrics.ended(q.name, b, err)
	q.p.finish(b, err)
}

// spillUnsent puts b on disk without sending it, since l is away.
func (q *queue) spillUnsent(b *batch, l *partitionSender) {
	defer q.p.open.Done()
	err := q.put(b, l)
	q.free(l)
	if err != nil {
		q.insist(b, l.partition, err)
	}
}

// put puts b on disk, and answers when it is there.
func (q *queue) put(b *batch, l *partitionSender) error {
	_, err := q.p.spill.keep(q.topic, l.partition, b, false)
	if err == nil {
		q.p.finish(b, nil)
	}
	return err
}

// insist is for a batch that the disk does not take: whoever appended it waits, as
// without a spool. The error is that of the attempt so far, nil when it arrived.
func (q *queue) insist(b *batch, partition int, err error) {
	switch {
	case err == nil:
	case partition < 0:
		err = fmt.Errorf("%w: %w", ErrAway, err)
	default:
		err = q.p.deliver(q.name, partition, b, func() {})
	}
	q.p.metrics.ended(q.name, b, err)
	q.p.finish(b, err)
}

// leave lets the next batch go, to another partition than l's.
func (q *queue) leave(l *partitionSender) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.sickUntil = time.Now().Add(sickness)
	q.busy--
	q.release()
}

// free lets the next batch go, to l too.
func (q *queue) free(l *partitionSender) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.sending = false
	q.busy--
	q.release()
}

// vacate has l, which was left, take another batch.
func (q *queue) vacate(l *partitionSender) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.sending = false
	q.release()
}

// recovered notes that a partition acknowledges again.
func (p *Producer) recovered(name string, partition int) {
	found, ok := p.topics.Load(name)
	if !ok {
		return
	}
	t := found.(*topic)
	select {
	case <-t.known:
	default:
		return
	}
	if t.err != nil || partition >= len(t.ids) {
		return
	}
	for _, to := range []struct {
		*queue
		*partitionSender
	}{{t.free, &t.free.senders[partition]}, {t.keyed[partition], &t.keyed[partition].senders[0]}} {
		to.mu.Lock()
		to.sickUntil = time.Time{}
		to.release()
		to.mu.Unlock()
	}
}

// refusedRecord reports whether the broker will never take what was sent. Whatever
// else it refuses, such as a password or a right to write, an operator mends, and
// the records wait for that in the spool.
func refusedRecord(err error) bool {
	code, ok := errors.AsType[kafka.Error](err)
	return ok && slices.Contains([]kafka.Error{
		kafka.MessageSizeTooLarge, kafka.RecordListTooLarge, kafka.InvalidTimestamp, kafka.InvalidRecord, kafka.UnsupportedForMessageFormat, kafka.PolicyViolation,
	}, code)
}
