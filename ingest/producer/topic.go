package producer

import (
	"context"
	"fmt"
	"slices"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
)

// topic is one topic's queues, once its partitions are known. Their number is
// asked for once: partitions are added only while no producer runs, since the
// partition of a key depends on it.
type topic struct {
	known chan struct{} // closed when the rest may be read
	err   error
	ids   []int // partitions: 0, 1, …
	lines       // of Append, and without a spool of AppendAll
	bulk  lines // of AppendAll

	slow <-chan struct{} // ends when Append is to wait no longer until they are known; nil: never
}

// lines are queues to all partitions.
type lines struct {
	keyed []*queue // by partition
	free  *queue   // records without a key, to any of them
}

// topic finds a topic by its name, and has it looked up the first time.
func (p *Producer) topic(name string) (*topic, error) {
	if t, ok := p.topics.Load(name); ok {
		return t.(*topic), nil
	}
	if !slices.Contains(event.Topics, name) {
		return nil, fmt.Errorf("topic %q: want one of %q", name, event.Topics)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, ErrStopped
	}
	if t, ok := p.topics.Load(name); ok {
		return t.(*topic), nil
	}
	t := &topic{known: make(chan struct{}), slow: p.spill.patience(name)}
	p.topics.Store(name, t)
	p.open.Add(1)
	go p.lookUp(t, name)
	return t, nil
}

func (p *Producer) lookUp(t *topic, name string) {
	defer p.open.Done()
	n, err := p.partitions(p.cfg.Prefix + name)
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(t.known) // under mu: Run stops what is known by then, the rest sees that it stopped
	if err == nil && p.stopped {
		err = ErrStopped
	}
	if err != nil {
		t.err = err
		p.topics.Delete(name) // the next append asks again
		p.spill.unknown(name)
		return
	}
	for i := range n {
		t.ids = append(t.ids, i)
	}
	t.lines = p.lines(name, n, p.spill != nil)
	t.bulk = t.lines
	if p.spill != nil { // AppendAll waits, and its records have no room in the spool
		t.bulk = p.lines(name, n, false)
	}
}

func (p *Producer) lines(name string, partitions int, spooled bool) lines {
	all := lines{free: p.queue(name, spooled)}
	for i := range partitions {
		all.free.senders = append(all.free.senders, partitionSender{partition: i})
		q := p.queue(name, spooled)
		q.keyed, q.senders = true, []partitionSender{{partition: i}}
		all.keyed = append(all.keyed, q)
	}
	return all
}

func (p *Producer) queue(name string, spooled bool) *queue {
	return &queue{p: p, topic: name, name: p.cfg.Prefix + name, spooled: spooled}
}

// partitions asks how many partitions a topic has, until AckTimeout.
func (p *Producer) partitions(name string) (n int, err error) {
	err = p.persist(name, p.deadline(), func(ctx context.Context) error {
		meta, err := p.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{name}})
		if err != nil {
			return err
		}
		if err := meta.Topics[0].Error; err != nil {
			return err
		}
		n = len(meta.Topics[0].Partitions)
		return nil
	}, func() {})
	if err != nil {
		return 0, fmt.Errorf("look up topic %s: %w", name, err)
	}
	return n, nil
}

// queue is where a record of key goes: to the partition that Kafka's own clients
// choose for that key, or to any.
func (t *topic) queue(key []byte, bulk bool) *queue {
	to := &t.lines
	if bulk {
		to = &t.bulk
	}
	if key == nil {
		return to.free
	}
	return to.keyed[Partition(key, t.ids)]
}

// Partition is the partition of a key among ids, as Kafka's Java client chooses
// it: murmur2 of the key, without its sign, modulo their number.
func Partition(key []byte, ids []int) int {
	return kafka.Murmur2Balancer{Consistent: true}.Balance(kafka.Message{Key: key}, ids...)
}

func (t *topic) stop() {
	select {
	case <-t.known:
	default:
		return // its look-up sees that the producer stopped
	}
	if t.err != nil {
		return
	}
	for _, l := range []*lines{&t.lines, &t.bulk} {
		l.free.stop()
		for _, q := range l.keyed {
			q.stop()
		}
	}
}
