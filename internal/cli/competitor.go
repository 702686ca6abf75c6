package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

type competitorCmd struct {
	Add    competitorAdd    `cmd:"" help:"Add a competitor to a brand."`
	Edit   competitorEdit   `cmd:"" help:"Change a competitor; what is not given stays."`
	List   competitorList   `cmd:"" help:"List the competitors of a brand."`
	Remove competitorRemove `cmd:"" help:"Remove a competitor from a brand."`
}

// brandFlags are the flags that name a brand.
type brandFlags struct {
	Org   string `required:"" placeholder:"SLUG" help:"The organization."`
	Brand string `required:"" placeholder:"SLUG" help:"Its brand."`
}

// with runs fn with the brand.
func (c *brandFlags) with(ctx context.Context, p *process, fn func(ctx context.Context, on *engines, brand postgres.Brand) error) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		_, b, err := on.brand(ctx, c.Org, c.Brand)
		if err != nil {
			return err
		}
		return fn(ctx, on, b)
	})
}

type competitorAdd struct {
	brandFlags `embed:""`
	Name       string   `arg:"" help:"Its name."`
	Domain     []string `placeholder:"HOST" help:"A site of its own; repeat it for more."`
	Alias      []string `sep:"none" placeholder:"NAME" help:"Another name that counts as a mention; repeat it for more."`
}

func (c *competitorAdd) Run(ctx context.Context, p *process) error {
	domains, err := namesAndDomains(append([]string{c.Name}, c.Alias...), c.Domain)
	if err != nil {
		return err
	}
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		return on.DB.AddCompetitor(ctx, b.ID, postgres.NewCompetitor{Name: c.Name, Aliases: c.Alias, Domains: domains})
	})
}

type competitorEdit struct {
	brandFlags   `embed:""`
	Competitor   string   `arg:"" help:"Its name."`
	Name         *string  `placeholder:"NAME" help:"Its new name."`
	Domain       []string `placeholder:"HOST" help:"A site to add; repeat it for more."`
	RemoveDomain []string `placeholder:"HOST" help:"A site to remove."`
	Alias        []string `sep:"none" placeholder:"NAME" help:"Another name to add; repeat it for more."`
	RemoveAlias  []string `sep:"none" placeholder:"NAME" help:"Another name to remove."`
}

func (c *competitorEdit) Run(ctx context.Context, p *process) error {
	domains, err := namesAndDomains(append(given(c.Name), c.Alias...), c.Domain)
	removed, wrong := hosts(c.RemoveDomain, imports.Host)
	if err := errors.Join(err, wrong); err != nil {
		return usageError{err}
	}
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		return on.noCompetitor(ctx, b, c.Competitor, on.DB.EditCompetitor(ctx, b.ID, c.Competitor, postgres.CompetitorEdit{
			Name:    c.Name,
			Aliases: postgres.ListEdit{Add: c.Alias, Remove: c.RemoveAlias}, Domains: postgres.ListEdit{Add: domains, Remove: removed},
		}))
	})
}

// noCompetitor makes of ErrNotFound what says which competitors there are; other errors stay.
func (e *engines) noCompetitor(ctx context.Context, b postgres.Brand, name string, err error) error {
	if !errors.Is(err, postgres.ErrNotFound) {
		return err
	}
	snapshot, err := e.DB.Snapshot(ctx, b.ID)
	if err != nil {
		return err
	}
	return notFound("competitor", name, snapshot.Competitors, func(c postgres.Competitor) string { return c.Name },
		fmt.Sprintf("answerscope competitor add NAME --brand %s", b.Slug))
}

type competitorList struct {
	brandFlags `embed:""`
	JSON       bool `name:"json" help:"One JSON object a line."`
}

func (c *competitorList) Run(ctx context.Context, p *process) error {
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		snapshot, err := on.DB.Snapshot(ctx, b.ID)
		if err != nil {
			return err
		}
		return printList(p, c.JSON, snapshot.Competitors, func(c postgres.Competitor) string {
			return strings.Join([]string{c.ID.String(), c.Name, strings.Join(c.Domains, ", "), strings.Join(c.Aliases, ", ")}, "\t")
		}, "ID", "NAME", "DOMAINS", "ALIASES")
	})
}

type competitorRemove struct {
	brandFlags `embed:""`
	Competitor string `arg:"" help:"Its name."`
}

func (c *competitorRemove) Run(ctx context.Context, p *process) error {
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		return on.noCompetitor(ctx, b, c.Competitor, on.DB.RemoveCompetitor(ctx, b.ID, c.Competitor))
	})
}
