package postgres

import (
	"context"

	"github.com/gofrs/uuid/v5"
)

// ProviderKey is an organization's key of an AI platform.
type ProviderKey struct {
	OrganizationID uuid.UUID `db:"organization_id"`
	Platform       string    `db:"platform"` // slug
	Sealed         string    `db:"sealed"`   // encrypted
	LastCharacters string    `db:"last_characters"`
}

// ProviderKeys are the keys of an organization.
func (db *DB) ProviderKeys(ctx context.Context, organization uuid.UUID) ([]ProviderKey, error) {
	return queryAll[ProviderKey](ctx, db, "provider_keys", organization)
}

// AllProviderKeys are the keys of all organizations.
func (db *DB) AllProviderKeys(ctx context.Context) ([]ProviderKey, error) {
	return queryAll[ProviderKey](ctx, db, "provider_keys", uuid.NullUUID{})
}

// SetProviderKey gives an organization a key, in place of one that it has. user did it, as the audit log says; nil is
// the command line.
func (db *DB) SetProviderKey(ctx context.Context, user uuid.UUID, k ProviderKey) error {
	return db.byUserOrCommand(ctx, user, func(on querier) error {
		err := exec(ctx, on, "set_provider_key", k.OrganizationID, k.Platform, k.Sealed, k.LastCharacters)
		return wrap(err, "set key of %s", k.Platform)
	})
}

// RemoveProviderKey takes a key from an organization; ErrNotFound if it has none of that platform.
func (db *DB) RemoveProviderKey(ctx context.Context, user, organization uuid.UUID, platform string) error {
	return db.byUserOrCommand(ctx, user, func(on querier) error {
		return wrap(execOne(ctx, on, "remove_provider_key", organization, platform), "remove key of %s", platform)
	})
}

// ResealProviderKey replaces what is encrypted of a key by the same, encrypted anew.
func (db *DB) ResealProviderKey(ctx context.Context, k ProviderKey, sealed string) error {
	err := exec(ctx, db, "reseal_provider_key", k.OrganizationID, k.Platform, k.Sealed, sealed)
	return wrap(err, "reseal key of %s", k.Platform)
}

func (db *DB) byUserOrCommand(ctx context.Context, user uuid.UUID, fn func(on querier) error) error {
	if user == uuid.Nil {
		return fn(db)
	}
	return db.by(ctx, user, func(tx Tx) error { return fn(tx) })
}
