package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/platform/catalog"
	"github.com/answerscope/answerscope/sql/postgres"
)

type brandPlatformCmd struct {
	Add    brandPlatformAdd    `cmd:"" help:"Have a brand asked on an AI platform."`
	Edit   brandPlatformEdit   `cmd:"" help:"Change how often a brand is asked on a platform; what is not given stays."`
	List   brandPlatformList   `cmd:"" help:"List where a brand is asked, how often, and when."`
	Remove brandPlatformRemove `cmd:"" help:"Have a brand no longer asked on a platform; its answers stay."`
}

// brandPlatformFlags names one of a brand's platforms.
type brandPlatformFlags struct {
	brandFlags `embed:""`
	Platform   string `arg:"" help:"${platforms}."`
	Model      string `placeholder:"SLUG" help:"The model that is asked there, in place of the platform's default."`
}

type brandPlatformAdd struct {
	brandPlatformFlags
	Frequency string `default:"daily" enum:"hourly,daily,weekly,monthly,manual" placeholder:"WORD" help:"hourly, daily, weekly, monthly, or manual: only by track (default daily)."`
}

func (c *brandPlatformAdd) Run(ctx context.Context, p *process) error {
	if known := strings.Split(catalog.Slugs(), ", "); !slices.Contains(known, c.Platform) {
		return usageError{fmt.Errorf("platform %q: want one of %s", c.Platform, catalog.Slugs())}
	}
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		return on.DB.AddBrandPlatform(ctx, b.ID, c.Platform, c.Model, c.Frequency)
	})
}

type brandPlatformEdit struct {
	brandPlatformFlags
	Frequency *string `enum:"hourly,daily,weekly,monthly,manual" placeholder:"WORD" help:"hourly, daily, weekly, monthly, or manual: only by track."`
	Enabled   *bool   `negatable:"" help:"Ask it there, or with --no-enabled keep the platform as it is."`
}

func (c *brandPlatformEdit) Run(ctx context.Context, p *process) error {
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		edit := postgres.BrandPlatformEdit{CheckFrequency: c.Frequency, IsEnabled: c.Enabled}
		return listedBy("answerscope brand platform list", on.DB.EditBrandPlatform(ctx, b.ID, c.Platform, c.Model, edit))
	})
}

type brandPlatformList struct {
	brandFlags `embed:""`
	JSON       bool `name:"json" help:"One JSON object a line."`
}

func (c *brandPlatformList) Run(ctx context.Context, p *process) error {
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		list, err := on.DB.TrackedPlatforms(ctx, b.ID)
		if err != nil {
			return err
		}
		return printList(p, c.JSON, list, func(t postgres.TrackedPlatform) string {
			state, last := "enabled", "never"
			if !t.IsEnabled {
				state = "disabled"
			}
			if t.LastCheckedAt != nil {
				last = t.LastCheckedAt.Format(time.DateTime)
			}
			return strings.Join([]string{t.Platform, cmp.Or(t.Model, "(default)"), t.CheckFrequency, state, last}, "\t")
		}, "PLATFORM", "MODEL", "FREQUENCY", "STATE", "LAST ASKED")
	})
}

type brandPlatformRemove struct{ brandPlatformFlags }

func (c *brandPlatformRemove) Run(ctx context.Context, p *process) error {
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		return listedBy("answerscope brand platform list", on.DB.RemoveBrandPlatform(ctx, b.ID, c.Platform, c.Model))
	})
}
