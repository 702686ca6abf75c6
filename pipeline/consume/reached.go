package consume

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/producer"
)

// Reached is how far a partition of a topic may have landed.
type Reached struct {
	Partition int32
	Last      int64 // nothing beyond this offset has landed, or is landing
}

// LastReached says of each partition that a group has committed how far it is. What
// landed before it was asked is within. A topic that is not there has none.
func LastReached(ctx context.Context, c producer.Connection, group, topic string) ([]Reached, error) {
	return asking(ctx, c, topic, func(client *kafka.Client, partitions []int) ([]Reached, error) {
		answer, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: partitions}})
		if err == nil {
			err = answer.Error
		}
		if errors.Is(err, kafka.GroupIdNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("fetch offsets of %s: %w", topic, err)
		}
		var all []Reached
		for _, p := range answer.Topics[topic] {
			switch plan, err := readPlan(p.CommittedOffset, p.Metadata); {
			case p.Error != nil:
				return nil, fmt.Errorf("fetch offset of %s/%d: %w", topic, p.Partition, p.Error)
			case p.CommittedOffset < 0:
			case err != nil:
				return nil, fmt.Errorf("fetch offset of %s/%d: %w", topic, p.Partition, err)
			case plan != nil:
				all = append(all, Reached{int32(p.Partition), plan.Last})
			default:
				all = append(all, Reached{int32(p.Partition), p.CommittedOffset - 1})
			}
		}
		return all, nil
	})
}
