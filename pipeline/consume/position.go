package consume

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/producer"
)

// Place says how far a group is with a partition of a topic.
type Place struct {
	Partition int
	Landed    int64 // everything below this offset has landed; 0 where nothing is committed
	End       int64 // of the log: the offset of the next record
}

// Places are those of all partitions of a topic, in order of their numbers. The ends
// are read after the commits. A topic that is not there has none.
func Places(ctx context.Context, c producer.Connection, group, topic string) ([]Place, error) {
	return asking(ctx, c, topic, func(client *kafka.Client, partitions []int) ([]Place, error) {
		known, err := commits(ctx, client, group, topic, partitions)
		if err != nil {
			return nil, err
		}
		landed := map[int]int64{}
		for _, c := range known {
			landed[int(c.partition)] = c.offset
		}
		var asked []kafka.OffsetRequest
		for _, id := range partitions {
			asked = append(asked, kafka.LastOffsetOf(id))
		}
		answer, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: asked}})
		if err != nil {
			return nil, fmt.Errorf("list offsets of %s: %w", topic, err)
		}
		var all []Place
		for _, p := range answer.Topics[topic] {
			if p.Error != nil {
				return nil, fmt.Errorf("list offsets of %s/%d: %w", topic, p.Partition, p.Error)
			}
			all = append(all, Place{p.Partition, landed[p.Partition], p.LastOffset})
		}
		slices.SortFunc(all, func(a, b Place) int { return cmp.Compare(a.Partition, b.Partition) })
		return all, nil
	})
}
