package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

// engines are the engines of a short command.
type engines struct{ *service.Engines }

// with runs do on the engines that it needs.
func (p *process) with(ctx context.Context, need service.Needs, do func(context.Context, *engines) error) error {
	if err := p.Settings.Validate(); err != nil {
		return usageError{err}
	}
	e, err := p.Connect(ctx, need)
	if err != nil {
		return err
	}
	return do(ctx, &engines{e})
}

// organization finds an organization by its slug; the error of one that does not exist lists those that do.
func (e *engines) organization(ctx context.Context, slug string) (postgres.Organization, error) {
	o, err := e.DB.OrganizationBySlug(ctx, slug)
	if !errors.Is(err, postgres.ErrNotFound) {
		return o, err
	}
	list, err := e.DB.ListOrganizations(ctx)
	if err != nil {
		return o, err
	}
	return o, notFound("organization", slug, list, func(o postgres.Organization) string { return o.Slug }, "answerscope org add NAME")
}

// brand finds an organization and its brand by their slugs; "" is no brand.
func (e *engines) brand(ctx context.Context, org, slug string) (o postgres.Organization, b postgres.Brand, err error) {
	if o, err = e.organization(ctx, org); err != nil || slug == "" {
		return o, b, err
	}
	b, err = e.DB.BrandBySlug(ctx, o.ID, slug)
	if errors.Is(err, postgres.ErrNotFound) {
		err = e.noBrand(ctx, o, slug)
	}
	return o, b, err
}

// noBrand says that an organization has no such brand, and which it has.
func (e *engines) noBrand(ctx context.Context, o postgres.Organization, name string) error {
	list, err := e.DB.Brands(ctx, o.ID)
	if err != nil {
		return err
	}
	return notFound("brand", name, list, func(b postgres.Brand) string { return b.Slug }, "answerscope brand add NAME --org "+o.Slug)
}

// listedBy adds the command that lists what exists to an error that something does not; other errors stay.
func listedBy(command string, err error) error {
	if errors.Is(err, postgres.ErrNotFound) {
		return fmt.Errorf("%w; `%s` prints them", err, command)
	}
	return err
}

// notFound says what does not exist, what does instead, and how one is made.
func notFound[T any](what, name string, list []T, slug func(T) string, add string) error {
	if len(list) == 0 {
		return fmt.Errorf("%s %q %w: there is none yet; %s adds one", what, name, postgres.ErrNotFound, add)
	}
	var slugs []string
	for _, item := range list[:min(len(list), 20)] {
		slugs = append(slugs, slug(item))
	}
	more := ""
	if len(list) > len(slugs) {
		more = fmt.Sprintf(" and %d more", len(list)-len(slugs))
	}
	return fmt.Errorf("%s %q %w: want one of %s%s", what, name, postgres.ErrNotFound, strings.Join(slugs, ", "), more)
}
