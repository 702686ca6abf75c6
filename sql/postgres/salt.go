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

// Salts are those of the given days, midnights in UTC, the same for every process; a day without one gets one.
func (db *DB) Salts(ctx context.Context, of ...time.Time) ([]Salt, error) {
	if err := exec(ctx, db, "make_salts", of); err != nil {
		return nil, fmt.Errorf("make visitor salts: %w", err)
	}
	found, err := queryAll[Salt](ctx, db, "salts", of)
	return found, wrap(err, "read visitor salts")
}

// DropSalts forgets the salts whose day ended an hour ago, before any is 48 hours old. No file of the server has them
// then.
func (db *DB) DropSalts(ctx context.Context) error {
	return wrap(exec(ctx, db, "drop_salts"), "drop visitor salts")
}
