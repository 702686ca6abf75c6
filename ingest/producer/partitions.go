package producer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
)

// topic has one topic's queues. The number of partitions is asked for once: partitions are added only while no producer
// runs, since the partition of a key depends on it.
type topic struct {
	ids   []int    // partitions: 0, 1, …
	any   *queue   // records without a key, to any partition
	keyed []*queue // by partition
}

// topic finds a topic by its name without prefix. The first caller has its partitions looked up, for which all wait.
func (p *Producer) topic(ctx context.Context, name string) (*topic, error) {
	if t, ok := p.topics.Load(name); ok {
		return t.(*topic), nil
	}
	if !slices.Contains(event.Topics, name) {
		return nil, fmt.Errorf("topic %q: want one of %q", name, event.Topics)
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
	prefixed := p.cfg.Prefix + name
	var n int
	err := p.retry(time.Now().Add(p.cfg.AckTimeout), nil, func(ctx context.Context) (err error) {
		n, err = p.partitions(ctx, prefixed)
		return err
	})
	if err != nil {
		return nil, err
	}
	t := &topic{any: &queue{p: p, name: prefixed}}
	t.any.setPartitions(n)
	for i := range n {
		t.ids = append(t.ids, i)
		t.keyed = append(t.keyed, &queue{p: p, name: prefixed, senders: []*partitionSender{{partition: i}}})
	}
	p.topics.Store(name, t)
	return t, nil
}

// partitions asks Kafka how many partitions a topic has.
func (p *Producer) partitions(ctx context.Context, name string) (int, error) {
	meta, err := p.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{name}})
	if err == nil {
		err = meta.Topics[0].Error
	}
	if err != nil {
		return 0, fmt.Errorf("look up topic %s: %w", name, err)
	}
	return len(meta.Topics[0].Partitions), nil
}

// queue is where a record of AppendAll goes: to the partition that Kafka's own clients choose for its key, or to any.
func (t *topic) queue(key []byte) *queue {
	if key == nil {
		return t.any
	}
	return t.keyed[Partition(key, t.ids)]
}

// Partition is the partition of a key among ids, as Kafka's Java client chooses it: murmur2 of the key, without its
// sign, modulo their number.
func Partition(key []byte, ids []int) int {
	return kafka.Murmur2Balancer{Consistent: true}.Balance(kafka.Message{Key: key}, ids...)
}
