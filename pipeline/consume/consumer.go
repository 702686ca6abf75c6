// Package consume lands the records of the log in a target, a batch at a time, so that each record is counted once,
// even when a process crashes.
//
// Kafka delivers at least once. So a batch is planned before it is inserted: its end is committed as metadata of the
// offset where it begins. The next consumer of the partition replays exactly that batch, and the target recognizes a
// replay by the batch's token.
//
//  1. plan: commit offset first with metadata {last, shard, extract_version}
//  2. insert: the target inserts the batch under Batch.Token
//  3. commit: offset last+1 with empty metadata
//
// A crash before 1 leaves nothing. After a crash between 1 and 3 the same batch is replayed under the same token. A
// consumer that has lost its partition cannot plan; one that loses it after its plan inserts the same rows as its
// successor.
//
// A batch is a contiguous range of offsets of one partition, bounded in records and bytes, of at most maxMonths months.
package consume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"golang.org/x/time/rate"

	"github.com/answerscope/answerscope/ingest/producer"
)

// Config has the topic and the bounds of batches.
type Config struct {
	producer.Connection
	Group    string // consumer group
	Topic    string // with the configured prefix
	Limits   Limits
	Shards   int                  // of the target (ShardOf)
	Traces   trace.TracerProvider // receives a trace of every batch; nil: no traces
	Lock     LockFunc             // takes the sink lock before a batch is planned; nil: no lock
	Assigned Assigned             // may be nil
}

// Assigned is called with the partitions of a topic that this member reads from now on, before it reads them.
type Assigned func(topic string, partitions []int32)

// A SinkLock is held shared from before a batch's plan until after its commit. A rebuild takes it exclusively, and then
// sees that no plan is open.
type SinkLock interface {
	Held(ctx context.Context) error // nil while it was never lost
	Release()
}

// A LockFunc waits for the sink lock of a shard.
type LockFunc func(ctx context.Context, shard int) (SinkLock, error)

// LockWith converts a function that returns its own type of lock.
func LockWith[L SinkLock](lock func(ctx context.Context, shard int) (L, error)) LockFunc {
	return func(ctx context.Context, shard int) (SinkLock, error) {
		l, err := lock(ctx, shard)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
}

// DefaultConfig lacks Brokers, Group and Topic.
func DefaultConfig() Config {
	return Config{
		Limits: Limits{Records: 20_000, Bytes: 16 << 20, Linger: 200 * time.Millisecond},
		Shards: 1,
	}
}

// Validate joins all errors of c.
func (c Config) Validate() error {
	errs := []error{c.Connection.Validate()}
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(c.Group != "" && c.Topic != "", "consume group and topic: want both")
	check(c.Limits.Records > 0 && c.Limits.Bytes > 0 && c.Limits.Linger > 0,
		"consume limits %+v: want all above 0", c.Limits)
	check(c.Shards > 0, "consume shards %d: want at least 1", c.Shards)
	return errors.Join(errs...)
}

const (
	sessionTimeout = 10 * time.Second       // without a heartbeat for so long, the partitions go to others
	finishTimeout  = sessionTimeout * 4 / 5 // for a planned batch to land after its partition was taken away
)

// Consumer is one member of a consumer group.
type Consumer[T any] struct {
	cfg     Config
	target  Target[T]
	client  *kafka.Client
	dialer  *kafka.Dialer
	metrics *metrics
	tracer  trace.Tracer
	log     *slog.Logger

	joined  atomic.Bool
	health  health
	problem string // of the topic, as it was last logged

	// Each of these warnings is logged at most once a minute.
	joinWarning, fetchWarning, checkWarning, watchWarning rate.Sometimes
}

// New returns a consumer that has not joined its group.
func New[T any](
	cfg Config, target Target[T], registerer prometheus.Registerer, log *slog.Logger,
) (*Consumer[T], error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	transport, err := cfg.Transport(cfg.Topic)
	if err != nil {
		return nil, err
	}
	dialer, err := cfg.Dialer()
	if err != nil {
		return nil, err
	}
	if cfg.Traces == nil {
		cfg.Traces = noop.NewTracerProvider()
	}
	return &Consumer[T]{
		cfg:     cfg,
		target:  target,
		client:  &kafka.Client{Addr: cfg.Address(), Transport: transport, Timeout: brokerTimeout},
		dialer:  dialer,
		metrics: newMetrics(registerer, cfg.Group, cfg.Topic),
		tracer:  cfg.Traces.Tracer(scope),
		log:     log.With("group", cfg.Group, "topic", cfg.Topic),

		joinWarning:  rate.Sometimes{Interval: time.Minute},
		fetchWarning: rate.Sometimes{Interval: time.Minute},
		checkWarning: rate.Sometimes{Interval: time.Minute},
		watchWarning: rate.Sometimes{Interval: time.Minute},
	}, nil
}

// Run reads the partitions that the group assigns to this member until ctx is cancelled. While the broker or the target
// is away it tries again.
func (c *Consumer[T]) Run(ctx context.Context) error {
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID:                c.cfg.Group,
		Brokers:           c.cfg.Brokers,
		Topics:            []string{c.cfg.Topic},
		Dialer:            c.dialer,
		HeartbeatInterval: sessionTimeout / 5,
		SessionTimeout:    sessionTimeout,
		RebalanceTimeout:  sessionTimeout,
		JoinGroupBackoff:  500 * time.Millisecond,
	})
	if err != nil {
		return fmt.Errorf("join group %s: %w", c.cfg.Group, err)
	}
	for {
		generation, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return group.Close()
		case err != nil:
			// A new cluster has no coordinator for its first group at first.
			c.joinWarning.Do(func() {
				c.log.Warn("joining group", "cause", err,
					"next", "nothing while a broker starts; else see that it is up, and lets this user read the group")
			})
			continue
		}
		c.serve(generation)
	}
}

// serve starts reading every partition of a generation.
func (c *Consumer[T]) serve(g *kafka.Generation) {
	assigned := g.Assignments[c.cfg.Topic]
	c.log.Info("partitions assigned", "generation", g.ID, "partitions", len(assigned))
	c.health.reset()
	c.metrics.reset()
	c.joined.Store(true)
	ids, numbers := make([]int, len(assigned)), make([]int32, len(assigned))
	for i, a := range assigned {
		ids[i], numbers[i] = a.ID, int32(a.ID)
	}
	if c.cfg.Assigned != nil {
		c.cfg.Assigned(c.cfg.Topic, numbers)
	}
	for _, id := range ids {
		g.Start(func(ctx context.Context) { c.read(ctx, g, id) })
	}
	g.Start(func(ctx context.Context) { c.watch(ctx, ids) })
}

// read reads one partition and returns only when the generation has ended: an earlier return would end it, and with it
// the other partitions.
func (c *Consumer[T]) read(ctx context.Context, g *kafka.Generation, id int) {
	p := &partition[T]{
		consumer: c,
		id:       int32(id),
		offsets: &offsets{
			client: c.client, group: c.cfg.Group, topic: c.cfg.Topic, partition: id,
			generation: int(g.ID), member: g.MemberID,
		},
		log: c.log.With("partition", id),
	}
	err := p.run(ctx)
	if err == nil {
		return // another member may have the partition in the next generation
	}
	p.log.Error("partition stopped", "cause", err,
		"next", "see AnswerscopePartitionStopped in docs/operations.md; do not touch the group's offset before")
	c.metrics.stopped.WithLabelValues(fmt.Sprint(id)).Set(1)
	c.health.setFailure(p.id, time.Time{}, err)
	<-ctx.Done()
}

// Ready is nil while the group is joined, the topic exists with all its leaders, no partition has stopped and none has
// failed to land its batch for a minute.
func (c *Consumer[T]) Ready(ctx context.Context) error {
	if err := producer.CheckTopic(ctx, c.client, c.cfg.Topic); err != nil {
		return err
	}
	if !c.joined.Load() {
		return fmt.Errorf("group %s: not joined yet", c.cfg.Group)
	}
	return c.health.err(time.Now())
}
