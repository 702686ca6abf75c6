package consume

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
)

// brokerTimeout bounds one request to the brokers.
const brokerTimeout = 10 * time.Second

// errFenced is returned for a commit that the group refuses because another consumer has the partition, or is about to.
var errFenced = errors.New("the partition was given to another consumer")

// offsets reads and commits one partition's offset, as a member of one generation of the group.
type offsets struct {
	client     *kafka.Client
	group      string
	topic      string
	partition  int
	generation int
	member     string
}

// commit stores an offset with its metadata.
func (o *offsets) commit(ctx context.Context, offset int64, metadata string) error {
	answer, err := o.client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
		GroupID:      o.group,
		GenerationID: o.generation,
		MemberID:     o.member,
		Topics: map[string][]kafka.OffsetCommit{
			o.topic: {{Partition: o.partition, Offset: offset, Metadata: metadata}},
		},
	})
	if err == nil {
		for _, p := range answer.Topics[o.topic] {
			err = errors.Join(err, p.Error)
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kafka.IllegalGeneration), errors.Is(err, kafka.UnknownMemberId),
		errors.Is(err, kafka.RebalanceInProgress), errors.Is(err, kafka.FencedInstanceID):
		return fmt.Errorf("commit %s/%d@%d: %w: %w", o.topic, o.partition, offset, errFenced, err)
	default:
		return fmt.Errorf("commit %s/%d@%d: %w", o.topic, o.partition, offset, err)
	}
}

// committed returns the offset stored for the partition, with its metadata; -1 when the group has none.
func (o *offsets) committed(ctx context.Context) (offset int64, metadata string, err error) {
	stored, err := storedOffsets(ctx, o.client, o.group, o.topic, []int{o.partition})
	if err != nil {
		return 0, "", err
	}
	if len(stored) != 1 || stored[0].Partition != o.partition {
		return 0, "", fmt.Errorf("fetch offset of %s/%d: the broker did not name the partition", o.topic, o.partition)
	}
	return stored[0].CommittedOffset, stored[0].Metadata, nil
}

// bounds returns the first offset of the log and the one after its last.
func (o *offsets) bounds(ctx context.Context) (first, end int64, err error) {
	all, err := logOffsets(ctx, o.client, o.topic, []int{o.partition}, kafka.FirstOffsetOf, kafka.LastOffsetOf)
	if err != nil {
		return 0, 0, err
	}
	b, named := all[o.partition]
	if !named {
		return 0, 0, fmt.Errorf("list offsets of %s/%d: the broker did not name the partition", o.topic, o.partition)
	}
	return b.FirstOffset, b.LastOffset, nil
}

// storedOffsets returns what a group has committed of partitions, an offset of -1 where it has nothing.
func storedOffsets(
	ctx context.Context, client *kafka.Client, group, topic string, partitions []int,
) ([]kafka.OffsetFetchPartition, error) {
	request := &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: partitions}}
	answer, err := client.OffsetFetch(ctx, request)
	if err == nil {
		err = answer.Error
	}
	if err != nil {
		return nil, fmt.Errorf("fetch offsets of %s: %w", topic, err)
	}
	for _, p := range answer.Topics[topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("fetch offset of %s/%d: %w", topic, p.Partition, p.Error)
		}
	}
	return answer.Topics[topic], nil
}

// logOffsets sends requests for each partition, such as kafka.FirstOffsetOf. With an error it returns the offsets of
// the partitions that answered.
func logOffsets(
	ctx context.Context, client *kafka.Client, topic string, partitions []int,
	requests ...func(partition int) kafka.OffsetRequest,
) (map[int]kafka.PartitionOffsets, error) {
	var all []kafka.OffsetRequest
	for _, id := range partitions {
		for _, request := range requests {
			all = append(all, request(id))
		}
	}
	answer, err := client.ListOffsets(ctx,
		&kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: all}})
	if err != nil {
		return nil, fmt.Errorf("list offsets of %s: %w", topic, err)
	}
	offsets := map[int]kafka.PartitionOffsets{}
	for _, p := range answer.Topics[topic] {
		if p.Error != nil {
			err = fmt.Errorf("list offsets of %s/%d: %w", topic, p.Partition, p.Error)
			continue
		}
		offsets[p.Partition] = p
	}
	return offsets, err
}
