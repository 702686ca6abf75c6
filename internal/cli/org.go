package cli

import (
	"context"
	"fmt"
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
	return p.with(ctx, needs{Postgres: true}, "org add", func(ctx context.Context, on *connections) error {
		added, err := on.db.AddOrganization(ctx, c.Name, c.Slug)
		if err != nil {
			return err
		}
		return p.printResult(c.JSON, printed(added), fmt.Sprintf("%s %s", added.ID, added.Slug))
	})
}

type orgList struct {
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (orgList) Help() string { return "Example:\n\n  answerscope org list --json" }

func (c *orgList) Run(ctx context.Context, p *process) error {
	return p.with(ctx, needs{Postgres: true}, "org list", func(ctx context.Context, on *connections) error {
		list, err := on.db.ListOrganizations(ctx)
		if err != nil {
			return err
		}
		var shown []organization
		for _, o := range list {
			shown = append(shown, printed(o))
		}
		return printList(p, c.JSON, shown, func(o organization) string { return o.ID + "\t" + o.Slug + "\t" + o.Name })
	})
}
