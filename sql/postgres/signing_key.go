package postgres

import (
	"context"
	"errors"
	"fmt"
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

// SigningKeys are all keys of access tokens, the newest first.
func (db *DB) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	return queryAll[SigningKey](ctx, db, "signing_keys")
}

// AddSigningKey adds a key of access tokens, and drops those that are older than keep.
func (db *DB) AddSigningKey(ctx context.Context, key SigningKey, keep time.Duration) error {
	err := exec(ctx, db, "add_signing_key", key.ID, key.Public, key.Private, keep)
	if err != nil {
		return fmt.Errorf("add signing key %s: %w", key.ID, err)
	}
	return nil
}

// ResealSigningKey replaces the private key of a key of access tokens by the same, encrypted anew.
func (db *DB) ResealSigningKey(ctx context.Context, id uuid.UUID, private string) error {
	return wrap(exec(ctx, db, "reseal_signing_key", id, private), "reseal signing key %s", id)
}

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
