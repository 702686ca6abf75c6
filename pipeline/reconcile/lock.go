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

// errNotLocked is returned when the exclusive sink lock was not granted, was held without effect, or was given up
// because too much was left to read. A retry may help.
var errNotLocked = errors.New("the sinks were not stopped")

// lock takes the exclusive sink lock of the shard while no batch is planned.
func (r *shardRun) lock(ctx context.Context) (lock *postgres.ExclusiveSinkLock, err error) {
	lock, err = r.reconciler.db.LockSinksExclusive(ctx, r.shard, r.reconciler.cfg.lockTimeout)
	if err == nil {
		if err = consume.CheckNoPlan(ctx, r.reconciler.cfg.Connection, r.reconciler.cfg.Sinks, r.shard); err == nil {
			return lock, nil
		}
		err = errors.Join(err, lock.Release())
	}
	if errors.Is(err, postgres.ErrSinksBusy) || errors.Is(err, consume.ErrPlanned) {
		err = fmt.Errorf("%w: %w", errNotLocked, err)
	}
	return nil, err
}

// work runs under the exclusive sink lock.
type work struct {
	prepare func(ctx context.Context) error           // beside the sinks, so that little is left to do; nil: nothing
	unread  func(ctx context.Context) (uint64, error) // rows that are left to read; nil: none
	do      func(ctx context.Context, lock *postgres.ExclusiveSinkLock) error
}

// locked does the work under the lock, for at most lockedTimeout. If too many rows are left, or a batch is planned, it
// releases the lock and retries.
func (r *shardRun) locked(ctx context.Context, w work) (err error) {
	cfg := r.reconciler.cfg
	for try := range cfg.tries {
		if try > 0 && lifecycle.Pause(ctx, cfg.pause) != nil {
			return ctx.Err()
		}
		if w.prepare != nil {
			if err := w.prepare(ctx); err != nil {
				return err
			}
		}
		if err = r.attempt(ctx, w); !errors.Is(err, errNotLocked) {
			return err
		}
		r.reconciler.log.Info("sinks not stopped, trying again", "shard", r.shard, "try", try+1, "cause", err)
	}
	return fmt.Errorf("%d tries: %w", cfg.tries, err)
}

func (r *shardRun) attempt(ctx context.Context, w work) (err error) {
	lock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	defer func() {
		err = errors.Join(err, lock.Release())
		r.reconciler.metrics.locked.Observe(time.Since(began).Seconds())
	}()
	ctx, cancel := context.WithTimeout(ctx, lockedTimeout)
	defer cancel()
	if w.unread != nil {
		rows, err := w.unread(ctx)
		if err != nil {
			return err
		}
		if rows > maxUnread {
			return fmt.Errorf("%w: %d rows came meanwhile, %d would be read while they wait",
				errNotLocked, rows, maxUnread)
		}
	}
	return w.do(ctx, lock)
}
