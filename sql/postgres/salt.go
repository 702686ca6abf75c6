package postgres

import (
	"context"
	"fmt"
	"time"
)

// Salt is the random key of a day's visitor hashes.
type Salt struct {
	Day time.Time `db:"day"`  // its midnight, UTC
	Key []byte    `db:"salt"` // 16 bytes
}

type days struct{ Days []time.Time }

var (
	dropSalts = query[none, none]("drop_salts")
	makeSalts = query[days, none]("make_salts")
	salts     = query[days, Salt]("salts")
)

// Salts are those of the given days, midnights in UTC, the same for every process; a day without one gets one. Expired
// ones are deleted first.
func (db *DB) Salts(ctx context.Context, of ...time.Time) ([]Salt, error) {
	if err := db.DropSalts(ctx); err != nil {
		return nil, err
	}
	if _, err := makeSalts.run(ctx, db, days{of}); err != nil {
		return nil, fmt.Errorf("make visitor salts: %w", err)
	}
	found, err := salts.all(ctx, db, days{of})
	return found, wrap(err, "read visitor salts")
}

// DropSalts deletes the salts whose day ended an hour ago, before any is 48 hours old.
func (db *DB) DropSalts(ctx context.Context) error {
	_, err := dropSalts.run(ctx, db, none{})
	return wrap(err, "drop visitor salts")
}
