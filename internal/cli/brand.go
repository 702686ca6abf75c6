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

type brandCmd struct {
	Add    brandAdd    `cmd:"" help:"Add a brand; prints its id and slug."`
	Edit   brandEdit   `cmd:"" help:"Change a brand; what is not given stays."`
	List   brandList   `cmd:"" help:"List the brands of an organization."`
	Remove brandRemove `cmd:"" help:"Delete a brand with its prompts, answers and visits, for ever."`

	Platform brandPlatformCmd `cmd:"" help:"Add, change, list and remove where a brand is asked, and how often."`
}

type brandAdd struct {
	Name     string   `arg:"" help:"Its name."`
	Org      string   `required:"" placeholder:"SLUG" help:"Whose it is."`
	Slug     string   `placeholder:"SLUG" help:"Its name in commands and addresses; made from NAME when absent."`
	Domain   []string `placeholder:"HOST" help:"A site of its own; repeat it for more. The first is the primary one."`
	Alias    []string `sep:"none" placeholder:"NAME" help:"Another name that counts as a mention; repeat it for more."`
	Industry string   `placeholder:"TEXT" help:"Such as: lighting."`
	Region   string   `placeholder:"CODE" help:"Where it sells, such as US."`
	Language string   `placeholder:"CODE" help:"Such as en."`
	JSON     bool     `name:"json" help:"One JSON document."`
}

func (c *brandAdd) Run(ctx context.Context, p *process) error {
	domains, err := namesAndDomains(append([]string{c.Name}, c.Alias...), c.Domain)
	if err != nil {
		return err
	}
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		organization, err := on.organization(ctx, c.Org)
		if err != nil {
			return err
		}
		made, added, err := on.DB.AddBrand(ctx, organization.ID, postgres.NewBrand{
			Name: c.Name, Slug: c.Slug, Industry: c.Industry, Region: c.Region, Language: c.Language, Aliases: c.Alias, Domains: domains,
		})
		if err == nil && !added {
			err = fmt.Errorf("brand %q is there already; answerscope brand edit changes it", c.Slug)
		}
		if err != nil {
			return err
		}
		return p.printResult(c.JSON, struct {
			ID   string `json:"id"`
			Slug string `json:"slug"`
		}{made.ID.String(), made.Slug}, fmt.Sprintf("%s %s", made.ID, made.Slug))
	})
}

// namesAndDomains checks names as the store does, and returns domains in the form that it keeps.
func namesAndDomains(names, domains []string) ([]string, error) {
	if err := checkNames(names...); err != nil {
		return nil, err
	}
	return hosts(domains, imports.Domain)
}

// hosts are domains in the form that read gives them.
func hosts(domains []string, read func(text string) (string, error)) ([]string, error) {
	hosts := make([]string, len(domains))
	for i, domain := range domains {
		host, err := read(domain)
		if err != nil {
			return nil, usageError{err}
		}
		hosts[i] = host
	}
	return hosts, nil
}

type brandEdit struct {
	Brand        string   `arg:"" help:"Its slug."`
	Org          string   `required:"" placeholder:"SLUG" help:"Whose it is."`
	Name         *string  `placeholder:"NAME" help:"Its new name."`
	Slug         *string  `placeholder:"SLUG" help:"Its new slug."`
	Domain       []string `placeholder:"HOST" help:"A site to add; repeat it for more."`
	RemoveDomain []string `placeholder:"HOST" help:"A site to remove."`
	Alias        []string `sep:"none" placeholder:"NAME" help:"Another name to add; repeat it for more."`
	RemoveAlias  []string `sep:"none" placeholder:"NAME" help:"Another name to remove."`
	Industry     *string  `placeholder:"TEXT" help:"Its industry; \"\" for none."`
	Region       *string  `placeholder:"CODE" help:"Its region; \"\" for none."`
	Language     *string  `placeholder:"CODE" help:"Its language; \"\" for none."`
	Active       *bool    `negatable:"" help:"Track it, or with --no-active keep it as it is."`
}

func (c *brandEdit) Run(ctx context.Context, p *process) error {
	domains, err := namesAndDomains(append(given(c.Name), c.Alias...), c.Domain)
	removed, wrong := hosts(c.RemoveDomain, imports.Host)
	if err := errors.Join(err, wrong); err != nil {
		return usageError{err}
	}
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		_, b, err := on.brand(ctx, c.Org, c.Brand)
		if err != nil {
			return err
		}
		return on.DB.EditBrand(ctx, b.ID, postgres.BrandEdit{
			Name: c.Name, Slug: c.Slug, Industry: c.Industry, Region: c.Region, Language: c.Language, IsActive: c.Active,
			Aliases: postgres.ListEdit{Add: c.Alias, Remove: c.RemoveAlias}, Domains: postgres.ListEdit{Add: domains, Remove: removed},
		})
	})
}

// given is a flag's value, if it has one.
func given(flag *string) []string {
	if flag == nil {
		return nil
	}
	return []string{*flag}
}

type brandList struct {
	Org  string `required:"" placeholder:"SLUG" help:"Whose brands."`
	JSON bool   `name:"json" help:"One JSON object a line."`
}

// brandShown is a brand in a list.
type brandShown struct {
	ID       string   `json:"id"`
	Slug     string   `json:"slug"`
	Name     string   `json:"name"`
	Aliases  []string `json:"aliases"`
	Domains  []string `json:"domains"`
	IsActive bool     `json:"is_active"`
}

func (c *brandList) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		organization, err := on.organization(ctx, c.Org)
		if err != nil {
			return err
		}
		brands, err := on.DB.Brands(ctx, organization.ID)
		if err != nil {
			return err
		}
		var list []brandShown
		for _, b := range brands {
			snapshot, err := on.DB.Snapshot(ctx, b.ID)
			if errors.Is(err, postgres.ErrNotFound) {
				continue // it was deleted meanwhile
			}
			if err != nil {
				return err
			}
			list = append(list, brandShown{b.ID.String(), b.Slug, b.Name, snapshot.Aliases, snapshot.Domains, b.IsActive})
		}
		return printList(p, c.JSON, list, func(b brandShown) string {
			return strings.Join([]string{b.ID, b.Slug, b.Name, strings.Join(b.Domains, ", "), strings.Join(b.Aliases, ", ")}, "\t")
		}, "ID", "SLUG", "NAME", "DOMAINS", "ALIASES")
	})
}

type brandRemove struct {
	Brand string `arg:"" help:"Its slug."`
	Org   string `required:"" placeholder:"SLUG" help:"Whose it is."`
	Yes   bool   `help:"Do it; without it nothing is deleted."`
}

func (c *brandRemove) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		_, b, err := on.brand(ctx, c.Org, c.Brand)
		if err != nil {
			return err
		}
		if !c.Yes {
			return usageError{fmt.Errorf("brand %q would go with its competitors, prompts, answers, visits and crawls, for ever: add --yes if it should", b.Slug)}
		}
		return on.DB.RemoveBrand(ctx, b.ID)
	})
}
