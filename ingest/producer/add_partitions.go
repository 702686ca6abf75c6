package producer

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// AddPartitions gives existing topics the partitions that they lack of cfg.Partitions, and waits for their leaders. It
// may be repeated: after a crash some topics may have theirs. Nothing may be appended with a key meanwhile, since its
// partition depends on their number.
func AddPartitions(ctx context.Context, cfg TopicsConfig) error {
	_, err := cfg.withAdmin(func(a *admin) ([]TopicState, error) {
		states, err := a.look(ctx)
		if err != nil {
			return nil, err
		}
		var request kafka.CreatePartitionsRequest
		for _, s := range states {
			if s.Partitions < cfg.Partitions {
				request.Topics = append(request.Topics,
					kafka.TopicPartitionsConfig{Name: s.Name, Count: int32(cfg.Partitions)})
			}
		}
		if len(request.Topics) == 0 {
			return nil, nil
		}
		answer, err := a.client.CreatePartitions(ctx, &request)
		if err != nil {
			return nil, fmt.Errorf("add partitions: %w", err)
		}
		var errs []error
		for name, err := range answer.Errors {
			// A broker that answers late lists fewer than there are, which are then refused.
			if err != nil && !errors.Is(err, kafka.InvalidPartitionNumber) {
				errs = append(errs, fmt.Errorf("add partitions to topic %s: %w", name, err))
			}
		}
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
		return a.awaitLeaders(ctx, cfg.Partitions)
	})
	return err
}
