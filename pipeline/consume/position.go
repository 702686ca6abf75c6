package consume

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// Position is a group's progress in a partition of a topic.
type Position struct {
	Partition int32
	Committed int64 // everything below this offset has landed; -1: nothing is committed
	Plan      *Plan // of the batch that begins at Committed and may have landed; nil: none is planned
	End       int64 // of the log: the offset of the next record
}

// Last is the largest offset that may have landed.
func (p Position) Last() int64 {
	if p.Plan != nil {
		return p.Plan.Last
	}
	return p.Committed - 1
}

// A SinkGroup is the consumer group of a sink and its topic, both with their prefix, and the landing table.
type SinkGroup struct{ Group, Topic, Landing string }

// ErrPlanned is returned where no batch may be planned: a planned batch may have landed in some tables and not in
// others, and its replay may come at any time.
var ErrPlanned = errors.New("is planned and has not landed")

// CheckNoPlan returns an ErrPlanned that names a planned batch of the sinks, for one of the shards if any are given.
// The caller holds the exclusive sink lock.
func CheckNoPlan(ctx context.Context, c producer.Connection, sinks []SinkGroup, shards ...int) error {
	for _, sink := range sinks {
		positions, err := Positions(ctx, c, sink.Group, sink.Topic)
		if err != nil {
			return err
		}
		for _, p := range positions {
			if p.Plan != nil && (len(shards) == 0 || slices.Contains(shards, p.Plan.Shard)) {
				return fmt.Errorf("batch %s/%d@%d %w", sink.Topic, p.Partition, p.Committed, ErrPlanned)
			}
		}
	}
	return nil
}

// Positions returns the positions of all partitions of a topic, by their numbers; none if the topic does not exist. The
// ends are read after the commits. Consumers go on meanwhile: a position without a plan keeps its state only if the
// caller has held the exclusive sink lock since before this call.
func Positions(ctx context.Context, c producer.Connection, group, topic string) ([]Position, error) {
	temporary := func(err error) bool {
		code, ok := errors.AsType[kafka.Error](err)
		return ok && code.Temporary()
	}
	return withPartitions(ctx, c, topic, func(client *kafka.Client, partitions []int) (all []Position, err error) {
		schedule := every200ms(coordinatorChanges)
		err = lifecycle.Retry(ctx, schedule, temporary, nil, func(ctx context.Context) (err error) {
			all, err = positions(ctx, client, group, topic, partitions)
			return err
		})
		return all, err
	})
}

// coordinatorChanges is longer than Kafka takes to choose a group's coordinator, as it does for its first group.
const coordinatorChanges = 5 * time.Second

// membersGone is longer than a killed consumer stays a member.
const membersGone = 15 * time.Second

func every200ms(total time.Duration) lifecycle.Backoff {
	return lifecycle.Backoff{First: 200 * time.Millisecond, Max: 200 * time.Millisecond, Total: total}
}

// OpenBatches returns the positions with a planned batch. The group must have no members: while consumers are at work
// the result would be outdated at once, and is an error.
func OpenBatches(ctx context.Context, c producer.Connection, group, topic string) ([]Position, error) {
	return withPartitions(ctx, c, topic, func(client *kafka.Client, partitions []int) (all []Position, err error) {
		err = lifecycle.Retry(ctx, every200ms(membersGone), nil, nil, func(ctx context.Context) (err error) {
			if err = checkNoMembers(ctx, client, group); err == nil {
				all, err = positions(ctx, client, group, topic, partitions)
			}
			return err
		})
		return slices.DeleteFunc(all, func(p Position) bool { return p.Plan == nil }), err
	})
}

// withPartitions calls f with the partitions of a topic, if it has any, and a client that is closed after it.
func withPartitions[T any](
	ctx context.Context, c producer.Connection, topic string, f func(*kafka.Client, []int) ([]T, error),
) ([]T, error) {
	transport, err := c.Transport(topic)
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: c.Address(), Transport: transport, Timeout: brokerTimeout}
	n, err := producer.Partitions(ctx, client, topic)
	if errors.Is(err, kafka.UnknownTopicOrPartition) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	partitions := make([]int, n)
	for i := range partitions {
		partitions[i] = i
	}
	return f(client, partitions)
}

func positions(
	ctx context.Context, client *kafka.Client, group, topic string, partitions []int,
) ([]Position, error) {
	stored, err := storedOffsets(ctx, client, group, topic, partitions)
	if err != nil && !errors.Is(err, kafka.GroupIdNotFound) {
		return nil, err
	}
	ends, err := logOffsets(ctx, client, topic, partitions, kafka.LastOffsetOf)
	if err != nil {
		return nil, err
	}
	all := make([]Position, len(partitions))
	for i, id := range partitions {
		all[i] = Position{Partition: int32(id), Committed: -1, End: ends[id].LastOffset}
		at := slices.IndexFunc(stored, func(p kafka.OffsetFetchPartition) bool { return p.Partition == id })
		if at < 0 || stored[at].CommittedOffset < 0 {
			continue
		}
		all[i].Committed = stored[at].CommittedOffset
		if all[i].Plan, err = readPlan(all[i].Committed, stored[at].Metadata); err != nil {
			return nil, fmt.Errorf("fetch offset of %s/%d: %w", topic, id, err)
		}
	}
	return all, nil
}

func checkNoMembers(ctx context.Context, client *kafka.Client, group string) error {
	answer, err := client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	if err != nil {
		return fmt.Errorf("describe group %s: %w", group, err)
	}
	for _, g := range answer.Groups {
		if g.Error != nil && !errors.Is(g.Error, kafka.GroupIdNotFound) { // a group that never existed has no members
			return fmt.Errorf("describe group %s: %w", group, g.Error)
		}
		if n := len(g.Members); n > 0 {
			return fmt.Errorf("group %s has %d members: stop every pipeline first", group, n)
		}
	}
	return nil
}

// A Span is the offsets of a partition from First to the one before End.
type Span struct {
	Partition  int32
	First, End int64
	Expired    bool // the log begins with it: earlier records of the span may have expired
}

// LandedSince returns a span of each partition: the landed records of a sink that were appended at a time or later.
func LandedSince(ctx context.Context, c producer.Connection, sink SinkGroup, since time.Time) ([]Span, error) {
	positions, err := Positions(ctx, c, sink.Group, sink.Topic)
	if err != nil {
		return nil, err
	}
	sinceOf := func(partition int) kafka.OffsetRequest { return kafka.TimeOffsetOf(partition, since) }
	return withPartitions(ctx, c, sink.Topic, func(client *kafka.Client, partitions []int) (spans []Span, err error) {
		log, err := logOffsets(ctx, client, sink.Topic, partitions, kafka.FirstOffsetOf)
		if err != nil {
			return nil, err
		}
		appended, err := logOffsets(ctx, client, sink.Topic, partitions, sinceOf)
		if err != nil {
			return nil, err
		}
		for _, p := range positions {
			end := min(max(0, p.Committed), p.End) // a replaced log may be shorter
			s := Span{Partition: p.Partition, First: end, End: end}
			for first := range appended[int(p.Partition)].Offsets {
				if first >= 0 { // -1: all records are older
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

// Read calls f with the records of a span, in their order, until f returns an error, which it returns.
func Read(ctx context.Context, c producer.Connection, topic string, s Span, f func(Record) error) error {
	dialer, err := c.Dialer()
	if err != nil {
		return err
	}
	log, err := open(c, dialer, topic, s.Partition, s.First)
	if err != nil {
		return err
	}
	defer func() { _ = log.reader.Close() }() // all is read, or there is an error already
	for log.next < s.End {
		r, err := log.fetch(ctx)
		if err != nil {
			return fmt.Errorf("read %s/%d@%d: %w", topic, s.Partition, log.next, err)
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}
