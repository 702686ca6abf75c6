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

// AddOrganization adds one. An empty slug is made from the name; one in use is ErrConflict.
func (db *DB) AddOrganization(ctx context.Context, name, slug string) (Organization, error) {
	o, err := queryOne[Organization](ctx, db, "add_organization", name, slug)
	return o, wrap(err, "add organization %q", name)
}

// EditOrganization changes the name and the time zone of the organization of a slug; nil stays. ErrNotFound if there is
// none.
func (db *DB) EditOrganization(ctx context.Context, slug string, name, timeZone *string) error {
	return wrap(execOne(ctx, db, "edit_organization", slug, name, timeZone), "edit organization %q", slug)
}

// ListOrganizations returns every organization by name, in code-point order.
func (db *DB) ListOrganizations(ctx context.Context) ([]Organization, error) {
	return queryAll[Organization](ctx, db, "organizations")
}

// OrganizationBySlug finds one, or ErrNotFound.
func (db *DB) OrganizationBySlug(ctx context.Context, slug string) (Organization, error) {
	o, err := queryOne[Organization](ctx, db, "organization_by_slug", slug)
	return o, wrap(err, "find organization %q", slug)
}
