package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// PlatformLease is a process's share of the limits of an account at a platform, or all of them.
type PlatformLease struct {
	InFlight          int     `db:"in_flight"`
	RequestsPerMinute float64 `db:"requests_per_minute"`
	TokensPerMinute   float64 `db:"tokens_per_minute"`
}

// PlatformAccount holds the limits of an account by the platform's answers; 0 is unknown.
type PlatformAccount struct {
	Account           string  `db:"account"`
	RequestsPerMinute int     `db:"requests_per_minute"`
	TokensPerMinute   int     `db:"tokens_per_minute"`
	TokensPerAnswer   float64 `db:"tokens_per_answer"` // the average of the last ones
	ClosedSeconds     float64 `db:"closed_seconds"`    // until the platform takes requests again
}

// LeasePlatform leases a holder, which has inFlight requests in flight, an equal share of an account's limits. Together
// the shares never exceed the limits: a new holder gets 0 until the others have renewed theirs. It stores what the
// holder has learnt of the account since its last lease, and returns what all holders have, from which limits computes
// the account's.
func (db *DB) LeasePlatform(
	ctx context.Context, learnt PlatformAccount, holder uuid.UUID, limits func(PlatformAccount) PlatformLease,
	inFlight int, duration time.Duration,
) (share PlatformLease, stored PlatformAccount, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx Tx) error {
		stored, err = queryOne[PlatformAccount](ctx, tx, "lock_platform", learnt.Account,
			learnt.RequestsPerMinute, learnt.TokensPerMinute, learnt.TokensPerAnswer, learnt.ClosedSeconds)
		if err != nil {
			return err
		}
		l := limits(stored)
		share, err = queryOne[PlatformLease](ctx, tx, "lease_platform", learnt.Account, holder,
			l.InFlight, l.RequestsPerMinute, l.TokensPerMinute, inFlight, duration.Seconds())
		return err
	})
	return share, stored, wrap(err, "lease limits of %s", learnt.Account)
}

// PlatformAccounts finds stored accounts.
func (db *DB) PlatformAccounts(ctx context.Context, accounts []string) ([]PlatformAccount, error) {
	return queryAll[PlatformAccount](ctx, db, "platform_accounts", accounts)
}

// RegisterWorker registers a process that works on tracking jobs, for a duration, and the platforms whose keys are in
// its environment.
func (db *DB) RegisterWorker(ctx context.Context, id uuid.UUID, platforms []string, duration time.Duration) error {
	return exec(ctx, db, "register_tracking_worker", id, platforms, duration.Seconds())
}

// TrackingWorkers returns the platforms of each registered process.
func (db *DB) TrackingWorkers(ctx context.Context) ([][]string, error) {
	return queryAll[[]string](ctx, db, "tracking_workers")
}

// ReleasePlatforms releases the leases of a process, and its registration.
func (db *DB) ReleasePlatforms(ctx context.Context, holder uuid.UUID) error {
	return exec(ctx, db, "release_platforms", holder)
}

// StalledTracking counts the running jobs without progress since an instant.
func (db *DB) StalledTracking(ctx context.Context, since time.Time) (int, error) {
	return queryOne[int](ctx, db, "stalled_tracking_jobs", since)
}

// prunedAtOnce bounds the jobs that one statement deletes, of up to some ten thousand runs each.
const prunedAtOnce = 50

// PruneTracking deletes the jobs that ended before an instant, with their runs, and returns their number. It forgets
// the accounts that were last asked before it, too.
func (db *DB) PruneTracking(ctx context.Context, before time.Time) (jobs int64, err error) {
	if err := exec(ctx, db, "prune_platform_accounts", before); err != nil {
		return 0, wrap(err, "forget accounts at platforms")
	}
	for {
		n, err := execRows(ctx, db, "prune_tracking_jobs", before, prunedAtOnce)
		jobs += n
		if err != nil || n < prunedAtOnce {
			return jobs, wrap(err, "prune tracking jobs from before %s", before.Format(time.DateOnly))
		}
	}
}

// ResumeTracking queues again the jobs whose worker sent no heartbeat for a duration, and returns their number.
func (db *DB) ResumeTracking(ctx context.Context, silence time.Duration) (int64, error) {
	return execRows(ctx, db, "resume_tracking_jobs", silence.Seconds())
}
