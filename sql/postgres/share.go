package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
)

// NewShareLink is a share link to be stored.
type NewShareLink struct {
	OrganizationID uuid.UUID         `json:"-"`
	CreatedBy      uuid.UUID         `json:"-"` // uuid.Nil: the command line
	Hash           [32]byte          `json:"-"` // SHA-256 of the token
	PasswordHash   string            `json:"-"` // "": no password
	BrandID        uuid.UUID         `json:"brand_id"`
	Title          string            `json:"title"` // "": the brand's name
	Screens        []string          `json:"screens"`
	Filters        map[string]string `json:"-"` // parameters of /api/v1, and last_days
	EmbedOrigins   []string          `json:"embed_origins"`
	ExpiresAt      *time.Time        `json:"expires_at"` // nil: never
}

// ShareLink is a link that works, with its brand.
type ShareLink struct {
	ID             uuid.UUID         `db:"id"`
	OrganizationID uuid.UUID         `db:"organization_id"`
	BrandID        uuid.UUID         `db:"brand_id"`
	BrandName      string            `db:"brand_name"`
	BrandSlug      string            `db:"brand_slug"`
	Title          string            `db:"title"`
	Screens        []string          `db:"screens"`
	Filters        map[string]string `db:"filters"`
	EmbedOrigins   []string          `db:"embed_origins"`
	PasswordHash   string            `db:"password_hash"`
	IsRecorded     bool              `db:"is_recorded"` // its use within this hour is
}

// ListedShareLink is a link in a list, working or not.
type ListedShareLink struct {
	ID           uuid.UUID         `db:"id" json:"id"`
	Brand        string            `db:"brand" json:"brand"` // slug
	Title        string            `db:"title" json:"title"`
	Screens      []string          `db:"screens" json:"screens"`
	Filters      map[string]string `db:"filters" json:"filters"`
	EmbedOrigins []string          `db:"embed_origins" json:"embed_origins"`
	HasPassword  bool              `db:"has_password" json:"has_password"`
	CreatedBy    string            `db:"created_by" json:"created_by"` // email; "": the command line, or a deleted user
	CreatedAt    time.Time         `db:"created_at" json:"created_at"`
	ExpiresAt    *time.Time        `db:"expires_at" json:"expires_at"`
	RevokedAt    *time.Time        `db:"revoked_at" json:"revoked_at"`
	LastUsedAt   *time.Time        `db:"last_used_at" json:"last_used_at"` // to the hour
}

// AddShareLink stores a link; ErrNotFound if the brand is not the organization's, ErrLimit if it has too many.
func (db *DB) AddShareLink(ctx context.Context, l NewShareLink) (id uuid.UUID, err error) {
	err = db.asUser(ctx, l.CreatedBy, func(tx Tx) error {
		id, err = queryOne[uuid.UUID](ctx, tx, "add_share_link", l.OrganizationID, l.BrandID, l.CreatedBy, l.Title,
			l.Screens, l.Filters, l.EmbedOrigins, l.ExpiresAt, l.Hash[:], l.PasswordHash)
		return wrap(err, "add share link %q", l.Title)
	})
	return id, err
}

// ShareLinks returns the links of an organization, revoked ones too, oldest first.
func (db *DB) ShareLinks(ctx context.Context, organization uuid.UUID) ([]ListedShareLink, error) {
	return queryAll[ListedShareLink](ctx, db, "share_links", organization)
}

// RevokeShareLink ends a link in every process at once; ErrNotFound if it does not exist.
func (db *DB) RevokeShareLink(ctx context.Context, link uuid.UUID) error {
	return wrap(execOne(ctx, db, "revoke_share_link", link), "revoke share link %s", link)
}

// RevokeManagedShareLink is RevokeShareLink for the links that a user may revoke; ErrNotFound for any other.
func (db *DB) RevokeManagedShareLink(ctx context.Context, m KeyManager, link uuid.UUID) error {
	return db.asUser(ctx, m.UserID, func(tx Tx) error {
		err := execOne(ctx, tx, "revoke_managed_share_link", link, m.OrganizationID, m.UserID, m.Everyone)
		return wrap(err, "revoke share link %s", link)
	})
}

// ShareLink finds the link of a token by its hash; ErrNotFound if none works.
func (db *DB) ShareLink(ctx context.Context, hash [32]byte) (ShareLink, error) {
	return queryOne[ShareLink](ctx, db, "share_link", hash[:])
}

// UseShareLink records that a link is used, once an hour.
func (db *DB) UseShareLink(ctx context.Context, l ShareLink) error {
	if l.IsRecorded {
		return nil
	}
	return wrap(exec(ctx, db, "use_share_link", l.ID), "record use of share link %s", l.ID)
}
