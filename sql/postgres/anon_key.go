package postgres

import (
	"context"
	"errors"

	"github.com/gofrs/uuid/v5"
)

// AnonKey is what clients of /rest/v1 send beside their token.
type AnonKey struct {
	Key      string   `db:"key"`
	Earlier  []string `db:"earlier"`  // the keys before it, which clients may still have
	Verifies bool     `db:"verifies"` // its signing key has not been deleted
}

// AnonKey returns the key that clients of /rest/v1 send. Where there is none, or none that verifies, it keeps what mint
// makes with a signing key, once for all processes.
func (db *DB) AnonKey(ctx context.Context, mint func(context.Context) (key string, signingKey uuid.UUID, err error)) (AnonKey, error) {
	known, err := queryOne[AnonKey](ctx, db, "anon_key")
	if known.Verifies || err != nil && !errors.Is(err, ErrNotFound) {
		return known, err
	}
	minted, signingKey, err := mint(ctx)
	if err != nil {
		return AnonKey{}, err
	}
	if err := exec(ctx, db, "add_anon_key", minted, signingKey, known.Key); err != nil {
		return AnonKey{}, err
	}
	return queryOne[AnonKey](ctx, db, "anon_key")
}
