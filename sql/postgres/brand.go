package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// Brand is a tracked brand, without its domains and competitors.
type Brand struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Name           string    `db:"name"`
	Slug           string    `db:"slug"`
	Industry       string    `db:"industry"` // "": none, as region and language
	Region         string    `db:"region"`
	Language       string    `db:"language"`
	IsActive       bool      `db:"is_active"`
	CreatedAt      time.Time `db:"created_at"`
}

// NewBrand is a brand to be added with its domains and competitors. A domain may be an address, which is reduced to its
// host; international ones are in punycode.
type NewBrand struct {
	Name        string          `json:"name"`
	Slug        string          `json:"slug"` // "" makes one from the name
	Industry    string          `json:"industry"`
	Region      string          `json:"region"`
	Language    string          `json:"language"`
	Aliases     []string        `json:"aliases"`
	Domains     []string        `json:"domains"` // the first is the primary one
	Competitors []NewCompetitor `json:"competitors"`
}

// NewCompetitor is a competitor to be added with its brand.
type NewCompetitor struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases"`
	Domains []string `json:"domains"`
}

// Snapshot holds the names by which answers of a brand are read, at one moment.
type Snapshot struct {
	OrganizationID uuid.UUID    `db:"organization_id"`
	BrandID        uuid.UUID    `db:"brand_id"`
	Name           string       `db:"name"`
	Slug           string       `db:"slug"`
	Aliases        []string     `db:"aliases"`
	Domains        []string     `db:"domains"`  // the primary one first, then as they were added
	Revision       int64        `db:"revision"` // rises with every edit of any of this
	Competitors    []Competitor `db:"competitors"`
}

// Competitor is an entity that a brand is compared with.
type Competitor struct {
	ID      uuid.UUID `json:"id"`
	Name    string    `json:"name"`
	Aliases []string  `json:"aliases"`
	Domains []string  `json:"domains"`
}

// Brands returns the brands of an organization by name, in code-point order.
func (db *DB) Brands(ctx context.Context, organization uuid.UUID) ([]Brand, error) {
	return queryAll[Brand](ctx, db, "brands", organization, nil, nil)
}

// Brand finds a brand of the organization, or ErrNotFound.
func (db *DB) Brand(ctx context.Context, organization, id uuid.UUID) (Brand, error) {
	b, err := queryOne[Brand](ctx, db, "brands", organization, id, nil)
	return b, wrap(err, "find brand %s", id)
}

// BrandBySlug finds a brand of the organization, or ErrNotFound.
func (db *DB) BrandBySlug(ctx context.Context, organization uuid.UUID, slug string) (Brand, error) {
	b, err := queryOne[Brand](ctx, db, "brands", organization, nil, slug)
	return b, wrap(err, "find brand %q", slug)
}

// Snapshot reads a brand and its competitors in one statement, so that names and revision belong together; ErrNotFound
// if the brand does not exist.
func (db *DB) Snapshot(ctx context.Context, id uuid.UUID) (Snapshot, error) {
	s, err := queryOne[Snapshot](ctx, db, "brand_snapshot", id)
	return s, wrap(err, "read brand %s", id)
}

// CompetitorSlots returns the slots of a brand's competitors, their colours in charts, by id; nil for one without.
func (db *DB) CompetitorSlots(ctx context.Context, organization, brand uuid.UUID) (map[uuid.UUID]*int16, error) {
	type row struct {
		ID   uuid.UUID `db:"id"`
		Slot *int16    `db:"slot"`
	}
	rows, err := queryAll[row](ctx, db, "competitor_slots", organization, brand)
	slots := make(map[uuid.UUID]*int16, len(rows))
	for _, r := range rows {
		slots[r.ID] = r.Slot
	}
	return slots, err
}

// AddBrand adds a brand with its domains and competitors, all or nothing. If the organization has a brand of that slug,
// it returns that one unchanged, and added false.
func (db *DB) AddBrand(ctx context.Context, organization uuid.UUID, b NewBrand) (_ Brand, added bool, err error) {
	var brand Brand
	err = pgx.BeginFunc(ctx, db, func(tx Tx) (err error) {
		brand, err = queryOne[Brand](ctx, tx, "add_brand",
			organization, b.Name, b.Slug, b.Industry, b.Region, b.Language, b.Aliases)
		if err != nil {
			return err
		}
		if err := exec(ctx, tx, "add_brand_domains", brand.ID, b.Domains); err != nil {
			return err
		}
		for i, c := range b.Competitors {
			if err := exec(ctx, tx, "add_competitor", brand.ID, i, c.Name, c.Aliases, c.Domains); err != nil {
				return fmt.Errorf("competitor %q: %w", c.Name, err)
			}
		}
		return nil
	})
	if errors.Is(err, ErrConflict{"slug"}) {
		brand, err = db.BrandBySlug(ctx, organization, b.Slug)
		return brand, false, err
	}
	return brand, err == nil, wrap(err, "add brand %q", b.Name)
}

// BrandEdit holds the changes of a brand; a nil field stays, and "" removes the industry, region or language.
type BrandEdit struct {
	Name, Slug, Industry, Region, Language *string
	IsActive                               *bool
	Aliases, Domains                       ListEdit
}

// CompetitorEdit holds the changes of a competitor; a nil name stays.
type CompetitorEdit struct {
	Name             *string
	Aliases, Domains ListEdit
}

// ListEdit adds the entries that a list lacks, and removes others.
type ListEdit struct{ Add, Remove []string }

// EditBrand changes a brand with its domains, all or nothing. ErrConflict if another brand of the organization has the
// slug.
func (db *DB) EditBrand(ctx context.Context, brand uuid.UUID, e BrandEdit) error {
	err := pgx.BeginFunc(ctx, db, func(tx Tx) error {
		err := exec(ctx, tx, "edit_brand",
			brand, e.Name, e.Slug, e.Industry, e.Region, e.Language, e.IsActive, e.Aliases.Add, e.Aliases.Remove)
		if err != nil {
			return err
		}
		if err := exec(ctx, tx, "remove_brand_domains", brand, e.Domains.Remove); err != nil {
			return err
		}
		return exec(ctx, tx, "add_brand_domains", brand, e.Domains.Add)
	})
	return wrap(err, "edit brand %s", brand)
}

// RemoveBrand deletes a brand with everything that belongs to it, here at once and in the warehouse soon after.
// ErrNotFound if the brand does not exist.
func (db *DB) RemoveBrand(ctx context.Context, brand uuid.UUID) error {
	return wrap(execOne(ctx, db, "remove_brand", brand), "remove brand %s", brand)
}

// AddCompetitor adds a competitor to a brand. ErrConflict if the brand has one of that name.
func (db *DB) AddCompetitor(ctx context.Context, brand uuid.UUID, c NewCompetitor) error {
	return wrap(exec(ctx, db, "add_competitor", brand, 0, c.Name, c.Aliases, c.Domains), "add competitor %q", c.Name)
}

// EditCompetitor changes the competitor of that name. ErrNotFound if the brand has none, ErrConflict if it has the new
// name.
func (db *DB) EditCompetitor(ctx context.Context, brand uuid.UUID, name string, e CompetitorEdit) error {
	err := execOne(ctx, db, "edit_competitor",
		brand, name, e.Name, e.Aliases.Add, e.Aliases.Remove, e.Domains.Add, e.Domains.Remove)
	return wrap(err, "edit competitor %q", name)
}

// RemoveCompetitor deletes the competitor of that name. ErrNotFound if the brand has none.
func (db *DB) RemoveCompetitor(ctx context.Context, brand uuid.UUID, name string) error {
	return wrap(execOne(ctx, db, "remove_competitor", brand, name), "remove competitor %q", name)
}

// MaxName is the longest name, in bytes.
const MaxName = 512

// IsName reports whether brands, competitors, topics, keys and the like may have the name, as private.is_name does. A
// name with controls, or with characters that turn the direction of text, could be shown as another one.
func IsName(name string) bool {
	isHidden := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
	return len(name) <= MaxName && strings.Trim(name, " ") != "" && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, isHidden)
}
