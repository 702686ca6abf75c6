package producer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// topic has one topic's queues. The number of partitions is looked up once: partitions are added only while no producer
// runs, since the partition of a key depends on it.
type topic struct {
	any   *queue   // records without a key, to any partition
	keyed []*queue // by partition
}

// topic returns a topic by its name without prefix. The first caller looks its partitions up, for which all wait.
func (p *Producer) topic(ctx context.Context, name string) (*topic, error) {
	if t, ok := p.topics.Load(name); ok {
		return t.(*topic), nil
	}
	if !event.IsTopic(name) {
		return nil, fmt.Errorf("topic %q: want one of %q", name, event.TopicNames())
	}
	select {
	case result := <-p.lookUps.DoChan(name, func() (any, error) { return p.lookUp(name) }):
		if result.Err != nil {
			return nil, result.Err // the next append looks again
		}
		return result.Val.(*topic), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *Producer) lookUp(name string) (*topic, error) {
	if !p.begin() {
		return nil, ErrStopped
	}
	defer p.running.Done()
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.AckTimeout)
	defer cancel()
	prefixed := p.cfg.Prefix + name
	n, err := p.findPartitions(ctx, prefixed)
	if err != nil {
		return nil, err
	}
	t := &topic{any: &queue{p: p, name: prefixed}}
	t.any.setPartitions(n)
	for i := range n {
		t.keyed = append(t.keyed, &queue{p: p, name: prefixed, senders: []*partitionSender{{partition: i}}})
	}
	p.topics.Store(name, t)
	return t, nil
}

// findPartitions asks Kafka how many partitions a topic has until it answers or refuses. When ctx ends, the error is
// ErrAway with the last cause.
func (p *Producer) findPartitions(ctx context.Context, name string) (n int, err error) {
	logRetry := func(err error, _ time.Duration) {
		p.log.Debug("kafka did not report partitions", "topic", name, "error", err)
	}
	ended := lifecycle.Retry(ctx, retries, retryable, logRetry, func(ctx context.Context) error {
		request, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		n, err = Partitions(request, p.client, name)
		return err
	})
	if ended != nil && !refused(err) {
		err = fmt.Errorf("%w: %w", ErrAway, err)
	}
	return n, err
}

// Partitions asks Kafka how many partitions a topic has. The error is kafka.UnknownTopicOrPartition when it has none.
func Partitions(ctx context.Context, client *kafka.Client, topic string) (int, error) {
	meta, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err == nil {
		err = meta.Topics[0].Error
	}
	if err == nil && len(meta.Topics[0].Partitions) == 0 {
		err = kafka.UnknownTopicOrPartition
	}
	if err != nil {
		return 0, fmt.Errorf("look up topic %s: %w", topic, err)
	}
	return len(meta.Topics[0].Partitions), nil
}

// CheckTopic returns an error for a topic that is gone or has a partition without a leader, and nil while Kafka does
// not answer.
func CheckTopic(ctx context.Context, client *kafka.Client, topic string) error {
	meta, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil //nolint:nilerr // whether Kafka answers is another check
	}
	t := meta.Topics[0]
	if errors.Is(t.Error, kafka.UnknownTopicOrPartition) {
		return fmt.Errorf("topic %s is gone from the log", topic)
	}
	if t.Error != nil {
		return fmt.Errorf("topic %s: %w", topic, t.Error)
	}
	for _, p := range t.Partitions {
		if p.Leader.Host == "" || errors.Is(p.Error, kafka.LeaderNotAvailable) {
			return fmt.Errorf("partition %s/%d has no leader", topic, p.ID)
		}
	}
	return nil
}

// queue returns the queue for a key: to the partition that Kafka's own clients choose, or to any without a key.
func (t *topic) queue(key []byte) *queue {
	if key == nil {
		return t.any
	}
	return t.keyed[Partition(key, len(t.keyed))]
}

// Partition returns the partition of a key among n, as Kafka's Java client chooses it: murmur2 of the key, without its
// sign, modulo their number.
func Partition(key []byte, n int) int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return kafka.Murmur2Balancer{Consistent: true}.Balance(kafka.Message{Key: key}, ids...)
}

// partitionCount is the content of PartitionsFile.
type partitionCount struct {
	Topic      string `json:"topic"` // with prefix
	Partitions int    `json:"partitions"`
}

// loadPartitions reads the number of partitions from a file; 0 when it has none of that topic.
func loadPartitions(file, topic string) (int, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	var count partitionCount
	if err == nil {
		err = json.Unmarshal(text, &count)
	}
	if err != nil {
		return 0, fmt.Errorf("read partitions %s: %w", file, err)
	}
	if count.Topic != topic {
		return 0, nil
	}
	return count.Partitions, nil
}

// savePartitions replaces the file; after a crash or a loss of power it is the old one or the new one.
func savePartitions(file, topic string, n int) error {
	text, err := json.Marshal(partitionCount{topic, n})
	if err == nil {
		err = disk.MakeDir(filepath.Dir(file))
	}
	if err == nil {
		err = disk.ReplaceFile(file, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("save partitions: %w", err)
	}
	return nil
}
