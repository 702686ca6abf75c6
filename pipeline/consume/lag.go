package consume

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

// watchInterval is how often the ends of the log are read.
const watchInterval = 5 * time.Second

// progress is how far the partitions of a generation have landed. It is safe for concurrent use.
type progress struct {
	mu         sync.Mutex
	partitions map[int]nextRecord
}

// nextRecord is the first record of a partition that has not landed.
type nextRecord struct {
	offset   int64
	appended time.Time // zero: not known
}

// reset forgets everything: partitions were assigned anew.
func (p *progress) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.partitions = map[int]nextRecord{}
}

// at records which offset of a partition is to land next, and when its record was appended, if that is known.
func (p *progress) at(partition int32, next int64, appended time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.partitions[int(partition)] = nextRecord{next, appended}
}

// dated adds when the record at an offset was appended, if it is still to land.
func (p *progress) dated(partition int, next int64, appended time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.partitions[partition].offset == next {
		p.partitions[partition] = nextRecord{next, appended}
	}
}

func (p *progress) of(partition int) (next nextRecord, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next, known = p.partitions[partition]
	return next, known
}

// watch sets the gauges of lag until the generation ends. It asks the broker itself, because a partition that has stopped
// or whose target is away fetches nothing.
func (c *Consumer[T]) watch(ctx context.Context, partitions []int) {
	ends := map[int]kafka.PartitionOffsets{}
	for {
		answered, err := logOffsets(ctx, c.client, c.cfg.Topic, partitions, kafka.LastOffsetOf)
		if err != nil && ctx.Err() == nil {
			c.watchWarning.Do(func() {
				c.log.Warn("looking at the log", "cause", err, "next", "nothing as long as partitions land; else see why the brokers do not answer")
			})
		}
		maps.Copy(ends, answered) // while the broker is away the age grows all the same
		for id, p := range ends {
			c.setLag(ctx, id, p.LastOffset)
		}
		if lifecycle.Pause(ctx, watchInterval) != nil {
			return
		}
	}
}

// setLag sets the gauges of a partition whose log ends at an offset.
func (c *Consumer[T]) setLag(ctx context.Context, id int, end int64) {
	next, known := c.progress.of(id)
	if !known {
		return
	}
	label := strconv.Itoa(id)
	lag := max(0, end-next.offset)
	c.metrics.lag.WithLabelValues(label).Set(float64(lag))
	if lag == 0 {
		c.metrics.age.WithLabelValues(label).Set(0)
		return
	}
	if next.appended.IsZero() {
		if next.appended = c.appendedAt(ctx, id, next.offset); next.appended.IsZero() {
			return
		}
		c.progress.dated(id, next.offset, next.appended)
	}
	c.metrics.age.WithLabelValues(label).Set(max(0, time.Since(next.appended).Seconds()))
}

// appendedAt asks the broker when a record was appended; zero if it does not answer.
func (c *Consumer[T]) appendedAt(ctx context.Context, partition int, offset int64) time.Time {
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
