package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Key is an API key as it may be shown: without what proves it.
type Key struct {
	ID             uuid.UUID  `db:"id" json:"id"`
	OrganizationID uuid.UUID  `db:"organization_id" json:"-"`
	UserID         uuid.UUID  `db:"user_id" json:"-"`
	Name           string     `db:"name" json:"name"`
	Prefix         string     `db:"prefix" json:"prefix"`
	Scopes         []string   `db:"scopes" json:"scopes"` // empty: the default ones
	Email          string     `db:"email" json:"user"`
	CreatedAt      time.Time  `db:"created_at" json:"created_at"`
	ExpiresAt      *time.Time `db:"expires_at" json:"expires_at"`     // nil: never
	LastUsedAt     *time.Time `db:"last_used_at" json:"last_used_at"` // to the minute; nil: never
	RevokedAt      *time.Time `db:"revoked_at" json:"revoked_at"`     // nil: it works
}

// NewKey is a key to be stored. Hash is SHA-256 of the key.
type NewKey struct {
	OrganizationID uuid.UUID
	UserID         uuid.UUID // of a user in that organization
	Name           string
	Hash           [32]byte
	Prefix         string // the first characters of the key, by which people know it
	Scopes         []string
	ExpiresAt      *time.Time // nil: never
}

// KeyHolder is the user of a working key.
type KeyHolder struct {
	KeyID          uuid.UUID `db:"key_id"`
	UserID         uuid.UUID `db:"user_id"`
	Email          string    `db:"email"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Role           string    `db:"role"`    // in the organization
	Scopes         []string  `db:"scopes"`  // empty: the default ones
	UseDue         bool      `db:"use_due"` // its last use was recorded over a minute ago, or never
}

// A KeyManager is a user who makes, sees and revokes keys: their own, or everyone's in their organization.
type KeyManager struct {
	UserID         uuid.UUID
	OrganizationID uuid.UUID
	Everyone       bool
}

// AddKey stores a key; ErrNotFound if the user is not in the organization.
func (db *DB) AddKey(ctx context.Context, k NewKey) (Key, error) { return k.add(ctx, db) }

// AddOwnKey stores a key that its user makes; ErrNotFound if the user is not in the organization.
func (db *DB) AddOwnKey(ctx context.Context, k NewKey) (key Key, err error) {
	err = db.by(ctx, k.UserID, func(tx Tx) error {
		key, err = k.add(ctx, tx)
		return err
	})
	return key, err
}

func (k NewKey) add(ctx context.Context, on querier) (Key, error) {
	key, err := queryOne[Key](ctx, on, "add_key", k.OrganizationID, k.UserID, k.Name, k.Hash[:], k.Prefix, k.Scopes, k.ExpiresAt)
	return key, wrap(err, "add key %q", k.Name)
}

// ListKeys returns the keys of an organization, revoked ones too, oldest first.
func (db *DB) ListKeys(ctx context.Context, organization uuid.UUID) ([]Key, error) {
	return db.ManagedKeys(ctx, KeyManager{OrganizationID: organization, Everyone: true})
}

// ManagedKeys returns the keys that a user may see, revoked ones too, oldest first.
func (db *DB) ManagedKeys(ctx context.Context, by KeyManager) ([]Key, error) {
	return queryAll[Key](ctx, db, "keys", by.OrganizationID, by.UserID, by.Everyone)
}

// RevokeKey ends a key at once, in every process, for ever; ErrNotFound if there is no such key.
func (db *DB) RevokeKey(ctx context.Context, key uuid.UUID) error {
	return wrap(execOne(ctx, db, "revoke_key", key), "revoke key %s", key)
}

// RevokeManagedKey ends a key as RevokeKey does; ErrNotFound if there is none that the user may see.
func (db *DB) RevokeManagedKey(ctx context.Context, by KeyManager, key uuid.UUID) error {
	return db.by(ctx, by.UserID, func(tx Tx) error {
		err := execOne(ctx, tx, "revoke_managed_key", key, by.OrganizationID, by.UserID, by.Everyone)
		return wrap(err, "revoke key %s", key)
	})
}

// ResolveKey finds the user of the key with that hash. ErrNotFound if there is none, it is revoked or has expired, or
// its user is inactive or has left the organization.
func (db *DB) ResolveKey(ctx context.Context, hash [32]byte) (KeyHolder, error) {
	return queryOne[KeyHolder](ctx, db, "resolve_key", hash[:])
}

// TouchKeys records that keys were used now, to the minute.
func (db *DB) TouchKeys(ctx context.Context, used []uuid.UUID) error {
	return exec(ctx, db, "touch_keys", used)
}
