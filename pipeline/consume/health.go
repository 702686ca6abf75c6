package consume

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// watchInterval is how often the topic and the ends of its log are checked.
const watchInterval = 5 * time.Second

// failureGrace is how long a batch may fail before readiness reports it: an engine may restart meanwhile.
const failureGrace = time.Minute

// health is the state of each partition of a generation. It is safe for concurrent use.
type health struct {
	mu         sync.Mutex
	partitions map[int32]partitionState
}

// partitionState is what Ready and the lag show of a partition.
type partitionState struct {
	next     int64     // offset of the first record that has not landed; -1: unknown
	appended time.Time // of that record; zero: unknown
	failure  error     // of its batch; nil: none
	began    time.Time // of that batch; zero: the partition has stopped
}

func (h *health) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.partitions = map[int32]partitionState{}
}

// update changes the state of a partition.
func (h *health) update(partition int32, change func(*partitionState)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := h.partitions[partition]
	if !ok {
		s.next = -1
	}
	change(&s)
	h.partitions[partition] = s
}

// setNext records which offset is to land next, and when its record was appended, if that is known.
func (h *health) setNext(partition int32, next int64, appended time.Time) {
	h.update(partition, func(s *partitionState) { s.next, s.appended = next, appended })
}

// setFailure records the error of the batch that began at a time; nil clears it.
func (h *health) setFailure(partition int32, began time.Time, err error) {
	h.update(partition, func(s *partitionState) { s.failure, s.began = err, began })
}

func (h *health) next(partition int32) (next int64, appended time.Time) {
	h.update(partition, func(s *partitionState) { next, appended = s.next, s.appended })
	return next, appended
}

// err joins the failures of the partitions that have stopped, or fail for longer than failureGrace.
func (h *health) err(now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(h.partitions)) {
		s := h.partitions[id]
		took := now.Sub(s.began)
		switch {
		case s.failure == nil:
		case s.began.IsZero():
			errs = append(errs, s.failure)
		case took > failureGrace:
			const format = "partition %d has not landed a batch for %s: %w"
			errs = append(errs, fmt.Errorf(format, id, took.Round(time.Second), s.failure))
		}
	}
	return errors.Join(errs...)
}

// watch checks the topic and sets the lags until the generation ends. It ends the generation itself, by returning, when
// the number of partitions changes: the next generation then assigns all of them, or none of a deleted topic.
func (c *Consumer[T]) watch(ctx context.Context, assigned []int) {
	ends := map[int]kafka.PartitionOffsets{}
	for first := -1; ; {
		count := c.countPartitions(ctx)
		if first >= 0 && count >= 0 && count != first {
			return
		}
		first = max(first, count)
		if len(assigned) > 0 {
			c.setLags(ctx, assigned, ends)
		}
		if lifecycle.Pause(ctx, watchInterval) != nil {
			return
		}
	}
}

// countPartitions is how many partitions the topic has: 0 when it is deleted, -1 while Kafka does not answer. It logs a
// change of the topic's health.
func (c *Consumer[T]) countPartitions(ctx context.Context) int {
	switch err := producer.CheckTopic(ctx, c.client, c.cfg.Topic); {
	case err != nil && err.Error() != c.problem:
		c.problem = err.Error()
		c.log.Error("topic is not whole", "cause", err,
			"next", "see AnswerscopeNotReady in docs/operations.md; reading goes on by itself")
	case err == nil && c.problem != "":
		c.problem = ""
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
			c.log.Warn("looking at the log", "cause", err,
				"next", "nothing as long as partitions land; else see why the brokers do not answer")
		})
	}
	maps.Copy(ends, answered) // the age grows even while the broker is away
	for id, p := range ends {
		c.setLag(ctx, id, p.LastOffset)
	}
}

// setLag sets the gauges of a partition whose log ends at an offset.
func (c *Consumer[T]) setLag(ctx context.Context, id int, end int64) {
	next, appended := c.health.next(int32(id))
	if next < 0 {
		return
	}
	label := strconv.Itoa(id)
	lag := max(0, end-next)
	c.metrics.lag.WithLabelValues(label).Set(float64(lag))
	if lag == 0 {
		c.metrics.age.WithLabelValues(label).Set(0)
		return
	}
	if appended.IsZero() {
		if appended = c.appendedAt(ctx, id, next); appended.IsZero() {
			return
		}
		c.health.update(int32(id), func(s *partitionState) {
			if s.next == next {
				s.appended = appended
			}
		})
	}
	c.metrics.age.WithLabelValues(label).Set(max(0, time.Since(appended).Seconds()))
}

// appendedAt asks the broker when a record was appended; zero if it does not answer.
func (c *Consumer[T]) appendedAt(ctx context.Context, partition int, offset int64) time.Time {
	ctx, cancel := context.WithTimeout(ctx, watchInterval)
	defer cancel()
	answer, err := c.client.Fetch(ctx, &kafka.FetchRequest{
		Topic: c.cfg.Topic, Partition: partition, Offset: offset,
		MinBytes: 1, MaxBytes: 1, MaxWait: time.Second, // a broker sends at least one whole batch
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
