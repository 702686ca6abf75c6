package producer

import (
	"errors"
	"sync"
	"time"
)

// queue puts records into batches, in their order, and lets them go: one at a
// time to each of its senders.
type queue struct {
	p       *Producer
	topic   string // without prefix
	name    string // with prefix
	keyed   bool   // its records keep their order, also beside those in the spool
	spooled bool   // what is not acknowledged soon goes to the spool

	mu      sync.Mutex
	stopped bool
	waiting []*batch // the last one may still be joined
	senders []partitionSender
	turn    int  // lane to look at first
	busy    int  // batches under way that are not late
	alarmed bool // a timer will release the first batch
	due     bool // and did
	records int  // of the last batch, and
	bytes   int  // of its data, to make room for the next one
}

// lane is the way to one partition.
type partitionSender struct {
	partition int
	sending   bool
	sickUntil time.Time // no batch of the last ones arrived: others are preferred
}

// sickness is how long a partition that failed is left alone while others are well.
const sickness = 30 * time.Second

// join copies a record into the last batch or a new one.
func (q *queue) join(key, value []byte, bulk bool) (*batch, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return nil, ErrStopped
	}
	b := q.last(1, len(key)+len(value))
	b.add(key, value)
	if bulk {
		b.bulk += weight(key, value)
	} else {
		b.live += weight(key, value)
	}
	q.release()
	return b, nil
}

// joinTogether is join for records of Append without a key that are to be in one batch.
func (q *queue) joinTogether(values [][]byte) (*batch, error) {
	size := 0
	for _, value := range values {
		size += len(value)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return nil, ErrStopped
	}
	b := q.last(len(values), size)
	for _, value := range values {
		b.add(nil, value)
		b.live += weight(nil, value)
	}
	q.release()
	return b, nil
}

// last is the batch that takes so many records of so many bytes: the last one, or a new one. q.mu is held.
func (q *queue) last(records, bytes int) *batch {
	now := time.Now()
	if n := len(q.waiting); n > 0 && q.waiting[n-1].takes(now, records, bytes, &q.p.cfg) {
		return q.waiting[n-1]
	}
	b := newBatch(now, q.p.cfg.AckTimeout, max(q.records, records)*5/4, max(q.bytes, bytes)*5/4)
	q.waiting = append(q.waiting, b)
	q.p.open.Add(1)
	return b
}

// release sends what may go. q.mu is held.
func (q *queue) release() {
	for len(q.waiting) > 0 && q.busy < q.p.cfg.InFlight {
		if q.linger() {
			return
		}
		l := q.idle()
		if l == nil {
			return
		}
		b := q.waiting[0]
		q.waiting[0] = nil
		q.waiting = q.waiting[1:]
		q.due = false
		q.records, q.bytes = len(b.ends), len(b.data)
		q.busy++
		l.sending = true
		switch {
		case !q.spooled:
			go q.send(b, l)
		case q.away(l, time.Now()):
			go q.spillUnsent(b, l)
		default:
			go q.try(b, l)
		}
	}
}

// linger reports whether the first batch should wait for more. q.mu is held.
func (q *queue) linger() bool {
	if q.p.cfg.Linger == 0 || q.due || len(q.waiting) > 1 || q.stopped {
		return false
	}
	if !q.alarmed {
		q.alarmed = true
		time.AfterFunc(q.p.cfg.Linger, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.alarmed, q.due = false, true
			q.release()
		})
	}
	return true
}

// idle is the next lane that has nothing under way: a well one if there is any.
// q.mu is held.
func (q *queue) idle() *partitionSender {
	var sick *partitionSender
	soon := false
	now := time.Now()
	for range q.senders {
		l := &q.senders[q.turn]
		q.turn = (q.turn + 1) % len(q.senders)
		switch away := q.away(l, now); {
		case l.sending:
			soon = soon || !away
		case away:
			sick = l
		default:
			return l
		}
	}
	if q.spooled && soon {
		return nil // what is under way to a well one is acknowledged or late before long
	}
	return sick
}

// patience is how long a batch is under way before it counts as late.
const patience = 500 * time.Millisecond

// send brings b to l's partition, and lets the next batch go.
func (q *queue) send(b *batch, l *partitionSender) {
	next := sync.OnceFunc(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.busy--
		q.release()
	})
	timer := time.AfterFunc(patience, next)
	err := q.p.deliver(q.name, l.partition, b, next)
	timer.Stop()

	q.mu.Lock()
	l.sending = false
	l.sickUntil = time.Time{}
	if errors.Is(err, ErrAway) {
		l.sickUntil = time.Now().Add(sickness)
	}
	q.mu.Unlock()
	next()
	q.resume()
	q.p.metrics.ended(q.name, b, err)
	q.p.finish(b, err)
	q.p.open.Done()
}

// resume is for a lane that became free after another batch took its turn.
func (q *queue) resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.release()
}

// stop refuses records from now on, and lets go of what waits for company.
func (q *queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.release()
}
