package consume

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// watchInterval is how often it is looked how far the log is ahead.
const watchInterval = 5 * time.Second

// progress is how far the partitions of a generation have landed. It is safe for
// concurrent use.
type progress struct {
	mu         sync.Mutex
	partitions map[int]reached
}

// reached is the first record of a partition that has not landed.
type reached struct {
	next     int64     // its offset
	appended time.Time // zero: not known
}

// reset forgets everything: partitions were assigned anew.
func (p *progress) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.partitions = map[int]reached{}
}

// at says which offset of a partition is to land next, and when its record was
// appended, if that is known.
func (p *progress) at(partition int32, next int64, appended time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.partitions[int(partition)] = reached{next, appended}
}

// dated adds when the record at an offset was appended, if it is still to land.
func (p *progress) dated(partition int, next int64, appended time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.partitions[partition].next == next {
		p.partitions[partition] = reached{next, appended}
	}
}

func (p *progress) of(partition int) (reached, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, known := p.partitions[partition]
	return r, known
}

// watch shows how much of the log has not landed, and for how long, until the
// generation ends. It asks the broker itself: a partition that stands still, for
// want of its target or of a person, fetches nothing that could tell.
func (c *Consumer[T]) watch(ctx context.Context, partitions []int) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	ends := map[int]int64{}
	for {
		if err := c.look(ctx, partitions, ends); err != nil && ctx.Err() == nil && c.seldom.now() {
			c.log.Warn("looking at the log", "cause", err, "next", "nothing as long as partitions land; else see why the brokers do not answer")
		}
		for _, id := range partitions {
			c.show(ctx, id, ends)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// look asks where the partitions end.
func (c *Consumer[T]) look(ctx context.Context, partitions []int, ends map[int]int64) error {
	var asked []kafka.OffsetRequest
	for _, id := range partitions {
		asked = append(asked, kafka.LastOffsetOf(id))
	}
	answer, err := c.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{c.cfg.Topic: asked}})
	if err != nil {
		return fmt.Errorf("list offsets of %s: %w", c.cfg.Topic, err)
	}
	for _, p := range answer.Topics[c.cfg.Topic] {
		if p.Error != nil {
			err = fmt.Errorf("list offsets of %s/%d: %w", c.cfg.Topic, p.Partition, p.Error)
			continue
		}
		ends[p.Partition] = p.LastOffset
	}
	return err
}

// show sets the gauges of a partition as far as its figures are known.
func (c *Consumer[T]) show(ctx context.Context, id int, ends map[int]int64) {
	at, known := c.progress.of(id)
	end, looked := ends[id]
	if !known || !looked {
		return
	}
	label := strconv.Itoa(id)
	lag := max(0, end-at.next)
	c.metrics.lag.WithLabelValues(label).Set(float64(lag))
	if lag == 0 {
		c.metrics.age.WithLabelValues(label).Set(0)
		return
	}
	if at.appended.IsZero() {
		if at.appended = c.appended(ctx, id, at.next); at.appended.IsZero() {
			return
		}
		c.progress.dated(id, at.next, at.appended)
	}
	c.metrics.age.WithLabelValues(label).Set(max(0, time.Since(at.appended).Seconds()))
}

// appended asks when a record was appended; zero when nobody can tell.
func (c *Consumer[T]) appended(ctx context.Context, partition int, offset int64) time.Time {
	ctx, cancel := context.WithTimeout(ctx, watchInterval)
	defer cancel()
	answer, err := c.client.Fetch(ctx, &kafka.FetchRequest{
		Topic: c.cfg.Topic, Partition: partition, Offset: offset, MinBytes: 1, MaxBytes: 1, MaxWait: time.Second, // a broker sends one whole batch at least
	})
	if err != nil || answer.Error != nil {
		return time.Time{}
	}
	for {
		r, err := answer.Records.ReadRecord()
		if err != nil {
			return time.Time{}
		}
		if r.Offset >= offset {
			return r.Time
		}
	}
}
