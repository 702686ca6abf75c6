package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
)

// ScheduledPlatform is a platform where a brand is asked on a schedule.
type ScheduledPlatform struct {
	ID             uuid.UUID  `db:"id"`
	Platform       string     `db:"platform"`
	Model          string     `db:"model"`           // "": the platform's default
	CheckFrequency string     `db:"check_frequency"` // hourly, daily, weekly or monthly
	LastCheckedAt  *time.Time `db:"last_checked_at"`
	BrandID        uuid.UUID  `db:"brand_id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	TimeZone       string     `db:"time_zone"` // of the organization
}

// ScheduledPlatforms returns where active brands of an organization, or of all (nil), are asked on a schedule, brand by
// brand: those that may be due at now, or all of them.
func (db *DB) ScheduledPlatforms(ctx context.Context, organization *uuid.UUID, all bool, now time.Time) ([]ScheduledPlatform, error) {
	return queryAll[ScheduledPlatform](ctx, db, "scheduled_platforms", organization, all, now)
}

// SetChecked sets when each of some platforms is to be asked next, and that they were asked at an instant (nil: they
// were not).
func (db *DB) SetChecked(ctx context.Context, next map[uuid.UUID]time.Time, checked *time.Time) error {
	var ids []uuid.UUID
	var times []time.Time
	for id, at := range next {
		ids, times = append(ids, id), append(times, at)
	}
	return exec(ctx, db, "set_checked", ids, times, checked)
}

// StalledTracking is how many running jobs have not moved since an instant.
func (db *DB) StalledTracking(ctx context.Context, since time.Time) (int, error) {
	return queryOne[int](ctx, db, "stalled_tracking_jobs", since)
}

// OrganizationCount is how many organizations there are: of all (nil), or whether that one is there.
func (db *DB) OrganizationCount(ctx context.Context, organization *uuid.UUID) (int, error) {
	return queryOne[int](ctx, db, "organization_count", organization)
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
