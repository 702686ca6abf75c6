package producer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer/spool"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// spillTopic is the only topic whose records wait on disk while Kafka is away: the sources of others keep theirs.
const spillTopic = event.TopicVisits

// spill writes batches to the spool while Kafka is away. A batch keeps its partition there, since it may have been sent
// to it. So nothing is spilled before the number of partitions is known, from Kafka or from PartitionsFile.
type spill struct {
	p     *Producer
	cfg   Spool
	name  string // of the topic, with prefix
	queue *queue // of Append
	disk  atomic.Pointer[spool.Spool]

	ready chan struct{} // closed when records may be taken, or are refused with err
	open  func()        // closes it
	err   error

	warned rate.Sometimes // of records that go to disk
	failed rate.Sometimes // of the disk
}

const segmentBytes = 16 << 20

func newSpill(p *Producer) *spill {
	s := &spill{
		p: p, cfg: p.cfg.Spool, name: p.cfg.Prefix + spillTopic, ready: make(chan struct{}),
		warned: rate.Sometimes{Interval: time.Minute}, failed: rate.Sometimes{Interval: time.Minute},
	}
	s.open = sync.OnceFunc(func() { close(s.ready) })
	s.queue = &queue{p: p, name: s.name, spill: s}
	return s
}

// run opens the spool, drains it, and closes it at the end of ctx.
func (s *spill) run(ctx context.Context) error {
	disk, err := spool.Open(spool.Config{
		Dir: s.cfg.Dir, SegmentBytes: min(segmentBytes, s.cfg.MaxBytes/16),
		Synced: func(d time.Duration) { s.p.metrics.fsync.Observe(d.Seconds()) },
	}, s.p.log)
	if err != nil {
		s.err = ErrStopped
		s.open()
		s.p.stop()
		return err
	}
	s.disk.Store(disk)
	var counting sync.WaitGroup
	counting.Go(func() { s.countPartitions(ctx) })
	succeeds := s.drain(ctx, true)
	counting.Wait()
	s.p.stop()
	s.open() // for callers that still wait
	if succeeds {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.p.cfg.AckTimeout)
		s.drain(ending, false)
		cancel()
	}
	if n := disk.Records(); n > 0 {
		s.p.log.Info("records stay in the spool until the next start", "dir", s.cfg.Dir, "records", n)
	}
	return disk.Close()
}

// countPartitions makes the queue ready with the number of partitions on file, then asks Kafka until it reports the
// number, and saves that where it has changed.
func (s *spill) countPartitions(ctx context.Context) {
	saved, err := loadPartitions(s.cfg.PartitionsFile, s.name)
	if err != nil {
		s.p.log.Warn("number of partitions not read", "error", err,
			"next", "nothing once Kafka answers; until then beacons are answered 503")
	}
	if saved > 0 {
		s.queue.setPartitions(saved)
		s.open()
	}
	var n int
	everySecond := lifecycle.Backoff{First: time.Second, Max: time.Second}
	err = lifecycle.Retry(ctx, everySecond, nil, nil, func(ctx context.Context) (err error) {
		n, err = s.p.findPartitions(ctx, s.name) // an operator repairs a refusal
		return err
	})
	if err != nil {
		return
	}
	if n != saved {
		s.queue.setPartitions(n)
		if err := savePartitions(s.cfg.PartitionsFile, s.name, n); err != nil {
			s.p.log.Warn("number of partitions not kept on disk", "error", err,
				"next", "see to the disk: a start while Kafka is away would answer beacons 503")
		}
	}
	s.open()
}

// readyWithin bounds the wait of an append for the spool, which reads its files when it is opened, and for the number
// of partitions. A caller that waits holds memory that is not counted.
const readyWithin = time.Second

// wait returns when records may be spilled; its error is ErrNotReady where that takes too long. Afterwards it costs
// nothing.
func (s *spill) wait(ctx context.Context) error {
	select {
	case <-s.ready:
		return s.err
	default:
	}
	limit := time.NewTimer(readyWithin)
	defer limit.Stop()
	select {
	case <-s.ready:
		return s.err
	case <-limit.C:
		if s.disk.Load() == nil {
			return fmt.Errorf("spool %s is being opened: %w", s.cfg.Dir, ErrNotReady)
		}
		return fmt.Errorf("partitions of %s are not known: kafka has never answered, and there is no %s: %w",
			s.name, s.cfg.PartitionsFile, ErrNotReady)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// hasRoom reports whether all bytes that are reserved in memory would find room on disk.
func (s *spill) hasRoom(reserved int64) bool { return reserved+s.disk.Load().Used() <= s.cfg.MaxBytes }

// put writes a batch to disk. The drain leaves it there while hold keeps it.
func (s *spill) put(partition int, b *batch, hold bool) (spool.Ref, error) {
	disk := s.disk.Load()
	entry := spool.Entry{Partition: partition, At: time.Now(), Records: len(b.ends), Body: b.encode()}
	ref, err := disk.Put(entry, hold)
	if err != nil {
		s.p.metrics.spoolErrors.Inc()
		s.failed.Do(func() {
			s.p.log.Error("spool cannot be written: records are safe only when Kafka has them",
				"dir", s.cfg.Dir, "error", err,
				"next", "look at the disk: is it full, or does it fail; appends fail when Kafka is away too")
		})
		return ref, err
	}
	s.p.metrics.spilled.Add(float64(len(b.ends)))
	s.warned.Do(func() {
		s.p.log.Warn("kafka does not acknowledge in time: records are kept in the spool",
			"topic", s.name, "dir", s.cfg.Dir, "records", disk.Records(),
			"next", "look at the brokers; the spool is sent when they are back")
	})
	return ref, nil
}

// encode makes the body of an entry of a batch without keys: for each value its length and its bytes.
func (b *batch) encode() []byte {
	body := make([]byte, 0, len(b.data)+binary.MaxVarintLen32*len(b.ends))
	for value := range b.values() {
		body = append(binary.AppendUvarint(body, uint64(len(value))), value...)
	}
	return body
}

var errNoBatch = errors.New("not a batch of records")

// parse adds the values of an entry's body to b, or none.
func (b *batch) parse(body []byte) error {
	ends, bytes := len(b.ends), len(b.data)
	for len(body) > 0 {
		length, size := binary.Uvarint(body)
		if size <= 0 || length > uint64(len(body)-size) {
			b.ends, b.data = b.ends[:ends], b.data[:bytes]
			return errNoBatch
		}
		end := size + int(length)
		b.add(Record{Value: body[size:end]})
		body = body[end:]
	}
	return nil
}
