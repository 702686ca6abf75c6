package postgres

import (
	"context"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// BrandEdit is what to change of a brand; nil stays. "" is no industry, region or language.
type BrandEdit struct {
	Name, Slug, Industry, Region, Language *string
	IsActive                               *bool
	Aliases, Domains                       ListEdit
}

// CompetitorEdit is what to change of a competitor; a nil name stays.
type CompetitorEdit struct {
	Name             *string
	Aliases, Domains ListEdit
}

// ListEdit adds what a list lacks, and removes from it.
type ListEdit struct{ Add, Remove []string }

// EditBrand changes a brand with its domains, all or nothing. ErrConflict if another brand of the organization has the
// slug.
func (db *DB) EditBrand(ctx context.Context, brand uuid.UUID, e BrandEdit) error {
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		err := exec(ctx, tx, "edit_brand", brand, e.Name, e.Slug, e.Industry, e.Region, e.Language, e.IsActive, e.Aliases.Add, e.Aliases.Remove)
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
// ErrNotFound if there is no such brand.
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
	err := execOne(ctx, db, "edit_competitor", brand, name, e.Name, e.Aliases.Add, e.Aliases.Remove, e.Domains.Add, e.Domains.Remove)
	return wrap(err, "edit competitor %q", name)
}

// RemoveCompetitor deletes the competitor of that name. ErrNotFound if the brand has none.
func (db *DB) RemoveCompetitor(ctx context.Context, brand uuid.UUID, name string) error {
	return wrap(execOne(ctx, db, "remove_competitor", brand, name), "remove competitor %q", name)
}
