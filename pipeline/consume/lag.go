package consume

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// watchInterval is how often the topic and the ends of its log are looked at.
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

// watch looks after the topic until the generation ends. It ends the generation itself, by returning, when the topic
// has another number of partitions: the next one then has them all, or none of a topic that is gone.
func (c *Consumer[T]) watch(ctx context.Context, assigned []int) {
	ends := map[int]kafka.PartitionOffsets{}
	for known := -1; ; {
		count := c.countPartitions(ctx)
		if known >= 0 && count >= 0 && count != known {
			return
		}
		known = max(known, count)
		if len(assigned) > 0 {
			c.setLags(ctx, assigned, ends)
		}
		if lifecycle.Pause(ctx, watchInterval) != nil {
			return
		}
	}
}

// countPartitions is how many partitions the topic has: none when it is gone, -1 while Kafka does not say. What is
// wrong with the topic is logged when that changes.
func (c *Consumer[T]) countPartitions(ctx context.Context) int {
	switch wrong := producer.CheckTopic(ctx, c.client, c.cfg.Topic); {
	case wrong != nil && wrong.Error() != c.wrong:
		c.wrong = wrong.Error()
		c.log.Error("topic is not whole", "cause", wrong, "next", "see AnswerscopeNotReady in docs/operations.md; reading goes on by itself")
	case wrong == nil && c.wrong != "":
		c.wrong = ""
		c.log.Info("topic is whole again")
	}
	count, err := producer.Partitions(ctx, c.client, c.cfg.Topic)
	if err != nil && !errors.Is(err, kafka.UnknownTopicOrPartition) {
		return -1
	}
	return count
}

// setLags asks the broker itself where the log ends, because a partition that has stopped or whose target is away
// fetches nothing.
func (c *Consumer[T]) setLags(ctx context.Context, partitions []int, ends map[int]kafka.PartitionOffsets) {
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
