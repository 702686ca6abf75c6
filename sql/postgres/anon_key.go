package postgres

import (
	"context"
	"errors"
)

var (
	anonKey    = query[string]("anon_key")
	addAnonKey = query[none]("add_anon_key")
)

// AnonKey returns the key that clients of /rest/v1 send. Where there is none it keeps what mint makes, once for all
// processes.
func (db *DB) AnonKey(ctx context.Context, mint func(context.Context) (string, error)) (string, error) {
	key, err := anonKey.one(ctx, db)
	if !errors.Is(err, ErrNotFound) {
		return key, err
	}
	minted, err := mint(ctx)
	if err != nil {
		return "", err
	}
	if _, err := addAnonKey.run(ctx, db, minted); err != nil {
		return "", err
	}
	return anonKey.one(ctx, db)
}
