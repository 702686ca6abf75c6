package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/ingest/platform/catalog"
	"github.com/answerscope/answerscope/sql/postgres"
)

type brandCmd struct {
	Add    brandAdd    `cmd:"" help:"Add a brand; prints its id and slug."`
	Edit   brandEdit   `cmd:"" help:"Change a brand; what is not given stays."`
	List   brandList   `cmd:"" help:"List the brands of an organization."`
	Remove brandRemove `cmd:"" help:"Delete a brand with its prompts, answers and visits, permanently."`

	Platform brandPlatformCmd `cmd:"" help:"Add, change, list and remove where a brand is asked, and how often."`
}

// entityFlags are the names and sites of a new brand or competitor.
type entityFlags struct {
	Name   string   `arg:"" help:"Its name."`
	Domain []string `placeholder:"HOST" help:"A site of its own; repeat it for more, the primary one first."`
	Alias  []string `sep:"none" placeholder:"NAME" help:"Another name that counts as a mention; repeat it for more."`
}

// Validate checks the names, and brings the domains into the form that the database keeps.
func (f *entityFlags) Validate() error {
	return errors.Join(checkNames(append([]string{f.Name}, f.Alias...)...), normalize(f.Domain, imports.Domain))
}

// entityEditFlags are changes of the names and sites of a brand or competitor.
type entityEditFlags struct {
	Name         *string  `placeholder:"NAME" help:"Its new name."`
	Domain       []string `placeholder:"HOST" help:"A site to add; repeat it for more."`
	RemoveDomain []string `placeholder:"HOST" help:"A site to remove."`
	Alias        []string `sep:"none" placeholder:"NAME" help:"Another name to add; repeat it for more."`
	RemoveAlias  []string `sep:"none" placeholder:"NAME" help:"Another name to remove."`
}

// Validate checks as entityFlags do.
func (f *entityEditFlags) Validate() error {
	names := append(optional(f.Name), f.Alias...)
	return errors.Join(checkNames(names...), normalize(f.Domain, imports.Domain),
		normalize(f.RemoveDomain, imports.Host))
}

func (f *entityEditFlags) aliases() postgres.ListEdit {
	return postgres.ListEdit{Add: f.Alias, Remove: f.RemoveAlias}
}

func (f *entityEditFlags) domains() postgres.ListEdit {
	return postgres.ListEdit{Add: f.Domain, Remove: f.RemoveDomain}
}

// normalize replaces each domain by its normal form.
func normalize(domains []string, form func(text string) (string, error)) error {
	for i, domain := range domains {
		host, err := form(domain)
		if err != nil {
			return err
		}
		domains[i] = host
	}
	return nil
}

type brandAdd struct {
	entityFlags
	orgFlags
	Slug     string `placeholder:"SLUG" help:"Its name in commands and addresses; made from NAME when absent."`
	Industry string `placeholder:"TEXT" help:"Such as: lighting."`
	Region   string `placeholder:"CODE" help:"Where it sells, such as US."`
	Language string `placeholder:"CODE" help:"Such as en."`
	JSON     bool   `name:"json" help:"One JSON document."`
}

func (c *brandAdd) Run(ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization) error {
	brand, added, err := db.AddBrand(ctx, organization.ID, postgres.NewBrand{
		Name: c.Name, Slug: c.Slug, Industry: c.Industry, Region: c.Region, Language: c.Language, Aliases: c.Alias,
		Domains: c.Domain,
	})
	if err == nil && !added {
		err = fmt.Errorf("brand %q exists already; answerscope brand edit changes it", c.Slug)
	}
	if err != nil {
		return err
	}
	return p.printResult(c.JSON, struct {
		ID   uuid.UUID `json:"id"`
		Slug string    `json:"slug"`
	}{brand.ID, brand.Slug}, fmt.Sprintf("%s %s", brand.ID, brand.Slug))
}

// brandArg names the brand that a command changes.
type brandArg struct {
	Brand string `arg:"" help:"Its slug."`
	Org   string `required:"" placeholder:"SLUG" help:"The organization."`
}

// ProvideBrand is called by kong.
func (f brandArg) ProvideBrand(ctx context.Context, db *postgres.DB) (postgres.Brand, error) {
	return brandFlags{f.Org, f.Brand}.ProvideBrand(ctx, db)
}

type brandEdit struct {
	brandArg
	entityEditFlags
	Slug     *string `placeholder:"SLUG" help:"Its new slug."`
	Industry *string `placeholder:"TEXT" help:"Its industry; \"\" for none."`
	Region   *string `placeholder:"CODE" help:"Its region; \"\" for none."`
	Language *string `placeholder:"CODE" help:"Its language; \"\" for none."`
	Active   *bool   `negatable:"" help:"Track it, or with --no-active keep it as it is."`
}

func (c *brandEdit) Run(ctx context.Context, db *postgres.DB, brand postgres.Brand) error {
	return db.EditBrand(ctx, brand.ID, postgres.BrandEdit{
		Name: c.Name, Slug: c.Slug, Industry: c.Industry, Region: c.Region, Language: c.Language, IsActive: c.Active,
		Aliases: c.aliases(), Domains: c.domains(),
	})
}

type brandList struct {
	orgFlags
	JSON bool `name:"json" help:"One JSON object a line."`
}

// listedBrand is a brand in a list.
type listedBrand struct {
	ID       uuid.UUID `json:"id"`
	Slug     string    `json:"slug"`
	Name     string    `json:"name"`
	Aliases  []string  `json:"aliases"`
	Domains  []string  `json:"domains"`
	IsActive bool      `json:"is_active"`
}

func (c *brandList) Run(ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization) error {
	brands, err := db.Brands(ctx, organization.ID)
	if err != nil {
		return err
	}
	var list []listedBrand
	for _, b := range brands {
		snapshot, err := db.Snapshot(ctx, b.ID)
		if errors.Is(err, postgres.ErrNotFound) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return err
		}
		list = append(list, listedBrand{b.ID, b.Slug, b.Name, snapshot.Aliases, snapshot.Domains, b.IsActive})
	}
	return printList(p, c.JSON, list, func(b listedBrand) string {
		return strings.Join([]string{b.ID.String(), b.Slug, b.Name, strings.Join(b.Domains, ", "),
			strings.Join(b.Aliases, ", ")}, "\t")
	}, "ID", "SLUG", "NAME", "DOMAINS", "ALIASES")
}

type brandRemove struct {
	brandArg
	Yes bool `help:"Do it; without it nothing is deleted."`
}

func (c *brandRemove) Run(ctx context.Context, db *postgres.DB, brand postgres.Brand) error {
	if !c.Yes {
		return usageError{fmt.Errorf("brand %q would be deleted permanently, with its competitors, prompts, "+
			"answers, visits and crawls: add --yes if it should", brand.Slug)}
	}
	return db.RemoveBrand(ctx, brand.ID)
}

type brandPlatformCmd struct {
	Add    brandPlatformAdd    `cmd:"" help:"Have a brand asked on an AI platform."`
	Edit   brandPlatformEdit   `cmd:"" help:"Change how often a brand is asked on a platform; what is not given stays."`
	List   brandPlatformList   `cmd:"" help:"List where a brand is asked, how often, and when."`
	Remove brandPlatformRemove `cmd:"" help:"Have a brand no longer asked on a platform; its answers stay."`
}

// brandPlatformFlags name one of a brand's platforms.
type brandPlatformFlags struct {
	brandFlags
	Platform string `arg:"" help:"${platforms}."`
	Model    string `placeholder:"SLUG" help:"The model that is asked there, in place of the platform's default."`
}

const listsBrandPlatforms = "answerscope brand platform list"

type brandPlatformAdd struct {
	brandPlatformFlags
	Frequency string `default:"daily" enum:"${frequencies}" placeholder:"WORD" help:"{frequency} (default daily)."`
}

// Validate checks the platform.
func (c *brandPlatformAdd) Validate() error {
	if !slices.Contains(strings.Split(catalog.Slugs(), ", "), c.Platform) {
		return fmt.Errorf("platform %q: want one of %s", c.Platform, catalog.Slugs())
	}
	return nil
}

func (c *brandPlatformAdd) Run(ctx context.Context, db *postgres.DB, brand postgres.Brand) error {
	return db.AddBrandPlatform(ctx, brand.ID, c.Platform, c.Model, c.Frequency)
}

type brandPlatformEdit struct {
	brandPlatformFlags
	Frequency *string `enum:"${frequencies}" placeholder:"WORD" help:"{frequency}."`
	Enabled   *bool   `negatable:"" help:"Ask it there, or with --no-enabled keep the platform as it is."`
}

func (c *brandPlatformEdit) Run(ctx context.Context, db *postgres.DB, brand postgres.Brand) error {
	edit := postgres.BrandPlatformEdit{CheckFrequency: c.Frequency, IsEnabled: c.Enabled}
	return suggestList(listsBrandPlatforms, db.EditBrandPlatform(ctx, brand.ID, c.Platform, c.Model, edit))
}

type brandPlatformList struct {
	brandFlags
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (c *brandPlatformList) Run(ctx context.Context, p *process, db *postgres.DB, brand postgres.Brand) error {
	return asList(db.TrackedPlatforms(ctx, brand.ID)).print(p, c.JSON, func(t postgres.TrackedPlatform) string {
		state, last := "enabled", "never"
		if !t.IsEnabled {
			state = "disabled"
		}
		if t.LastCheckedAt != nil {
			last = t.LastCheckedAt.Format(time.DateTime)
		}
		return strings.Join([]string{t.Platform, cmp.Or(t.Model, "(default)"), t.CheckFrequency, state, last}, "\t")
	}, "PLATFORM", "MODEL", "FREQUENCY", "STATE", "LAST ASKED")
}

type brandPlatformRemove struct{ brandPlatformFlags }

func (c *brandPlatformRemove) Run(ctx context.Context, db *postgres.DB, brand postgres.Brand) error {
	return suggestList(listsBrandPlatforms, db.RemoveBrandPlatform(ctx, brand.ID, c.Platform, c.Model))
}
