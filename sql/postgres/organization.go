package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Organization owns brands, users and keys.
type Organization struct {
	ID        uuid.UUID `db:"id" json:"id"`
	Name      string    `db:"name" json:"name"`
	Slug      string    `db:"slug" json:"slug"`
	TimeZone  string    `db:"time_zone" json:"-"`
	CreatedAt time.Time `db:"created_at" json:"created_at"`
}

// AddOrganization adds an organization. An empty slug is made from the name; a slug in use is ErrConflict.
func (db *DB) AddOrganization(ctx context.Context, name, slug string) (Organization, error) {
	o, err := queryOne[Organization](ctx, db, "add_organization", name, slug)
	return o, wrap(err, "add organization %q", name)
}

// EditOrganization changes the name and the time zone of an organization; nil stays. ErrNotFound if no organization has
// the slug.
func (db *DB) EditOrganization(ctx context.Context, slug string, name, timeZone *string) error {
	return wrap(execOne(ctx, db, "edit_organization", slug, name, timeZone), "edit organization %q", slug)
}

// ListOrganizations returns every organization by name, in code-point order.
func (db *DB) ListOrganizations(ctx context.Context) ([]Organization, error) {
	return queryAll[Organization](ctx, db, "organizations")
}

// OrganizationBySlug finds an organization, or ErrNotFound.
func (db *DB) OrganizationBySlug(ctx context.Context, slug string) (Organization, error) {
	o, err := queryOne[Organization](ctx, db, "organization_by_slug", slug)
	return o, wrap(err, "find organization %q", slug)
}

// OrganizationName returns the name of an organization, or ErrNotFound.
func (db *DB) OrganizationName(ctx context.Context, organization uuid.UUID) (string, error) {
	return queryOne[string](ctx, db, "organization_name", organization)
}

// OrganizationCount counts all organizations (nil), or one: 0 or 1.
func (db *DB) OrganizationCount(ctx context.Context, organization *uuid.UUID) (int, error) {
	return queryOne[int](ctx, db, "organization_count", organization)
}

// ProviderKey is an organization's key of an AI platform.
type ProviderKey struct {
	OrganizationID uuid.UUID `db:"organization_id"`
	Platform       string    `db:"platform"` // slug
	Sealed         string    `db:"sealed"`   // encrypted
	LastCharacters string    `db:"last_characters"`
}

// ProviderKeys returns the platform keys of an organization.
func (db *DB) ProviderKeys(ctx context.Context, organization uuid.UUID) ([]ProviderKey, error) {
	return queryAll[ProviderKey](ctx, db, "provider_keys", organization)
}

// SetProviderKey sets or replaces an organization's key of a platform. The audit log names the user; uuid.Nil is the
// command line.
func (db *DB) SetProviderKey(ctx context.Context, user uuid.UUID, k ProviderKey) error {
	return db.asUser(ctx, user, func(tx Tx) error {
		err := exec(ctx, tx, "set_provider_key", k.OrganizationID, k.Platform, k.Sealed, k.LastCharacters)
		return wrap(err, "set key of %s", k.Platform)
	})
}

// AccountLimits are limits of an account at an AI platform that somebody sets; a nil part is not set.
type AccountLimits struct {
	RequestsPerMinute *int `db:"requests_per_minute" json:"requests_per_minute"`
	TokensPerMinute   *int `db:"tokens_per_minute" json:"tokens_per_minute"` // 0: no limit
	InFlight          *int `db:"in_flight" json:"in_flight"`
}

// ProviderLimits are the limits that an organization sets for its account at a platform.
type ProviderLimits struct {
	OrganizationID uuid.UUID `db:"organization_id"`
	Platform       string    `db:"platform"`
	AccountLimits
}

// ProviderLimits returns the limits that organizations set, of all platforms.
func (db *DB) ProviderLimits(ctx context.Context, organizations []uuid.UUID) ([]ProviderLimits, error) {
	return queryAll[ProviderLimits](ctx, db, "provider_limits", organizations)
}

// SetProviderLimits replaces the limits of an organization's account; the audit log names the user as for
// SetProviderKey.
func (db *DB) SetProviderLimits(ctx context.Context, user uuid.UUID, l ProviderLimits) error {
	return db.asUser(ctx, user, func(tx Tx) error {
		err := exec(ctx, tx, "set_provider_limits",
			l.OrganizationID, l.Platform, l.RequestsPerMinute, l.TokensPerMinute, l.InFlight)
		return wrap(err, "set limits of %s", l.Platform)
	})
}

// ProviderOrders returns the capture providers that an organization asks, by surface.
func (db *DB) ProviderOrders(ctx context.Context, organization uuid.UUID) (map[string][]string, error) {
	rows, err := queryAll[struct {
		Platform  string   `db:"platform"`
		Providers []string `db:"providers"`
	}](ctx, db, "provider_orders", organization)
	orders := map[string][]string{}
	for _, row := range rows {
		orders[row.Platform] = row.Providers
	}
	return orders, err
}

// SetProviderOrder replaces the capture providers that an organization asks for a surface; the audit log names the user
// as for SetProviderKey.
func (db *DB) SetProviderOrder(
	ctx context.Context, user, organization uuid.UUID, platform string, providers []string,
) error {
	return db.asUser(ctx, user, func(tx Tx) error {
		err := exec(ctx, tx, "set_provider_order", organization, platform, append([]string{}, providers...))
		return wrap(err, "set order of providers of %s", platform)
	})
}

// RemoveProviderKey deletes a key; the audit log names the user as for SetProviderKey. ErrNotFound if the organization
// has no key of that platform.
func (db *DB) RemoveProviderKey(ctx context.Context, user, organization uuid.UUID, platform string) error {
	return db.asUser(ctx, user, func(tx Tx) error {
		return wrap(execOne(ctx, tx, "remove_provider_key", organization, platform), "remove key of %s", platform)
	})
}

// RemoveOrganization deletes an organization with its users and everything else that belongs to it.
func (db *DB) RemoveOrganization(ctx context.Context, organization uuid.UUID) error {
	return wrap(execOne(ctx, db, "remove_organization", organization), "remove organization %s", organization)
}
