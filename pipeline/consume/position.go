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

// Position is how far a group is with a partition of a topic.
type Position struct {
	Partition int32
	Committed int64 // everything below this offset has landed; -1: nothing is committed
	Plan      *Plan // of the batch that begins at Committed and may have landed; nil: none is planned
	End       int64 // of the log: the offset of the next record
}

// Last is the offset that nothing that has landed, or is landing, is beyond.
func (p Position) Last() int64 {
	if p.Plan != nil {
		return p.Plan.Last
	}
	return p.Committed - 1
}

// A Sink is a consumer group and the topic that it inserts, both with their prefix, and the landing table.
type Sink struct{ Group, Topic, Landing string }

// ErrPlanned is returned where no batch may be planned: it may have landed in some tables and not in others, and its
// replay may come at any time.
var ErrPlanned = errors.New("is planned and has not landed")

// CheckNoPlan is an ErrPlanned that names a batch of the sinks that is planned, for one of the shards if any are given.
// The caller has the exclusive sink lock.
func CheckNoPlan(ctx context.Context, c producer.Connection, sinks []Sink, shards ...int) error {
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

// Positions are those of all partitions of a topic, by their numbers; none of a topic that does not exist. The ends are
// read after the commits. Consumers go on meanwhile: that no batch is planned stands only while the caller holds the
// exclusive sink lock, from before this call.
func Positions(ctx context.Context, c producer.Connection, group, topic string) ([]Position, error) {
	temporary := func(err error) bool {
		code, ok := errors.AsType[kafka.Error](err)
		return ok && code.Temporary()
	}
	return withPartitions(ctx, c, topic, func(client *kafka.Client, partitions []int) (all []Position, err error) {
		err = lifecycle.Retry(ctx, every200ms(coordinatorChanges), temporary, nil, func(ctx context.Context) (err error) {
			all, err = positions(ctx, client, group, topic, partitions)
			return err
		})
		return all, err
	})
}

// coordinatorChanges is longer than a group has no coordinator while Kafka chooses one, as it does for its first group.
const coordinatorChanges = 5 * time.Second

// membersGone is longer than a killed consumer stays a member.
const membersGone = 15 * time.Second

func every200ms(total time.Duration) lifecycle.Schedule {
	return lifecycle.Schedule{First: 200 * time.Millisecond, Max: 200 * time.Millisecond, Total: total}
}

// OpenBatches are the positions with a planned batch, of a group that must have no members: with consumers at work the
// result would be wrong at once, and is an error.
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

// withPartitions calls ask with the partitions of a topic, if it has any, and a client that is closed after it.
func withPartitions[T any](ctx context.Context, c producer.Connection, topic string, ask func(*kafka.Client, []int) ([]T, error)) ([]T, error) {
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
	return ask(client, partitions)
}

func positions(ctx context.Context, client *kafka.Client, group, topic string, partitions []int) ([]Position, error) {
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
		if g.Error != nil && !errors.Is(g.Error, kafka.GroupIdNotFound) { // it never was
			return fmt.Errorf("describe group %s: %w", group, g.Error)
		}
		if n := len(g.Members); n > 0 {
			return fmt.Errorf("group %s has %d members: stop every pipeline first", group, n)
		}
	}
	return nil
}
