package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/webhook"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Engines of short commands: kong connects to them when a command's Run takes one of these types, or *postgres.DB.
type (
	databases  struct{ *service.Engines }
	everything struct{ *service.Engines }
)

// bindEngines has kong connect to the engines that the Run of the chosen command takes.
func (p *process) bindEngines(chosen *kong.Context) error {
	return errors.Join(
		chosen.BindSingletonProvider(func(ctx context.Context) (*postgres.DB, error) {
			e, err := p.connect(ctx, service.Control)
			if err != nil {
				return nil, err
			}
			return e.DB, nil
		}),
		chosen.BindSingletonProvider(func(ctx context.Context) (databases, error) {
			e, err := p.connect(ctx, service.Databases)
			return databases{e}, err
		}),
		chosen.BindSingletonProvider(func(ctx context.Context) (everything, error) {
			e, err := p.connect(ctx, service.Everything)
			return everything{e}, err
		}),
		chosen.BindSingletonProvider(func(db *postgres.DB) (*webhook.Manager, error) {
			return queryapi.NewWebhooks(queryapi.Deps{DB: db, Settings: p.Settings})
		}),
	)
}

// connect opens the engines that a command needs, once their settings are right.
func (p *process) connect(ctx context.Context, need service.Needs) (*service.Engines, error) {
	if err := p.Settings.Validate(); err != nil {
		return nil, usageError{err}
	}
	return p.Connect(ctx, need)
}

// publicURL returns the address of the installation in browsers, as far as a command knows it.
func publicURL(e *service.Engines) string {
	return cmp.Or(e.Settings.PublicURL, e.Address(), "http://127.0.0.1:8080")
}

// orgFlags name an organization, which Run may take.
type orgFlags struct {
	Org string `required:"" placeholder:"SLUG" help:"The organization."`
}

// ProvideOrganization is called by kong. A Run that takes the organization takes *postgres.DB before it, so that kong
// adds no type's name to an error of the connection.
func (f orgFlags) ProvideOrganization(ctx context.Context, db *postgres.DB) (postgres.Organization, error) {
	return findOrganization(ctx, db, f.Org)
}

// brandFlags name a brand, which Run may take, after *postgres.DB.
type brandFlags struct {
	Org   string `required:"" placeholder:"SLUG" help:"The organization."`
	Brand string `required:"" placeholder:"SLUG" help:"Its brand."`
}

// ProvideBrand is called by kong.
func (f brandFlags) ProvideBrand(ctx context.Context, db *postgres.DB) (postgres.Brand, error) {
	_, brand, err := findBrand(ctx, db, f.Org, f.Brand)
	return brand, err
}

// findOrganization finds an organization by its slug; the error of one that does not exist lists those that do.
func findOrganization(ctx context.Context, db *postgres.DB, slug string) (postgres.Organization, error) {
	o, err := db.OrganizationBySlug(ctx, slug)
	if !errors.Is(err, postgres.ErrNotFound) {
		return o, err
	}
	list, err := db.ListOrganizations(ctx)
	if err != nil {
		return o, err
	}
	return o, notFound("organization", slug, list, func(o postgres.Organization) string { return o.Slug },
		"answerscope org add NAME")
}

// findBrand finds an organization and its brand by their slugs; "" is no brand.
func findBrand(
	ctx context.Context, db *postgres.DB, org, slug string,
) (o postgres.Organization, b postgres.Brand, err error) {
	if o, err = findOrganization(ctx, db, org); err != nil || slug == "" {
		return o, b, err
	}
	b, err = db.BrandBySlug(ctx, o.ID, slug)
	if errors.Is(err, postgres.ErrNotFound) {
		err = noBrand(ctx, db, o, slug)
	}
	return o, b, err
}

// findAnyBrand finds a brand by its slug in the named organization, else in the only one with such a brand.
func findAnyBrand(ctx context.Context, db *postgres.DB, org, slug string) (brand postgres.Brand, err error) {
	if org != "" {
		_, brand, err = findBrand(ctx, db, org, slug)
		return brand, err
	}
	list, err := db.ListOrganizations(ctx)
	if err != nil {
		return brand, err
	}
	var owners []string
	for _, o := range list {
		candidate, err := db.BrandBySlug(ctx, o.ID, slug)
		switch {
		case err == nil:
			brand, owners = candidate, append(owners, o.Slug)
		case !errors.Is(err, postgres.ErrNotFound):
			return brand, err
		}
	}
	switch len(owners) {
	case 0:
		return brand, fmt.Errorf("brand %q %w in any organization: `answerscope org list` and `answerscope brand list "+
			"--org SLUG` list what there is", slug, postgres.ErrNotFound)
	case 1:
		return brand, nil
	}
	return brand, usageError{fmt.Errorf("several organizations have a brand %s: want --org, one of %s", slug,
		strings.Join(owners, ", "))}
}

// noBrand is the error of a brand that an organization does not have; it lists those that it has.
func noBrand(ctx context.Context, db *postgres.DB, o postgres.Organization, name string) error {
	list, err := db.Brands(ctx, o.ID)
	if err != nil {
		return err
	}
	return notFound("brand", name, list, func(b postgres.Brand) string { return b.Slug },
		"answerscope brand add NAME --org "+o.Slug)
}

// suggestList adds the command that lists what exists to an error that something does not; other errors stay.
func suggestList(command string, err error) error {
	if errors.Is(err, postgres.ErrNotFound) {
		return fmt.Errorf("%w; `%s` prints them", err, command)
	}
	return err
}

// notFound is the error of a name that does not exist: it lists those that do, or names the command that adds one.
func notFound[T any](kind, name string, list []T, slug func(T) string, add string) error {
	if len(list) == 0 {
		return fmt.Errorf("%s %q %w: there is none yet; %s adds one", kind, name, postgres.ErrNotFound, add)
	}
	var slugs []string
	for _, item := range list[:min(len(list), 20)] {
		slugs = append(slugs, slug(item))
	}
	more := ""
	if len(list) > len(slugs) {
		more = fmt.Sprintf(" and %d more", len(list)-len(slugs))
	}
	return fmt.Errorf("%s %q %w: want one of %s%s", kind, name, postgres.ErrNotFound, strings.Join(slugs, ", "), more)
}
