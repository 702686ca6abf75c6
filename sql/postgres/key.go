package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Key is an API key without its secret.
type Key struct {
	ID             uuid.UUID  `db:"id" json:"id"`
	OrganizationID uuid.UUID  `db:"organization_id" json:"-"`
	UserID         uuid.UUID  `db:"user_id" json:"-"`
	Name           string     `db:"name" json:"name"`
	Prefix         string     `db:"prefix" json:"prefix"`
	Scopes         []string   `db:"scopes" json:"scopes"` // empty: the default scopes
	Email          string     `db:"email" json:"user"`
	CreatedAt      time.Time  `db:"created_at" json:"created_at"`
	ExpiresAt      *time.Time `db:"expires_at" json:"expires_at"`     // nil: never
	LastUsedAt     *time.Time `db:"last_used_at" json:"last_used_at"` // to the minute; nil: never
	RevokedAt      *time.Time `db:"revoked_at" json:"revoked_at"`     // nil: not revoked
}

// NewKey is a key to be stored.
type NewKey struct {
	OrganizationID uuid.UUID
	UserID         uuid.UUID // of a user in that organization
	Name           string
	Hash           [32]byte // SHA-256 of the key
	Prefix         string   // the first characters of the key, by which people know it
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
	Scopes         []string  `db:"scopes"`  // empty: the default scopes
	UseDue         bool      `db:"use_due"` // its last use was recorded over a minute ago, or never
}

// A KeyManager is a user who sees and revokes keys or share links: their own, or everyone's in their organization.
type KeyManager struct {
	UserID         uuid.UUID
	OrganizationID uuid.UUID
	Everyone       bool
}

// AddKey stores a key; ErrNotFound if the user is not in the organization.
func (db *DB) AddKey(ctx context.Context, k NewKey) (Key, error) { return k.add(ctx, db) }

// AddOwnKey is AddKey by the key's user, whom the audit log then names.
func (db *DB) AddOwnKey(ctx context.Context, k NewKey) (key Key, err error) {
	err = db.asUser(ctx, k.UserID, func(tx Tx) error {
		key, err = k.add(ctx, tx)
		return err
	})
	return key, err
}

func (k NewKey) add(ctx context.Context, on querier) (Key, error) {
	key, err := queryOne[Key](ctx, on, "add_key",
		k.OrganizationID, k.UserID, k.Name, k.Hash[:], k.Prefix, k.Scopes, k.ExpiresAt)
	return key, wrap(err, "add key %q", k.Name)
}

// ListKeys returns the keys of an organization, revoked ones too, oldest first.
func (db *DB) ListKeys(ctx context.Context, organization uuid.UUID) ([]Key, error) {
	return db.ManagedKeys(ctx, KeyManager{OrganizationID: organization, Everyone: true})
}

// ManagedKeys returns the keys that a user may see, revoked ones too, oldest first.
func (db *DB) ManagedKeys(ctx context.Context, m KeyManager) ([]Key, error) {
	return queryAll[Key](ctx, db, "keys", m.OrganizationID, m.UserID, m.Everyone)
}

// RevokeKey ends a key in every process at once; ErrNotFound if it does not exist.
func (db *DB) RevokeKey(ctx context.Context, key uuid.UUID) error {
	return wrap(execOne(ctx, db, "revoke_key", key), "revoke key %s", key)
}

// RevokeManagedKey is RevokeKey for the keys that a user may see; ErrNotFound for any other.
func (db *DB) RevokeManagedKey(ctx context.Context, m KeyManager, key uuid.UUID) error {
	return db.asUser(ctx, m.UserID, func(tx Tx) error {
		err := execOne(ctx, tx, "revoke_managed_key", key, m.OrganizationID, m.UserID, m.Everyone)
		return wrap(err, "revoke key %s", key)
	})
}

// ResolveKey finds the user of a key by its hash. ErrNotFound if the key does not exist, was revoked or has expired, or
// its user is inactive or has left the organization.
func (db *DB) ResolveKey(ctx context.Context, hash [32]byte) (KeyHolder, error) {
	return queryOne[KeyHolder](ctx, db, "resolve_key", hash[:])
}

// TouchKeys records that keys were used now, to the minute.
func (db *DB) TouchKeys(ctx context.Context, keys []uuid.UUID) error {
	return exec(ctx, db, "touch_keys", keys)
}
