package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// PlatformLease is a process's part of the limits of an account at a platform.
type PlatformLease struct {
	InFlight  int     `db:"in_flight"`
	PerMinute float64 `db:"per_minute"`
}

// LeasePlatform leases a holder its part of an account's limits for some time, an equal one with every other holder;
// inUse is how many requests it has in flight. Together the parts never exceed the limits: one who comes waits, with a
// part of 0, until the others have renewed theirs.
func (db *DB) LeasePlatform(ctx context.Context, account string, holder uuid.UUID, limits PlatformLease, inUse int, lasts time.Duration) (part PlatformLease, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if err := exec(ctx, tx, "lock_platform", account); err != nil {
			return err
		}
		part, err = queryOne[PlatformLease](ctx, tx, "lease_platform", account, holder, limits.InFlight, limits.PerMinute, inUse, lasts.Seconds())
		return err
	})
	return part, wrap(err, "lease limits of %s", account)
}

// RegisterWorker says that a process works on tracking jobs for some time, and which platforms' keys are in its
// environment.
func (db *DB) RegisterWorker(ctx context.Context, id uuid.UUID, platforms []string, lasts time.Duration) error {
	return exec(ctx, db, "beat_tracking_worker", id, platforms, lasts.Seconds())
}

// TrackingWorkers returns the platforms whose keys are in the environment of each process that works on tracking jobs.
func (db *DB) TrackingWorkers(ctx context.Context) ([][]string, error) {
	return queryAll[[]string](ctx, db, "tracking_workers")
}

// ReleasePlatforms gives back all that a holder has leased; it works on no jobs any more.
func (db *DB) ReleasePlatforms(ctx context.Context, holder uuid.UUID) error {
	return exec(ctx, db, "release_platforms", holder)
}

// StalledTracking is how many running jobs have not moved since an instant.
func (db *DB) StalledTracking(ctx context.Context, since time.Time) (int, error) {
	return queryOne[int](ctx, db, "stalled_tracking_jobs", since)
}

// prunedAtOnce is how many jobs, of up to some ten thousand runs, one statement deletes.
const prunedAtOnce = 50

// PruneTracking deletes the jobs that ended before an instant, with their runs, and returns how many there were.
func (db *DB) PruneTracking(ctx context.Context, before time.Time) (jobs int64, err error) {
	for {
		n, err := execRows(ctx, db, "prune_tracking_jobs", before, prunedAtOnce)
		jobs += n
		if err != nil || n < prunedAtOnce {
			return jobs, wrap(err, "prune tracking jobs from before %s", before.Format(time.DateOnly))
		}
	}
}

// ResumeTracking has jobs taken up again whose worker has been silent for so long.
func (db *DB) ResumeTracking(ctx context.Context, silent time.Duration) (int64, error) {
	return execRows(ctx, db, "resume_tracking_jobs", silent.Seconds())
}
