package postgres

import (
	"context"
	"time"
)

// PlatformChange is a day on which a platform began to answer otherwise. Days are midnights in UTC.
type PlatformChange struct {
	Platform string    `db:"platform"` // slug
	Day      time.Time `db:"day"`
	EValue   float64   `db:"e_value"`
	JudgedOn time.Time `db:"judged_on"` // last compared day
}

// AddPlatformChange stores a change. One that is stored keeps the larger e-value and the later judgement.
func (db *DB) AddPlatformChange(ctx context.Context, c PlatformChange) error {
	err := exec(ctx, db, "add_platform_change", c.Platform, c.Day, c.EValue, c.JudgedOn)
	return wrap(err, "store change of %s", c.Platform)
}

// PlatformChanges returns the changes from one day to another, both included, by platform and day.
func (db *DB) PlatformChanges(ctx context.Context, from, to time.Time) ([]PlatformChange, error) {
	changes, err := queryAll[PlatformChange](ctx, db, "platform_changes", from, to)
	return changes, wrap(err, "read changes of platforms")
}
