package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/sql/postgres"
)

type orgCmd struct {
	Add  orgAdd  `cmd:"" help:"Add an organization; prints its id and slug."`
	Edit orgEdit `cmd:"" help:"Change an organization; what is not given stays."`
	List orgList `cmd:"" help:"List organizations."`

	Remove orgRemove `cmd:"" help:"Delete an organization with its brands, their data, its users and keys."`
}

type orgAdd struct {
	Name string `arg:"" help:"Its name."`
	Slug string `placeholder:"SLUG" help:"Its name in commands and addresses; made from NAME when absent."`
	JSON bool   `name:"json" help:"One JSON document."`
}

// Validate checks the name.
func (c *orgAdd) Validate() error { return checkNames(c.Name) }

func (c *orgAdd) Run(ctx context.Context, p *process, db *postgres.DB) error {
	added, err := db.AddOrganization(ctx, c.Name, c.Slug)
	if err != nil {
		return err
	}
	return p.printResult(c.JSON, added, fmt.Sprintf("%s %s", added.ID, added.Slug))
}

// checkNames checks names as the database does.
func checkNames(names ...string) error {
	for _, name := range names {
		if !postgres.IsName(name) {
			return fmt.Errorf("name %.40q: want 1 to %d bytes without control characters", name, postgres.MaxName)
		}
	}
	return nil
}

type orgEdit struct {
	Slug     string  `arg:"" help:"Its slug, which stays."`
	Name     *string `placeholder:"NAME" help:"Its new name."`
	TimeZone *string `placeholder:"ZONE" help:"Of its days, such as Europe/Berlin."`
}

// Validate checks the name.
func (c *orgEdit) Validate() error { return checkNames(optional(c.Name)...) }

// optional is the value of a flag, if it has one.
func optional(flag *string) []string {
	if flag == nil {
		return nil
	}
	return []string{*flag}
}

func (c *orgEdit) Run(ctx context.Context, db *postgres.DB) error {
	return suggestList("answerscope org list", db.EditOrganization(ctx, c.Slug, c.Name, c.TimeZone))
}

type orgList struct {
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (c *orgList) Run(ctx context.Context, p *process, db *postgres.DB) error {
	return asList(db.ListOrganizations(ctx)).print(p, c.JSON, func(o postgres.Organization) string {
		return fmt.Sprintf("%s\t%s\t%s", o.ID,
			o.Slug, o.Name)
	})
}

type orgRemove struct {
	Slug string `arg:"" help:"Its slug."`
}

func (c *orgRemove) Run(ctx context.Context, db *postgres.DB) error {
	organization, err := db.OrganizationBySlug(ctx, c.Slug)
	if err == nil {
		err = db.RemoveOrganization(ctx, organization.ID)
	}
	return suggestList("answerscope org list", err)
}

// budgetCmd limits what an organization may spend on tracking.
type budgetCmd struct {
	Set  budgetSet  `cmd:"" help:"Set what an organization may spend, on all AI platforms or on one."`
	List budgetList `cmd:"" help:"List the budgets of an organization, and what is spent."`
}

type budgetSet struct {
	orgFlags
	Platform     string  `placeholder:"P" help:"Of one AI platform; by default of all together."`
	RunsPerDay   *int64  `placeholder:"N" help:"Runs a day at most; without it there is no limit, as with the others."`
	RunsPerMonth *int64  `placeholder:"N" help:"Runs a month at most."`
	CostPerDay   *string `placeholder:"USD" help:"US dollars a day at most, such as 2.50."`
	CostPerMonth *string `placeholder:"USD" help:"US dollars a month at most."`
}

func (c *budgetSet) budget() *postgres.Budget {
	return &postgres.Budget{
		Platform: c.Platform, RunsPerDay: c.RunsPerDay, RunsPerMonth: c.RunsPerMonth, CostPerDay: c.CostPerDay,
		CostPerMonth: c.CostPerMonth,
	}
}

// Validate checks the limits.
func (c *budgetSet) Validate() error { return tracking.CheckBudget(c.budget()) }

func (c *budgetSet) Run(ctx context.Context, db *postgres.DB, organization postgres.Organization) error {
	return db.SetBudget(ctx, uuid.Nil, organization.ID, *c.budget())
}

type budgetList struct {
	orgFlags
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (c *budgetList) Run(ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization) error {
	return asList(db.BudgetUsage(ctx, organization.ID, time.Now())).print(p, c.JSON, budgetLine,
		"platform", "runs today", "this month", "USD today", "this month")
}

func budgetLine(b postgres.BudgetUsage) string {
	return strings.Join([]string{
		cmp.Or(b.Platform, "all"),
		spentOf(b.Spent.RunsDay, b.RunsPerDay), spentOf(b.Spent.RunsMonth, b.RunsPerMonth),
		spentOf(b.Spent.CostDay, b.CostPerDay), spentOf(b.Spent.CostMonth, b.CostPerMonth),
	}, "\t")
}

// spentOf is an amount in a table, with its limit if there is one.
func spentOf[T any](spent T, limit *T) string {
	if limit == nil {
		return fmt.Sprint(spent)
	}
	return fmt.Sprintf("%v of %v", spent, *limit)
}

// accessCmd shows the audit log.
type accessCmd struct {
	Limit int  `default:"100" placeholder:"N" help:"At most so many lines (default 100)."`
	JSON  bool `name:"json" help:"One JSON object a line."`
}

func (c *accessCmd) Run(ctx context.Context, p *process, db *postgres.DB) error {
	return asList(db.AuditLog(ctx, c.Limit)).print(p, c.JSON, func(a postgres.AuditLine) string {
		return strings.Join([]string{a.At.Format(time.DateTime), a.Action, a.Organization, a.Subject, a.Actor,
			a.Address}, "\t")
	}, "AT", "ACTION", "ORGANIZATION", "SUBJECT", "BY", "ADDRESS")
}
