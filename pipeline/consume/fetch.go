package consume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/producer"
)

// fetcher reads a partition in the order of its offsets, without a gap.
type fetcher struct {
	reader  *kafka.Reader
	next    int64 // the offset that fetch returns next
	held    *Record
	stopped func(format string, args ...any) *StoppedError // makes an error of the partition
}

func (p *partition[T]) open(from int64) (*fetcher, error) {
	return open(p.consumer.cfg.Connection, p.consumer.dialer, p.consumer.cfg.Topic, p.id, from)
}

// open opens a partition at an offset.
func open(c producer.Connection, dialer *kafka.Dialer, topic string, partition int32, from int64) (*fetcher, error) {
	r := kafka.NewReader(kafka.ReaderConfig{
		Brokers:               c.Brokers,
		Topic:                 topic,
		Partition:             int(partition),
		Dialer:                dialer,
		MinBytes:              1,
		MaxBytes:              9 << 20, // more than the largest record
		MaxWait:               500 * time.Millisecond,
		ReadBatchTimeout:      10 * time.Second,
		QueueCapacity:         16, // of the largest records, 128 MB
		ReadLagInterval:       -1, // watch measures the lag
		ReadBackoffMin:        50 * time.Millisecond,
		ReadBackoffMax:        time.Second,
		MaxAttempts:           3,
		OffsetOutOfRangeError: true,
	})
	if err := r.SetOffset(from); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s/%d@%d: %w", topic, partition, from, err), r.Close())
	}
	stopped := func(format string, args ...any) *StoppedError {
		return &StoppedError{topic, partition, fmt.Sprintf(format, args...)}
	}
	return &fetcher{reader: r, next: from, stopped: stopped}, nil
}

func (f *fetcher) close(log *slog.Logger) {
	if err := f.reader.Close(); err != nil {
		log.Warn("closing reader", "cause", err, "next", "nothing: another one is opened")
	}
}

// notInLog is the reason of a partition that stops at an offset that the broker does not have.
const notInLog = "offset %d is not in the log: its records expired unread, or the log was replaced"

// fetch returns the next record, or a StoppedError if the log does not have it.
func (f *fetcher) fetch(ctx context.Context) (Record, error) {
	if f.held != nil {
		r := *f.held
		f.held = nil
		f.next++
		return r, nil
	}
	m, err := f.reader.FetchMessage(ctx)
	switch {
	case errors.Is(err, kafka.OffsetOutOfRange):
		return Record{}, f.stopped(notInLog, f.next)
	case err != nil:
		return Record{}, err
	case m.Offset != f.next:
		return Record{}, f.stopped("offsets %d to %d are gone from the log", f.next, m.Offset-1)
	}
	f.next++
	return Record{m.Topic, int32(m.Partition), m.Offset, m.Key, m.Value, m.Headers, m.Time}, nil
}

// unfetch puts back the record that was fetched last.
func (f *fetcher) unfetch(r Record) {
	f.held = &r
	f.next--
}

// fetchRetrying calls fetch until the broker answers. The reader paces its attempts.
func (p *partition[T]) fetchRetrying(ctx context.Context, f *fetcher) (Record, error) {
	for {
		r, err := f.fetch(ctx)
		_, stopped := errors.AsType[*StoppedError](err)
		switch {
		case err == nil, stopped, ctx.Err() != nil:
			return r, err
		}
		p.consumer.fetchWarning.Do(func() {
			p.log.Warn("fetching", "cause", err,
				"next", "nothing while a broker restarts; else see that it is up")
		})
	}
}

// fetchAll fetches the records at rising offsets and skips those in between.
func (p *partition[T]) fetchAll(ctx context.Context, offsets []int64) (all []*Record, err error) {
	f, err := p.open(offsets[0])
	if err != nil {
		return nil, err
	}
	defer f.close(p.log)
	for len(all) < len(offsets) {
		r, err := f.fetch(ctx)
		if err != nil {
			return nil, fmt.Errorf("fetch %s/%d@%d again: %w", p.consumer.cfg.Topic, p.id, f.next, err)
		}
		if r.Offset == offsets[len(all)] {
			all = append(all, &r)
		}
	}
	return all, nil
}
