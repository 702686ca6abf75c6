package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/answerscope/answerscope/sql/postgres"
)

type competitorCmd struct {
	Add    competitorAdd    `cmd:"" help:"Add a competitor to a brand."`
	Edit   competitorEdit   `cmd:"" help:"Change a competitor; what is not given stays."`
	List   competitorList   `cmd:"" help:"List the competitors of a brand."`
	Remove competitorRemove `cmd:"" help:"Remove a competitor from a brand."`
}

type competitorAdd struct {
	brandFlags
	entityFlags
}

func (c *competitorAdd) Run(ctx context.Context, db *postgres.DB, brand postgres.Brand) error {
	return db.AddCompetitor(ctx, brand.ID, postgres.NewCompetitor{Name: c.Name, Aliases: c.Alias, Domains: c.Domain})
}

type competitorEdit struct {
	brandFlags
	entityEditFlags
	Competitor string `arg:"" help:"Its name."`
}

func (c *competitorEdit) Run(ctx context.Context, db *postgres.DB, brand postgres.Brand) error {
	edit := postgres.CompetitorEdit{Name: c.Name, Aliases: c.aliases(), Domains: c.domains()}
	return noCompetitor(ctx, db, brand, c.Competitor, db.EditCompetitor(ctx, brand.ID, c.Competitor, edit))
}

// noCompetitor adds the competitors of a brand to the error that it has none of a name; other errors stay.
func noCompetitor(ctx context.Context, db *postgres.DB, brand postgres.Brand, name string, err error) error {
	if !errors.Is(err, postgres.ErrNotFound) {
		return err
	}
	snapshot, err := db.Snapshot(ctx, brand.ID)
	if err != nil {
		return err
	}
	return notFound("competitor", name, snapshot.Competitors, func(c postgres.Competitor) string { return c.Name },
		"answerscope competitor add NAME --brand "+brand.Slug)
}

type competitorList struct {
	brandFlags
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (c *competitorList) Run(ctx context.Context, p *process, db *postgres.DB, brand postgres.Brand) error {
	snapshot, err := db.Snapshot(ctx, brand.ID)
	if err != nil {
		return err
	}
	return printList(p, c.JSON, snapshot.Competitors, func(c postgres.Competitor) string {
		return strings.Join([]string{c.ID.String(), c.Name, strings.Join(c.Domains, ", "),
			strings.Join(c.Aliases, ", ")}, "\t")
	}, "ID", "NAME", "DOMAINS", "ALIASES")
}

type competitorRemove struct {
	brandFlags
	Competitor string `arg:"" help:"Its name."`
}

func (c *competitorRemove) Run(ctx context.Context, db *postgres.DB, brand postgres.Brand) error {
	return noCompetitor(ctx, db, brand, c.Competitor, db.RemoveCompetitor(ctx, brand.ID, c.Competitor))
}
