package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/gofrs/uuid/v5"
)

// SigningKey is a key of access tokens.
type SigningKey struct {
	ID        uuid.UUID `db:"id"`
	Public    []byte    `db:"public_key"`  // PKIX, DER
	Private   string    `db:"private_key"` // encrypted
	CreatedAt time.Time `db:"created_at"`
}

// SigningKeys returns all keys of access tokens, the newest first.
func (db *DB) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	return queryAll[SigningKey](ctx, db, "signing_keys")
}

// AddSigningKey adds a key of access tokens, and drops those that are older than keep.
func (db *DB) AddSigningKey(ctx context.Context, key SigningKey, keep time.Duration) error {
	err := exec(ctx, db, "add_signing_key", key.ID, key.Public, key.Private, keep)
	return wrap(err, "add signing key %s", key.ID)
}

// AnonKey is the token that clients of /rest/v1 send as their apikey.
type AnonKey struct {
	Key      string   `db:"key"`
	Earlier  []string `db:"earlier"`  // previous keys, which clients may still send
	Verifies bool     `db:"verifies"` // its signing key still exists
}

// AnonKey returns the key that clients of /rest/v1 send. If there is none, or its signing key is gone, it stores the
// one that mint returns with its signing key; concurrent processes get the same.
func (db *DB) AnonKey(
	ctx context.Context, mint func(context.Context) (key string, signingKey uuid.UUID, err error),
) (AnonKey, error) {
	current, err := queryOne[AnonKey](ctx, db, "anon_key")
	if current.Verifies || err != nil && !errors.Is(err, ErrNotFound) {
		return current, err
	}
	key, signingKey, err := mint(ctx)
	if err != nil {
		return AnonKey{}, err
	}
	if err := exec(ctx, db, "add_anon_key", key, signingKey, current.Key); err != nil {
		return AnonKey{}, err
	}
	return queryOne[AnonKey](ctx, db, "anon_key")
}
