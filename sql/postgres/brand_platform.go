package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/gofrs/uuid/v5"
)

// TrackedPlatform is a platform, with a model of it, where a brand is asked.
type TrackedPlatform struct {
	Platform       string     `db:"platform" json:"platform"`
	Model          string     `db:"model" json:"model"`                     // "": the platform's default
	CheckFrequency string     `db:"check_frequency" json:"check_frequency"` // hourly, daily, weekly, monthly or manual
	IsEnabled      bool       `db:"is_enabled" json:"is_enabled"`
	LastCheckedAt  *time.Time `db:"last_checked_at" json:"last_checked_at"` // nil: never
	NextCheckAt    *time.Time `db:"next_check_at" json:"next_check_at"`     // nil: the schedule has not looked yet
}

// BrandPlatformEdit is what to change of a brand's platform; nil stays.
type BrandPlatformEdit struct {
	CheckFrequency *string
	IsEnabled      *bool
}

var (
	trackedPlatforms    = query[TrackedPlatform]("tracked_platforms")
	addBrandPlatform    = query[none]("add_brand_platform")
	editBrandPlatform   = query[uuid.UUID]("edit_brand_platform")
	removeBrandPlatform = query[uuid.UUID]("remove_brand_platform")
)

// TrackedPlatforms returns where a brand is asked, enabled or not, by platform and model.
func (db *DB) TrackedPlatforms(ctx context.Context, brand uuid.UUID) ([]TrackedPlatform, error) {
	return trackedPlatforms.all(ctx, db, brand)
}

// AddBrandPlatform has a brand asked on a platform, with its default model ("") or another one: hourly, daily, weekly,
// monthly or by hand (manual). ErrConflict if it is.
func (db *DB) AddBrandPlatform(ctx context.Context, brand uuid.UUID, platform, model, frequency string) error {
	_, err := addBrandPlatform.run(ctx, db, brand, platform, model, frequency)
	return wrap(err, "add platform %s", platform)
}

// EnsureBrandPlatform adds a platform to a brand, with its default model, unless it is there.
func (db *DB) EnsureBrandPlatform(ctx context.Context, brand uuid.UUID, platform, frequency string) error {
	err := db.AddBrandPlatform(ctx, brand, platform, "", frequency)
	if _, there := errors.AsType[ErrConflict](err); there {
		return nil
	}
	return err
}

// EditBrandPlatform changes how often a brand is asked on a platform. ErrNotFound if it is not asked there.
func (db *DB) EditBrandPlatform(ctx context.Context, brand uuid.UUID, platform, model string, e BrandPlatformEdit) error {
	_, err := editBrandPlatform.one(ctx, db, brand, platform, model, e.CheckFrequency, e.IsEnabled)
	return wrap(err, "edit platform %s", platform)
}

// RemoveBrandPlatform has a brand no longer asked on a platform. ErrNotFound if it is not asked there.
func (db *DB) RemoveBrandPlatform(ctx context.Context, brand uuid.UUID, platform, model string) error {
	_, err := removeBrandPlatform.one(ctx, db, brand, platform, model)
	return wrap(err, "remove platform %s", platform)
}
