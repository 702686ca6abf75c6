package consume

import (
	"context"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/producer"
)

// A Span is the records of a partition at the offsets from First to the one before End.
type Span struct {
	Partition  int32
	First, End int64
	Expired    bool // the log begins with it: earlier records may have been of the span, and are gone
}

// LandedSince are the records of a sink, a span of each partition, that were appended at a time or later and have
// landed.
func LandedSince(ctx context.Context, c producer.Connection, sink Sink, since time.Time) ([]Span, error) {
	positions, err := Positions(ctx, c, sink.Group, sink.Topic)
	if err != nil {
		return nil, err
	}
	return withPartitions(ctx, c, sink.Topic, func(client *kafka.Client, partitions []int) (spans []Span, err error) {
		log, err := logOffsets(ctx, client, sink.Topic, partitions, kafka.FirstOffsetOf)
		if err != nil {
			return nil, err
		}
		appended, err := logOffsets(ctx, client, sink.Topic, partitions, func(id int) kafka.OffsetRequest { return kafka.TimeOffsetOf(id, since) })
		if err != nil {
			return nil, err
		}
		for _, p := range positions {
			end := min(max(0, p.Committed), p.End) // of a log that was replaced there is less
			s := Span{Partition: p.Partition, First: end, End: end}
			for first := range appended[int(p.Partition)].Offsets {
				if first >= 0 { // else all records are older
					s.First = min(first, s.End)
				}
			}
			begins := log[int(p.Partition)].FirstOffset
			s.Expired = begins > 0 && s.First <= begins
			spans = append(spans, s)
		}
		return spans, nil
	})
}

// Read calls take with the records of a span, in their order, until it returns an error, which it returns.
func Read(ctx context.Context, c producer.Connection, topic string, s Span, take func(Record) error) error {
	dialer, err := c.Dialer()
	if err != nil {
		return err
	}
	f, err := open(c, dialer, topic, s.Partition, s.First)
	if err != nil {
		return err
	}
	defer func() { _ = f.reader.Close() }() // all is read, or there is an error already
	for f.next < s.End {
		r, err := f.fetch(ctx)
		if err != nil {
			return fmt.Errorf("read %s/%d@%d: %w", topic, s.Partition, f.next, err)
		}
		if err := take(r); err != nil {
			return err
		}
	}
	return nil
}
