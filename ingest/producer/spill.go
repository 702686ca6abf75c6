package producer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/producer/spool"
)

// shelf is the producer's way to its spool.
//
// A batch goes to disk with its partition, which it keeps: it may have been sent
// there. One that was never sent, because since the process began no broker has
// told how many partitions there are, has none. Nothing on disk has to say which one
// it gets, since that follows from what is there: of a record with a key as ever, of
// one without from the turn that its batch was given, modulo the number of
// partitions. That number changes only while spools are empty.
type spill struct {
	p       *Producer
	cfg     Spool
	metrics *spillMetrics
	begun   chan struct{} // closed when disk and err may be read
	disk    *spool.Spool
	err     error
	turn    atomic.Uint32
	warned  pace // of records that go to disk
	failed  pace // of the disk

	mu   sync.Mutex
	lost map[string]bool // topics whose partitions were asked for in vain
	way  map[string]lines
}

// Places of batches in the spool that are no partitions.
const (
	byKey = -1 // records with a key, to be parted by it
	later = -2 // and below: records without one, of turn 0, 1, …
	turns = 60 // a multiple of many numbers of partitions
)

const segmentBytes = 16 << 20

func newSpill(p *Producer, reg prometheus.Registerer) (*spill, error) {
	s := &spill{p: p, cfg: p.cfg.Spool, begun: make(chan struct{}), lost: map[string]bool{}, way: map[string]lines{}}
	var err error
	s.metrics, err = newSpillMetrics(reg, s)
	return s, err
}

// run opens the spool, sends what is in it, and at the end of ctx closes it.
func (s *spill) run(ctx context.Context) error {
	s.disk, s.err = spool.Open(spool.Config{
		Dir: s.cfg.Dir, SegmentBytes: min(segmentBytes, s.cfg.MaxBytes/16), Synced: func(d time.Duration) { s.metrics.fsync.Observe(d.Seconds()) },
	}, s.p.log)
	close(s.begun)
	if s.err != nil {
		s.p.stop()
		return s.err
	}
	d := newDrain(s)
	d.run(ctx)
	s.p.stop()
	d.finish()
	if n := s.disk.Records(); n > 0 {
		s.p.log.Info("records stay in the spool until the next start", "dir", s.cfg.Dir, "records", n)
	}
	return s.disk.Close()
}

// openWithin is how long an append waits for the spool, which reads what it has when it is opened.
const openWithin = time.Second

// opened waits for the spool, and is ErrOverloaded where that takes too long: who waits
// holds memory that nobody counts. Without one, and when it is open, it costs nothing.
func (s *spill) opened(ctx context.Context) error {
	if s == nil {
		return nil
	}
	select {
	case <-s.begun:
	default:
		late := time.NewTimer(openWithin)
		defer late.Stop()
		select {
		case <-s.begun:
		case <-late.C:
			return fmt.Errorf("spool %s is being opened: %w", s.cfg.Dir, ErrOverloaded)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if s.err != nil {
		return ErrStopped
	}
	return nil
}

// hasRoom reports whether all that is held in memory would find room on disk.
func (s *spill) hasRoom(held int64) bool {
	return s == nil || held+s.disk.Used() <= s.cfg.MaxBytes
}

// patience ends when an append to a topic is kept without its partition. p.mu is held.
func (s *spill) patience(topic string) <-chan struct{} {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	over := make(chan struct{})
	if s.lost[topic] {
		close(over)
	} else {
		time.AfterFunc(s.cfg.After, func() { close(over) })
	}
	return over
}

// unknown notes that the partitions of a topic were asked for in vain.
func (s *spill) unknown(topic string) {
	if s != nil {
		s.mu.Lock()
		s.lost[topic] = true
		s.mu.Unlock()
	}
}

// early is the queue of records whose partition is not known yet.
func (s *spill) early(topic string, key []byte) *queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	way, ok := s.way[topic]
	if !ok {
		keyed := s.p.queue(topic, true)
		keyed.senders = []partitionSender{{partition: byKey}}
		way = lines{free: s.p.queue(topic, true), keyed: []*queue{keyed}}
		way.free.senders = []partitionSender{{partition: later}}
		s.way[topic] = way
	}
	if key != nil {
		return way.keyed[0]
	}
	return way.free
}

// stop has the early queues take no more; the producer has stopped, so that there
// will be no others.
func (s *spill) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, way := range s.way {
		way.free.stop()
		way.keyed[0].stop()
	}
}

// keep puts a batch on disk. One that is held is still being sent.
func (s *spill) keep(topic string, partition int, b *batch, held bool) (spool.Ref, error) {
	to := spool.Stream{Topic: topic, Partition: int32(partition)}
	if partition == later {
		to.Partition -= int32(s.turn.Add(1) % turns)
	}
	ref, err := s.disk.Put(to, time.Now(), len(b.ends), held, b.lengths(), b.data)
	if err != nil {
		s.metrics.errors.Inc()
		if s.failed.due() {
			s.p.log.Error("spool cannot be written: records are safe only when Kafka has them", "dir", s.cfg.Dir, "error", err,
				"next", "look at the disk: is it full, or does it fail; appends fail when Kafka is away too")
		}
		return ref, err
	}
	s.metrics.spooled.Add(float64(len(b.ends)))
	if s.warned.due() {
		s.p.log.Warn("kafka does not acknowledge in time: records are kept in the spool", "topic", topic, "dir", s.cfg.Dir, "records", s.disk.Records(),
			"next", "look at the brokers; what is in the spool is sent when they are back")
	}
	return ref, nil
}

// pace lets something be said once a minute.
type pace struct{ last atomic.Int64 }

func (p *pace) due() bool {
	now, last := time.Now().Unix(), p.last.Load()
	return now-last >= 60 && p.last.CompareAndSwap(last, now)
}

// lengths is what the spool keeps before data: the number of records, then the
// lengths of each one's key, counted from 1 because 0 is none, and value.
func (b *batch) lengths() []byte {
	text := binary.AppendUvarint(make([]byte, 0, 4+4*len(b.ends)), uint64(len(b.ends)))
	begin := 0
	for _, end := range b.ends {
		key := 0
		if end.keyed {
			key = end.key - begin + 1
		}
		text = binary.AppendUvarint(text, uint64(key))
		text = binary.AppendUvarint(text, uint64(end.value-end.key))
		begin = end.value
	}
	return text
}

var errNoBatch = errors.New("not a batch of records")

// parse calls record with each record of what the spool kept. Its slices are parts of body.
func parse(body []byte, record func(key, value []byte)) error {
	at := body
	number := func() int {
		n, size := binary.Uvarint(at)
		if size <= 0 || n > uint64(len(body))+1 {
			at = nil
			return -1
		}
		at = at[size:]
		return int(n)
	}
	count := number()
	if count < 0 || count > len(body)/2 {
		return errNoBatch
	}
	sizes, total := make([][2]int, count), 0
	for i := range sizes {
		sizes[i] = [2]int{number(), number()}
		if sizes[i][0] < 0 || sizes[i][1] < 0 {
			return errNoBatch
		}
		total += max(0, sizes[i][0]-1) + sizes[i][1]
	}
	if total != len(at) {
		return fmt.Errorf("%w: %d bytes of records, want %d", errNoBatch, len(at), total)
	}
	for _, size := range sizes {
		var key []byte
		if size[0] > 0 {
			key, at = at[:size[0]-1:size[0]-1], at[size[0]-1:]
		}
		record(key, at[:size[1]])
		at = at[size[1]:]
	}
	return nil
}
