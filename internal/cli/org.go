package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/answerscope/answerscope/sql/postgres"
)

type org struct {
	Add  orgAdd  `cmd:"" help:"Add an organization; prints its id and slug."`
	List orgList `cmd:"" help:"List organizations."`
}

type orgAdd struct {
	Name string `arg:"" help:"Its name."`
	Slug string `placeholder:"SLUG" help:"Its name in commands and addresses; made from NAME when absent."`
	JSON bool   `name:"json" help:"One JSON document."`
}

func (orgAdd) Help() string {
	return "Example:\n\n  answerscope org add \"Acme Outdoor\" --slug acme"
}

// organization is how one is printed.
type organization struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Slug      string    `json:"slug"`
	CreatedAt time.Time `json:"created_at"`
}

func printed(o postgres.Organization) organization {
	return organization{o.ID.String(), o.Name, o.Slug, o.CreatedAt}
}

func (c *orgAdd) Run(ctx context.Context, p *process) error {
	return p.controlling(ctx, "org add", func(ctx context.Context, db *postgres.DB) error {
		added, err := db.AddOrganization(ctx, c.Name, c.Slug)
		if err != nil {
			return err
		}
		if c.JSON {
			return p.printJSON(printed(added))
		}
		return p.print(fmt.Sprintf("%s %s", added.ID, added.Slug))
	})
}

type orgList struct {
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (orgList) Help() string { return "Example:\n\n  answerscope org list --json" }

func (c *orgList) Run(ctx context.Context, p *process) error {
	return p.controlling(ctx, "org list", func(ctx context.Context, db *postgres.DB) error {
		list, err := db.ListOrganizations(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		for _, o := range list {
			if c.JSON {
				if err := p.printJSON(printed(o)); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(table, "%s\t%s\t%s\n", o.ID, o.Slug, o.Name)
		}
		return table.Flush()
	})
}

// controlling runs a chore on the control plane.
func (p *process) controlling(ctx context.Context, command string, chore func(context.Context, *postgres.DB) error) error {
	return p.with(ctx, needs{postgres: true}, command, func(ctx context.Context, e *engines) error {
		db, err := e.openPostgres(ctx)
		if err != nil {
			return err
		}
		defer db.Close()
		return chore(ctx, db)
	})
}
