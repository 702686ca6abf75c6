package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/postgres"
)

// errNotHeld says that the sinks could not be held this time.
var errNotHeld = errors.New("the sinks were not held")

// hold stops the sinks of the shard while no batch is half done: a batch that is
// planned may be in some rollups and not in others, and whoever lands it next does
// not ask who holds the lock now.
func (r *run) hold(ctx context.Context) (stop *postgres.ExclusiveSinkLock, err error) {
	stop, err = r.db.LockSinksExclusive(ctx, r.shard, r.cfg.Patience)
	if errors.Is(err, postgres.ErrSinksBusy) {
		return nil, fmt.Errorf("%w: %w", errNotHeld, err)
	}
	if err != nil {
		return nil, err
	}
	for _, sink := range r.cfg.Sinks {
		open, err := consume.Planned(ctx, r.cfg.Connection, sink.Group, sink.Topic)
		for _, batch := range open {
			if batch.Shard == r.shard {
				err = fmt.Errorf("%w: batch %s/%d@%d is planned and has not landed", errNotHeld, sink.Topic, batch.Partition, batch.First)
			}
		}
		if err != nil {
			return nil, errors.Join(err, stop.Release())
		}
	}
	return stop, nil
}

// A task is done while the sinks are held.
type task struct {
	prepare func(ctx context.Context) error           // beside the sinks: leaves little to do
	left    func(ctx context.Context) (uint64, error) // rows that are left to read
	do      func(ctx context.Context, stop *postgres.ExclusiveSinkLock) error
}

// held does a task while the sinks are held, for at most Config.Hold. Where too much
// is left, or a batch is under way, the sinks go on and it tries again.
func (r *run) held(ctx context.Context, t task) error {
	var why error
	for try := range r.cfg.Tries {
		if try > 0 && lifecycle.Pause(ctx, r.cfg.Between) != nil {
			return ctx.Err()
		}
		if err := t.prepare(ctx); err != nil {
			return err
		}
		if why = r.attempt(ctx, t); !errors.Is(why, errNotHeld) {
			return why
		}
		r.log.Info("sinks not held, trying again", "shard", r.shard, "try", try+1, "cause", why)
	}
	return fmt.Errorf("%d tries: %w", r.cfg.Tries, why)
}

func (r *run) attempt(ctx context.Context, t task) (err error) {
	stop, err := r.hold(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	defer func() {
		err = errors.Join(err, stop.Release())
		r.metrics.held.Observe(time.Since(began).Seconds())
	}()
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Hold)
	defer cancel()
	left, err := t.left(ctx)
	if err != nil {
		return err
	}
	if left > r.cfg.Unread {
		return fmt.Errorf("%w: %d rows came meanwhile, %d would be read while they wait", errNotHeld, left, r.cfg.Unread)
	}
	return t.do(ctx, stop)
}
