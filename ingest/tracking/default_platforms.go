package tracking

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform/catalog"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Words of Parts.DefaultPlatforms that are no platforms.
const (
	WithKey   = "with-key" // every API that has a key
	NoDefault = "none"
)

var errNoDefault = errors.New("it has no platforms, and no default one has a key")

// CheckDefaultPlatforms refuses names that are no platforms.
func CheckDefaultPlatforms(names []string) error {
	for _, name := range names {
		_, isPlatform := catalog.Find(name)
		if !isPlatform && name != WithKey && (name != NoDefault || len(names) > 1) {
			return problem.New(problem.Invalid,
				"want names of platforms, such as openai, and %s, or %s alone, got %.60q", WithKey, NoDefault, name)
		}
	}
	return nil
}

// defaultTargets returns the targets of a brand that has no platforms of its own. errNoDefault: there are none.
func (j *Jobs) defaultTargets(
	ctx context.Context, organization uuid.UUID, slot time.Time,
) (targets []Target, err error) {
	if organization == postgres.PanelOrganization { // it has a setting of its own
		return nil, errNoDefault
	}
	platforms, err := j.availablePlatforms(ctx, organization)
	for _, p := range platforms {
		isDefault := slices.Contains(j.DefaultPlatforms, p.Slug) ||
			slices.Contains(j.DefaultPlatforms, WithKey) && p.NeedsKey && !isSurface(p.Slug)
		if isDefault && p.Unavailable == "" {
			targets = append(targets, Target{Platform: p.Slug, Slot: slot})
		}
	}
	if err == nil && len(targets) == 0 {
		err = errNoDefault
	}
	return targets, err
}

// schedules returns the scheduled platforms of a brand, or else the default ones.
func (j *Jobs) schedules(
	ctx context.Context, brand postgres.Brand, now time.Time,
) (schedules []postgres.ScheduledPlatform, err error) {
	rows, err := j.DB.ScheduledPlatforms(ctx, &brand.OrganizationID, &brand.ID, true, now)
	for _, row := range rows {
		switch {
		case row.NotDue != "":
		case row.Platform != "":
			schedules = append(schedules, row)
		default:
			targets, err := j.defaultTargets(ctx, brand.OrganizationID, now)
			if err != nil && !errors.Is(err, errNoDefault) {
				return nil, err
			}
			for _, target := range targets {
				row.Platform = target.Platform
				schedules = append(schedules, row)
			}
		}
	}
	return schedules, err
}
