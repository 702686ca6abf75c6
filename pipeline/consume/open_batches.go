package consume

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/producer"
)

// An OpenBatch was planned and not committed: whoever reads the partition next
// lands it, again or for the first time.
type OpenBatch struct {
	Partition int32
	First     int64 // nothing at or beyond it is of another batch that has landed
	Shard     int   // on which it lands
}

// membersGone is how long a consumer that was killed stays a member, and more.
const membersGone = 15 * time.Second

// OpenBatches are those of a group that nobody is a member of; with consumers at
// work it would be wrong at once, and is an error. A topic that is not there has
// none.
func OpenBatches(ctx context.Context, c producer.Connection, group, topic string) ([]OpenBatch, error) {
	return asking(ctx, c, topic, func(client *kafka.Client, partitions []int) ([]OpenBatch, error) {
		return backoff.Retry(ctx, func() ([]OpenBatch, error) {
			if err := memberless(ctx, client, group); err != nil {
				return nil, err
			}
			return planned(ctx, client, group, topic, partitions)
		}, backoff.WithBackOff(backoff.NewConstantBackOff(200*time.Millisecond)), backoff.WithMaxElapsedTime(membersGone))
	})
}

// Planned are the open batches of a group, whoever is a member of it. Consumers go
// on meanwhile: the answer stands only while the caller keeps them from it, and from
// before it asks (postgres.LockSinksExclusive). A topic that is not there has none.
func Planned(ctx context.Context, c producer.Connection, group, topic string) ([]OpenBatch, error) {
	return asking(ctx, c, topic, func(client *kafka.Client, partitions []int) ([]OpenBatch, error) {
		return planned(ctx, client, group, topic, partitions)
	})
}

// asking asks about the partitions of a topic.
func asking[R any](ctx context.Context, c producer.Connection, topic string, ask func(*kafka.Client, []int) ([]R, error)) ([]R, error) {
	transport, err := c.Transport(topic)
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: c.Address(), Transport: transport, Timeout: 10 * time.Second}
	partitions, err := partitionsOf(ctx, client, topic)
	if err != nil || len(partitions) == 0 {
		return nil, err
	}
	return ask(client, partitions)
}

func partitionsOf(ctx context.Context, client *kafka.Client, topic string) ([]int, error) {
	answer, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, fmt.Errorf("look at topic %s: %w", topic, err)
	}
	var ids []int
	for _, t := range answer.Topics {
		switch {
		case t.Name != topic, errors.Is(t.Error, kafka.UnknownTopicOrPartition):
			continue
		case t.Error != nil:
			return nil, fmt.Errorf("look at topic %s: %w", topic, t.Error)
		}
		for _, p := range t.Partitions {
			ids = append(ids, p.ID)
		}
	}
	return ids, nil
}

// memberless says why a group cannot be relied on to stand still.
func memberless(ctx context.Context, client *kafka.Client, group string) error {
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

func planned(ctx context.Context, client *kafka.Client, group, topic string, partitions []int) ([]OpenBatch, error) {
	all, err := commits(ctx, client, group, topic, partitions)
	var open []OpenBatch
	for _, c := range all {
		if c.plan != nil {
			open = append(open, OpenBatch{c.partition, c.offset, c.plan.Shard})
		}
	}
	return open, err
}

// commit is what a group has committed of a partition; without a plan, everything
// before the offset has landed.
type commit struct {
	partition int32
	offset    int64
	plan      *Plan
}

// commits are those of a group, which it need not have of every partition.
func commits(ctx context.Context, client *kafka.Client, group, topic string, partitions []int) ([]commit, error) {
	stored, err := stored(ctx, client, group, topic, partitions)
	if errors.Is(err, kafka.GroupIdNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []commit
	for _, p := range stored {
		if p.CommittedOffset < 0 {
			continue
		}
		plan, err := readPlan(p.CommittedOffset, p.Metadata)
		if err != nil {
			return nil, fmt.Errorf("fetch offset of %s/%d: %w", topic, p.Partition, err)
		}
		all = append(all, commit{int32(p.Partition), p.CommittedOffset, plan})
	}
	return all, nil
}
