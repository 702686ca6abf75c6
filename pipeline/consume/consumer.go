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

	"github.com/answerscope/answerscope/ingest/producer"
)

// Config says what is read and in which portions.
type Config struct {
	producer.Connection
	Group          string // consumer group
	Topic          string // with the configured prefix
	Limits         Limits
	Shards         int                  // of the target (ShardOf)
	FetchBytes     int                  // most that one fetch brings; at least the largest record
	SessionTimeout time.Duration        // without a heartbeat for so long, the partitions go to others
	Finish         time.Duration        // what a planned batch is given to land when the partition is taken away
	Traces         trace.TracerProvider // gets a trace of every batch; nil traces nothing
	Lock           LockFunc             // takes the sink lock before a batch is planned; nil: there is none
	Assigned       Assigned             // is told what is read from now on; may be nil
}

// Assigned hears which partitions of a topic this member reads, so that what is kept
// of others can go. None of them is being read when it is called.
type Assigned func(topic string, partitions []int32)

// A SinkLock is held shared from before a batch's plan until after its commit. A rebuild takes it exclusively, and then
// sees that no plan is open.
type SinkLock interface {
	Held(ctx context.Context) error // nil while it was never lost
	Release()
}

// A LockFunc waits for the sink lock of a shard.
type LockFunc func(ctx context.Context, shard int) (SinkLock, error)

// LockWith makes a LockFunc of one that returns a lock of its own type.
func LockWith[L SinkLock](lock func(ctx context.Context, shard int) (L, error)) LockFunc {
	return func(ctx context.Context, shard int) (SinkLock, error) {
		l, err := lock(ctx, shard)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
}

// DefaultConfig needs Brokers, a Group and a Topic.
func DefaultConfig() Config {
	return Config{
		Limits:         Limits{Records: 20_000, Bytes: 16 << 20, Linger: 200 * time.Millisecond},
		Shards:         1,
		FetchBytes:     9 << 20,
		SessionTimeout: 10 * time.Second,
		Finish:         8 * time.Second,
	}
}

// Validate says what is wrong with c, all at once.
func (c Config) Validate() error {
	errs := []error{c.Connection.Validate()}
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(c.Group != "" && c.Topic != "", "consume group and topic: want both")
	check(c.Limits.Records > 0 && c.Limits.Bytes > 0 && c.Limits.Linger > 0, "consume limits %+v: want all above 0", c.Limits)
	check(c.Shards > 0, "consume shards %d: want at least 1", c.Shards)
	check(c.SessionTimeout >= 6*time.Second, "consume session timeout %s: brokers take no less than 6s", c.SessionTimeout)
	check(c.Finish > 0 && c.Finish < c.SessionTimeout, "consume finish %s: want more than 0 and less than the session timeout", c.Finish)
	return errors.Join(errs...)
}

// Consumer is one member of a consumer group.
type Consumer[T any] struct {
	cfg     Config
	target  Target[T]
	client  *kafka.Client
	dialer  *kafka.Dialer
	metrics *metrics
	traces  traces
	log     *slog.Logger

	joined   atomic.Bool
	progress progress
	failures failures
	seldom   seldom
}

// New does nothing yet.
func New[T any](cfg Config, target Target[T], registerer prometheus.Registerer, log *slog.Logger) (*Consumer[T], error) {
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
	return &Consumer[T]{
		cfg:     cfg,
		target:  target,
		client:  &kafka.Client{Addr: cfg.Address(), Transport: transport, Timeout: 10 * time.Second},
		dialer:  dialer,
		metrics: newMetrics(registerer, cfg.Group, cfg.Topic),
		traces:  newTraces(cfg),
		log:     log.With("group", cfg.Group, "topic", cfg.Topic),
	}, nil
}

// Run reads the partitions that the group gives to this member until ctx is
// cancelled. It survives every absence of the broker and of the target.
func (c *Consumer[T]) Run(ctx context.Context) error {
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID:                     c.cfg.Group,
		Brokers:                c.cfg.Brokers,
		Topics:                 []string{c.cfg.Topic},
		Dialer:                 c.dialer,
		HeartbeatInterval:      c.cfg.SessionTimeout / 5,
		SessionTimeout:         c.cfg.SessionTimeout,
		RebalanceTimeout:       c.cfg.SessionTimeout,
		JoinGroupBackoff:       500 * time.Millisecond,
		WatchPartitionChanges:  true,
		PartitionWatchInterval: 5 * time.Second,
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
			// The first group of a new cluster is refused until its coordinator
			// exists, and any group while the broker is away.
			if c.seldom.now() {
				c.log.Warn("joining group", "cause", err, "next", "nothing while a broker starts; else see that it is up, and lets this user read the group")
			}
			continue
		}
		c.serve(generation)
	}
}

// serve starts reading every partition of a generation.
func (c *Consumer[T]) serve(g *kafka.Generation) {
	assigned := g.Assignments[c.cfg.Topic]
	c.log.Info("partitions assigned", "generation", g.ID, "partitions", len(assigned))
	c.failures.reset()
	c.progress.reset()
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
	if len(ids) > 0 {
		g.Start(func(ctx context.Context) { c.watch(ctx, ids) })
	}
}

// read returns only when the generation has ended: returning earlier would end
// it, and a partition that waits for a person must not take the others along.
func (c *Consumer[T]) read(ctx context.Context, g *kafka.Generation, id int) {
	p := &partition[T]{
		topic: c.cfg.Topic,
		id:    int32(id),
		cfg:   c.cfg,
		offsets: &offsets{
			client: c.client, group: c.cfg.Group, topic: c.cfg.Topic, partition: id, generation: int(g.ID), member: g.MemberID,
		},
		target:   c.target,
		metrics:  c.metrics,
		log:      c.log.With("partition", id),
		progress: &c.progress,
		failures: &c.failures,
		seldom:   &c.seldom,
		open:     c.reader,
		traces:   c.traces,
	}
	err := p.run(ctx)
	if err == nil {
		return // given up, or fenced: the next generation says who reads on
	}
	p.log.Error("partition stopped", "cause", err, "next", "see AnswerscopePartitionStopped in docs/operations.md; do not touch the group's offset before")
	c.metrics.stopped.WithLabelValues(fmt.Sprint(id)).Set(1)
	c.failures.stop(int32(id), err)
	<-ctx.Done()
}

// Ready is nil once the group was joined, while no partition waits for a person
// and none has refused its batch for a minute.
func (c *Consumer[T]) Ready(context.Context) error {
	if !c.joined.Load() {
		return fmt.Errorf("group %s: not joined yet", c.cfg.Group)
	}
	return c.failures.err(time.Now())
}
