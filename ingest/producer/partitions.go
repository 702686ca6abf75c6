package producer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// topic has one topic's queues. The number of partitions is asked for once: partitions are added only while no producer
// runs, since the partition of a key depends on it.
type topic struct {
	any   *queue   // records without a key, to any partition
	keyed []*queue // by partition
}

// topic finds a topic by its name without prefix. The first caller has its partitions looked up, for which all wait.
func (p *Producer) topic(ctx context.Context, name string) (*topic, error) {
	if t, ok := p.topics.Load(name); ok {
		return t.(*topic), nil
	}
	if !event.IsTopic(name) {
		return nil, fmt.Errorf("topic %q: want one of %q", name, event.TopicNames())
	}
	found := p.lookUps.DoChan(name, func() (any, error) { return p.lookUp(name) })
	select {
	case result := <-found:
		if result.Err != nil {
			return nil, result.Err // the next append asks again
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
	for pause := newPause(); ; {
		asking, cancel := context.WithTimeout(ctx, requestTimeout)
		n, err = Partitions(asking, p.client, name)
		cancel()
		if err == nil || refused(err) {
			return n, err
		}
		p.log.Debug("kafka did not report partitions", "topic", name, "error", err)
		if lifecycle.Pause(ctx, pause.NextBackOff()) != nil {
			return 0, fmt.Errorf("%w: %w", ErrAway, err)
		}
	}
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

// CheckTopic says that a topic is gone, or which of its partitions has no leader. While Kafka does not answer nothing
// is known to be wrong with the topic.
func CheckTopic(ctx context.Context, client *kafka.Client, topic string) error {
	meta, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil //nolint:nilerr // whether Kafka answers is another question
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

// queue is where a record of AppendAll goes: to the partition that Kafka's own clients choose for its key, or to any.
func (t *topic) queue(key []byte) *queue {
	if key == nil {
		return t.any
	}
	return t.keyed[Partition(key, len(t.keyed))]
}

// Partition is the partition of a key among n, as Kafka's Java client chooses it: murmur2 of the key, without its sign,
// modulo their number.
func Partition(key []byte, n int) int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return kafka.Murmur2Balancer{Consistent: true}.Balance(kafka.Message{Key: key}, ids...)
}

// partitionCount is what PartitionsFile says.
type partitionCount struct {
	Topic      string `json:"topic"` // with prefix
	Partitions int    `json:"partitions"`
}

// loadPartitions is the number of partitions that is on file; 0 when there is none of that topic.
func loadPartitions(file, topic string) (int, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	var kept partitionCount
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		return 0, fmt.Errorf("read partitions %s: %w", file, err)
	}
	if kept.Topic != topic {
		return 0, nil
	}
	return kept.Partitions, nil
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
