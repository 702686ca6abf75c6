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

// errNotLocked is returned when the exclusive sink lock was not granted, or was of no use, this time.
var errNotLocked = errors.New("the sinks were not stopped")

// lock takes the exclusive sink lock of the shard while no batch is planned.
func (r *run) lock(ctx context.Context) (lock *postgres.ExclusiveSinkLock, err error) {
	lock, err = r.db.LockSinksExclusive(ctx, r.shard, r.cfg.lockTimeout)
	if err == nil {
		if err = consume.CheckNoPlan(ctx, r.cfg.Connection, r.cfg.Sinks, r.shard); err == nil {
			return lock, nil
		}
		err = errors.Join(err, lock.Release())
	}
	if errors.Is(err, postgres.ErrSinksBusy) || errors.Is(err, consume.ErrPlanned) {
		err = fmt.Errorf("%w: %w", errNotLocked, err)
	}
	return nil, err
}

// work is done under the exclusive sink lock.
type work struct {
	prepare func(ctx context.Context) error           // beside the sinks, so that little is left to do
	left    func(ctx context.Context) (uint64, error) // rows that are left to read
	do      func(ctx context.Context, lock *postgres.ExclusiveSinkLock) error
}

// locked does the work under the lock, for at most lockedTimeout. Where too much is left, or a batch is planned, it
// releases the lock and tries again.
func (r *run) locked(ctx context.Context, w work) error {
	var why error
	for try := range r.cfg.tries {
		if try > 0 && lifecycle.Pause(ctx, r.cfg.pause) != nil {
			return ctx.Err()
		}
		if err := w.prepare(ctx); err != nil {
			return err
		}
		if why = r.attempt(ctx, w); !errors.Is(why, errNotLocked) {
			return why
		}
		r.log.Info("sinks not stopped, trying again", "shard", r.shard, "try", try+1, "cause", why)
	}
	return fmt.Errorf("%d tries: %w", r.cfg.tries, why)
}

func (r *run) attempt(ctx context.Context, w work) (err error) {
	lock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	defer func() {
		err = errors.Join(err, lock.Release())
		r.metrics.locked.Observe(time.Since(began).Seconds())
	}()
	ctx, cancel := context.WithTimeout(ctx, lockedTimeout)
	defer cancel()
	left, err := w.left(ctx)
	if err != nil {
		return err
	}
	if left > maxUnread {
		return fmt.Errorf("%w: %d rows came meanwhile, %d would be read while they wait", errNotLocked, left, maxUnread)
	}
	return w.do(ctx, lock)
}
