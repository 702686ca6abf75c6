package producer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/answerscope/answerscope/ingest/producer/spool"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// drainRequests bounds the requests of the drain under way, each with up to a batch in memory: new appends come first.
const drainRequests = 2

// drain sends the entries of the spool, a partition beside the other, until ctx ends; or, unless it is to keep trying,
// until the spool is empty or a request fails. It reports whether the last request of every partition succeeded.
func (s *spill) drain(ctx context.Context, keepTrying bool) bool {
	var (
		senders sync.WaitGroup
		active  sync.Map // by partition
		failed  atomic.Bool
		slots   = make(chan struct{}, drainRequests)
		disk    = s.disk.Load()
	)
	for {
		for _, partition := range disk.Partitions() {
			if _, ok := active.LoadOrStore(partition, true); ok {
				continue
			}
			senders.Go(func() {
				if s.drainPartition(ctx, partition, keepTrying, slots) != nil {
					failed.Store(true)
				}
				active.Delete(partition)
				disk.Signal() // entries may have come meanwhile
			})
		}
		if keepTrying {
			select {
			case <-disk.Changed():
				continue
			case <-ctx.Done():
			}
		}
		senders.Wait()
		return !failed.Load()
	}
}

// drainPartition sends the entries of one partition until there are none. After a failure and a pause it sends one
// entry at a time, until ctx ends; it returns the error of the last request.
func (s *spill) drainPartition(
	ctx context.Context, partition int, keepTrying bool, slots chan struct{},
) (failed error) {
	disk, pause := s.disk.Load(), retries.First
	for ctx.Err() == nil {
		records := s.p.cfg.batchRecords
		if failed != nil {
			records = 1
		}
		refs := disk.Next(partition, maxBatchBytes, records)
		if len(refs) == 0 {
			return nil
		}
		slots <- struct{}{}
		failed = s.drainEntries(partition, refs)
		<-slots
		switch {
		case failed == nil:
			pause = retries.First
			if disk.Records() == 0 {
				s.p.log.Info("spool is empty again", "dir", s.cfg.Dir)
			}
		case refusedRecord(failed) && len(refs) > 1: // they are sent one by one, to find the refused one
		case !keepTrying:
			return failed
		default:
			// with a random deviation, so that partitions and collectors do not retry in step after an outage
			_ = lifecycle.Pause(ctx, time.Duration((0.5+rand.Float64())*float64(pause)))
			pause = min(2*pause, retries.Max)
		}
	}
	return failed
}

// drainEntries sends entries in one request, and removes them.
func (s *spill) drainEntries(partition int, refs []spool.Ref) error {
	disk := s.disk.Load()
	b := &batch{deadline: time.Now().Add(s.p.cfg.AckTimeout)}
	var buffer []byte
	for _, ref := range refs {
		e, err := disk.Read(ref, buffer)
		if err == nil {
			err = b.parse(e.Body)
			buffer = e.Body
		}
		if err != nil {
			return s.quarantineDamaged(ref, err)
		}
	}
	appended := len(b.ends)
	err := s.p.produce(s.name, partition, b)
	if refusedRecord(err) && len(refs) == 1 {
		appended, err = s.drainEach(partition, b, refs[0], err)
	}
	if err != nil {
		return err
	}
	disk.Remove(refs...)
	s.p.metrics.records.WithLabelValues(s.name).Add(float64(appended))
	s.p.metrics.bytes.WithLabelValues(s.name).Add(float64(len(b.data)))
	s.p.metrics.drained.Add(float64(len(b.ends)))
	s.queue.recovered(partition)
	return nil
}

// drainEach sends the records of an entry one by one, since the broker refused them together. If it refuses some of
// them again, these are not sent, and the entry is quarantined.
func (s *spill) drainEach(partition int, all *batch, ref spool.Ref, cause error) (appended int, err error) {
	for value := range all.values() {
		one := &batch{deadline: time.Now().Add(s.p.cfg.AckTimeout)}
		one.add(Record{Value: value})
		err := s.p.produce(s.name, partition, one)
		if err != nil && !refusedRecord(err) {
			return appended, err
		}
		if err == nil {
			appended++
		}
	}
	if appended == len(all.ends) { // together they were too large
		return appended, nil
	}
	file, err := s.disk.Load().Quarantine(ref, "refused")
	if err != nil {
		return appended, err
	}
	s.p.metrics.quarantined.Inc()
	s.p.log.Error("kafka refuses spooled records for good", "topic", s.name, "partition", partition,
		"records", len(all.ends)-appended, "of", len(all.ends), "file", file, "error", cause,
		"next", "compare the topic's limits with those that migrate sets; the batch with these records is kept in file")
	return appended, nil
}

// quarantineDamaged removes an entry that the disk does not return as it was written, and keeps its bytes in a file.
// The error is the reason why the request was not sent.
func (s *spill) quarantineDamaged(ref spool.Ref, cause error) error {
	disk := s.disk.Load()
	file, err := disk.Quarantine(ref, "damaged")
	if err != nil {
		s.p.metrics.spoolErrors.Inc()
		s.failed.Do(func() {
			s.p.log.Error("spooled records cannot be read", "dir", s.cfg.Dir, "error", errors.Join(cause, err),
				"next", "look at the disk; reading is tried again, and the records behind them wait")
		})
		return errors.Join(cause, err)
	}
	disk.Remove(ref)
	s.p.metrics.quarantined.Inc()
	s.p.log.Error("spooled records are damaged and were quarantined", "records", ref.Records(),
		"file", file, "error", cause, "next", "look at the disk and the file system; the bytes are kept in file")
	return fmt.Errorf("quarantined %s: %w", file, cause)
}
