package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/gofrs/uuid/v5"
)

// TrackedPlatform is a platform and model where the prompts of a brand are asked.
type TrackedPlatform struct {
	Platform       string     `db:"platform" json:"platform"`
	Model          string     `db:"model" json:"model"`                     // "": the platform's default
	CheckFrequency string     `db:"check_frequency" json:"check_frequency"` // hourly, daily, weekly, monthly or manual
	IsEnabled      bool       `db:"is_enabled" json:"is_enabled"`
	LastCheckedAt  *time.Time `db:"last_checked_at" json:"last_checked_at"` // nil: never
	NextCheckAt    *time.Time `db:"next_check_at" json:"next_check_at"`     // nil: not scheduled yet
}

// BrandPlatformEdit holds the changes of a brand's platform; a nil field stays.
type BrandPlatformEdit struct {
	CheckFrequency *string
	IsEnabled      *bool
}

// TrackedPlatforms returns the platforms of a brand, disabled ones too, by platform and model.
func (db *DB) TrackedPlatforms(ctx context.Context, brand uuid.UUID) ([]TrackedPlatform, error) {
	return queryAll[TrackedPlatform](ctx, db, "tracked_platforms", brand)
}

// A BrandSchedule is when a brand is asked on a platform.
type BrandSchedule struct {
	BrandID     uuid.UUID  `db:"brand_id"`
	NextCheckAt *time.Time `db:"next_check_at"` // nil: not scheduled yet
	Hours       int        `db:"hours"`         // between two checks
	ScheduledAt time.Time  `db:"scheduled_at"`  // since when it has this schedule
}

// BrandSchedules returns the schedules of the active brands of an organization, except schedules of shopping platforms.
func (db *DB) BrandSchedules(ctx context.Context, organization uuid.UUID) ([]BrandSchedule, error) {
	return queryAll[BrandSchedule](ctx, db, "brand_schedules", organization)
}

// AddBrandPlatform adds a platform to a brand, with its default model ("") or another one; the frequency is hourly,
// daily, weekly, monthly or manual. ErrConflict if it exists.
func (db *DB) AddBrandPlatform(ctx context.Context, brand uuid.UUID, platform, model, frequency string) error {
	return wrap(exec(ctx, db, "add_brand_platform", brand, platform, model, frequency), "add platform %s", platform)
}

// EnsureBrandPlatform adds a platform to a brand, with its default model, unless it exists.
func (db *DB) EnsureBrandPlatform(ctx context.Context, brand uuid.UUID, platform, frequency string) error {
	err := db.AddBrandPlatform(ctx, brand, platform, "", frequency)
	if _, exists := errors.AsType[ErrConflict](err); exists {
		return nil
	}
	return err
}

// EditBrandPlatform changes a platform of a brand. ErrNotFound if the brand does not have it.
func (db *DB) EditBrandPlatform(
	ctx context.Context, brand uuid.UUID, platform, model string, e BrandPlatformEdit,
) error {
	err := execOne(ctx, db, "edit_brand_platform", brand, platform, model, e.CheckFrequency, e.IsEnabled)
	return wrap(err, "edit platform %s", platform)
}

// RemoveBrandPlatform removes a platform from a brand. ErrNotFound if the brand does not have it.
func (db *DB) RemoveBrandPlatform(ctx context.Context, brand uuid.UUID, platform, model string) error {
	return wrap(execOne(ctx, db, "remove_brand_platform", brand, platform, model), "remove platform %s", platform)
}

// ScheduledPlatform is a platform of a brand that is asked on a schedule, or the default platforms of a brand that has
// none of its own.
type ScheduledPlatform struct {
	ID             uuid.UUID  `db:"id"`              // of the default platforms the brand's
	Platform       string     `db:"platform"`        // "": the default platforms
	Model          string     `db:"model"`           // "": the platform's default
	CheckFrequency string     `db:"check_frequency"` // hourly, daily, weekly or monthly
	LastCheckedAt  *time.Time `db:"last_checked_at"`
	BrandID        uuid.UUID  `db:"brand_id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	TimeZone       string     `db:"time_zone"` // of the organization
	NotDue         string     `db:"not_due"`   // why it is not on the schedule; "": it is
}

// ScheduledPlatforms returns the platforms of a brand, of an organization's brands, or of all (nil and nil), brand by
// brand: those on the schedule that may be due at now, or all.
func (db *DB) ScheduledPlatforms(
	ctx context.Context, organization, brand *uuid.UUID, all bool, now time.Time,
) ([]ScheduledPlatform, error) {
	return queryAll[ScheduledPlatform](ctx, db, "scheduled_platforms", organization, brand, all, now)
}

// SetChecked sets the next check of platforms by their ids, and the time of their last one unless it is nil.
func (db *DB) SetChecked(ctx context.Context, next map[uuid.UUID]time.Time, checked *time.Time) error {
	return exec(ctx, db, "set_checked", next, checked)
}

// PostponeDefault stores that a brand cannot be asked on any default platform before an instant.
func (db *DB) PostponeDefault(ctx context.Context, brand uuid.UUID, until time.Time) error {
	return exec(ctx, db, "postpone_default_check", brand, until)
}
