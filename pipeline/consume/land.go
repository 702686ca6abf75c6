package consume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// Plan describes the batch that begins at a committed offset. It is the metadata of that commit until the batch has
// landed.
type Plan struct {
	Last           int64 `json:"last"`
	Shard          int   `json:"shard"`
	ExtractVersion int   `json:"extract_version"`
}

// ShardOf is the shard that new plans of a partition name.
func ShardOf(partition int32, shards int) int { return int(partition) % shards }

// metadata is the plan as Kafka stores it, far below its limit of 4 KB.
func (p Plan) metadata() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers always marshal
	}
	return string(text)
}

// readPlan reads the metadata of the commit at first; nil when there is no open plan.
func readPlan(first int64, metadata string) (*Plan, error) {
	if metadata == "" {
		return nil, nil
	}
	var p Plan
	if err := json.Unmarshal([]byte(metadata), &p); err != nil {
		return nil, fmt.Errorf("read plan %.80q: %w", metadata, err)
	}
	if p.Last < first {
		return nil, fmt.Errorf("read plan %.80q: it ends before offset %d, where it begins", metadata, first)
	}
	return &p, nil
}

// planValid is how long a plan proves that this consumer has the partition. An older one is committed again before the
// batch is sent.
const planValid = 30 * time.Second

// landing is one batch on its way from the plan to the commit.
type landing[T any] struct {
	partition *partition[T]
	batch     *Batch[T]
	began     time.Time
	planned   time.Time // when the plan was last committed; zero: not yet
	refusals  int       // how often the target has refused the batch
}

// land takes the sink lock, plans, inserts and commits one batch. A planned batch is finished, for a bounded time, even
// if the partition is being taken away: that saves the next consumer a replay.
func (p *partition[T]) land(ctx context.Context, b *Batch[T]) (err error) {
	defer func() { b.trace.end(err) }()
	l := landing[T]{partition: p, batch: b, began: time.Now()}
	health := &p.consumer.health
	health.setNext(p.id, b.First, b.oldest)
	ctx = b.trace.within(ctx)
	defer l.unlock()
	if err := l.retryReported(ctx, "lock sinks", l.lock); err != nil {
		return fmt.Errorf("lock sinks for batch %s: %w", b, err)
	}
	ctx, cancel := lifecycle.Finishing(ctx, finishTimeout)
	defer cancel()
	if err := l.retryReported(ctx, "land batch", l.planAndInsert); err != nil {
		return fmt.Errorf("land batch %s: %w", b, err)
	}
	fault.Pass(fault.Landed)
	err = p.retry(ctx, "commit batch", func(ctx context.Context) error {
		return step(ctx, "commit", func(ctx context.Context) error { return p.offsets.commit(ctx, b.Last+1, "") })
	})
	if err != nil {
		return err
	}
	fault.Pass(fault.Committed)
	health.setNext(p.id, b.Last+1, time.Time{})
	p.consumer.metrics.landed(p.id, len(b.Items), b.bytes, b.Last, time.Since(l.began))
	return nil
}

// retryReported retries a step, and reports to Ready why the batch does not get past it.
func (l *landing[T]) retryReported(ctx context.Context, name string, f func(context.Context) error) error {
	return l.partition.retry(ctx, name, func(ctx context.Context) error {
		err := f(ctx)
		l.partition.consumer.health.setFailure(l.partition.id, l.began, err)
		return err
	})
}

// maxRefusals is how often a batch is refused before its partition stops, some 6 s after the first refusal: a server
// may accept the batch a moment later.
const maxRefusals = 7

// planAndInsert plans the batch and sends it to the target.
func (l *landing[T]) planAndInsert(ctx context.Context) error {
	check := func() error { return l.checkOwnership(ctx) }
	if err := check(); err != nil {
		return err
	}
	err := step(ctx, "insert", func(ctx context.Context) error {
		return l.partition.consumer.target.Insert(ctx, l.batch, check)
	})
	if errors.Is(err, ErrRefused) {
		if l.refusals++; l.refusals == maxRefusals {
			return l.partition.stopped("batch %s is %v", l.batch, err)
		}
	}
	return err
}

// checkOwnership runs before each insert: it retakes a lost sink lock, renews a plan that is old, and rejects a plan
// made while the lock was lost. A rebuild looks for open plans once it has the lock, and would have missed that one;
// the batch then waits until the rebuild ends.
func (l *landing[T]) checkOwnership(ctx context.Context) error {
	if err := l.lock(ctx); err != nil {
		return err
	}
	if err := l.plan(ctx); err != nil {
		return err
	}
	if l.batch.Lock == nil {
		return nil
	}
	err := l.batch.Lock.Held(ctx)
	if err != nil {
		l.unlock()
	}
	return err
}

// plan commits the batch's first offset with its plan.
func (l *landing[T]) plan(ctx context.Context) error {
	if time.Since(l.planned) < planValid {
		return nil
	}
	l.planned = time.Time{}
	err := step(ctx, "plan", func(ctx context.Context) error {
		return l.partition.offsets.commit(ctx, l.batch.First, l.batch.Plan.metadata())
	})
	if err != nil {
		return err
	}
	fault.Pass(fault.Planned)
	l.planned = time.Now().Round(0) // of the wall clock: the monotonic one may stand still while the machine sleeps
	return nil
}

// lock waits for the sink lock.
func (l *landing[T]) lock(ctx context.Context) error {
	c := l.partition.consumer
	if c.cfg.Lock == nil || l.batch.Lock != nil {
		return nil
	}
	began := time.Now()
	defer func() { c.metrics.waits.Observe(time.Since(began).Seconds()) }()
	return step(ctx, "lock", func(ctx context.Context) (err error) {
		l.batch.Lock, err = c.cfg.Lock(ctx, l.batch.Plan.Shard)
		return err
	})
}

// unlock releases the sink lock, and has the batch planned again before it is inserted: a consumer that lost the lock
// may have lost the partition as well, and a machine that was asleep does not see by its own clock that the plan is
// old.
func (l *landing[T]) unlock() {
	if l.batch.Lock != nil {
		l.batch.Lock.Release()
	}
	l.batch.Lock, l.planned = nil, time.Time{}
}
