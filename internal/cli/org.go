package cli

import (
	"context"
	"fmt"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

type orgCmd struct {
	Add  orgAdd  `cmd:"" help:"Add an organization; prints its id and slug."`
	Edit orgEdit `cmd:"" help:"Change an organization; what is not given stays."`
	List orgList `cmd:"" help:"List organizations."`
}

type orgAdd struct {
	Name string `arg:"" help:"Its name."`
	Slug string `placeholder:"SLUG" help:"Its name in commands and addresses; made from NAME when absent."`
	JSON bool   `name:"json" help:"One JSON document."`
}

func (c *orgAdd) Run(ctx context.Context, p *process) error {
	if err := checkNames(c.Name); err != nil {
		return err
	}
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		added, err := on.DB.AddOrganization(ctx, c.Name, c.Slug)
		if err != nil {
			return err
		}
		return p.printResult(c.JSON, added, fmt.Sprintf("%s %s", added.ID, added.Slug))
	})
}

// checkNames checks names as the store does.
func checkNames(names ...string) error {
	for _, name := range names {
		if !postgres.IsName(name) {
			return usageError{fmt.Errorf("name %.40q: want 1 to %d bytes without control characters", name, postgres.MaxName)}
		}
	}
	return nil
}

type orgEdit struct {
	Slug     string  `arg:"" help:"Its slug, which stays."`
	Name     *string `placeholder:"NAME" help:"Its new name."`
	TimeZone *string `placeholder:"ZONE" help:"Of its days, such as Europe/Berlin."`
}

func (c *orgEdit) Run(ctx context.Context, p *process) error {
	if err := checkNames(given(c.Name)...); err != nil {
		return err
	}
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		return listedBy("answerscope org list", on.DB.EditOrganization(ctx, c.Slug, c.Name, c.TimeZone))
	})
}

type orgList struct {
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (c *orgList) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		list, err := on.DB.ListOrganizations(ctx)
		if err != nil {
			return err
		}
		return printList(p, c.JSON, list, func(o postgres.Organization) string { return fmt.Sprintf("%s\t%s\t%s", o.ID, o.Slug, o.Name) })
	})
}
