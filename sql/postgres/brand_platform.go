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

// TrackedPlatforms returns where a brand is asked, enabled or not, by platform and model.
func (db *DB) TrackedPlatforms(ctx context.Context, brand uuid.UUID) ([]TrackedPlatform, error) {
	return queryAll[TrackedPlatform](ctx, db, "tracked_platforms", brand)
}

// AddBrandPlatform has a brand asked on a platform, with its default model ("") or another one: hourly, daily, weekly,
// monthly or by hand (manual). ErrConflict if it is.
func (db *DB) AddBrandPlatform(ctx context.Context, brand uuid.UUID, platform, model, frequency string) error {
	return wrap(exec(ctx, db, "add_brand_platform", brand, platform, model, frequency), "add platform %s", platform)
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
	err := execOne(ctx, db, "edit_brand_platform", brand, platform, model, e.CheckFrequency, e.IsEnabled)
	return wrap(err, "edit platform %s", platform)
}

// RemoveBrandPlatform has a brand no longer asked on a platform. ErrNotFound if it is not asked there.
func (db *DB) RemoveBrandPlatform(ctx context.Context, brand uuid.UUID, platform, model string) error {
	return wrap(execOne(ctx, db, "remove_brand_platform", brand, platform, model), "remove platform %s", platform)
}

// BrandPlatform is a platform where a brand's prompts are asked.
type BrandPlatform struct {
	Platform string `db:"platform"`
	Model    string `db:"model"` // "": the platform's default
}

// BrandPlatforms returns the enabled platforms of a brand.
func (db *DB) BrandPlatforms(ctx context.Context, brand uuid.UUID) ([]BrandPlatform, error) {
	return queryAll[BrandPlatform](ctx, db, "brand_platforms", brand)
}

// ScheduledPlatform is a platform where a brand is asked on a schedule.
type ScheduledPlatform struct {
	ID             uuid.UUID  `db:"id"`
	Platform       string     `db:"platform"`
	Model          string     `db:"model"`           // "": the platform's default
	CheckFrequency string     `db:"check_frequency"` // hourly, daily, weekly or monthly
	LastCheckedAt  *time.Time `db:"last_checked_at"`
	BrandID        uuid.UUID  `db:"brand_id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	TimeZone       string     `db:"time_zone"` // of the organization
}

// ScheduledPlatforms returns where active brands of an organization, or of all (nil), are asked on a schedule, brand by
// brand: those that may be due at now, or all of them.
func (db *DB) ScheduledPlatforms(ctx context.Context, organization *uuid.UUID, all bool, now time.Time) ([]ScheduledPlatform, error) {
	return queryAll[ScheduledPlatform](ctx, db, "scheduled_platforms", organization, all, now)
}

// SetChecked sets when each of some platforms is to be asked next, and that they were asked at an instant (nil: they
// were not).
func (db *DB) SetChecked(ctx context.Context, next map[uuid.UUID]time.Time, checked *time.Time) error {
	var ids []uuid.UUID
	var times []time.Time
	for id, at := range next {
		ids, times = append(ids, id), append(times, at)
	}
	return exec(ctx, db, "set_checked", ids, times, checked)
}
