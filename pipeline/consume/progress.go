package consume

import (
	"context"

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
		known, err := commits(ctx, client, group, topic, partitions)
		var all []Reached
		for _, c := range known {
			last := c.offset - 1
			if c.plan != nil {
				last = c.plan.Last
			}
			all = append(all, Reached{c.partition, last})
		}
		return all, err
	})
}
