package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

// budgetCmd is what an organization may spend on tracking.
type budgetCmd struct {
	Set  budgetSet  `cmd:"" help:"Set what an organization may spend, on all AI platforms or on one."`
	List budgetList `cmd:"" help:"List the budgets of an organization, and what is spent."`
}

type budgetSet struct {
	Org          string  `required:"" placeholder:"SLUG" help:"Whose budget."`
	Platform     string  `placeholder:"P" help:"Of one AI platform; by default of all together."`
	RunsPerDay   *int64  `placeholder:"N" help:"Runs a day at most; without it there is no limit, as with the others."`
	RunsPerMonth *int64  `placeholder:"N" help:"Runs a month at most."`
	CostPerDay   *string `placeholder:"USD" help:"US dollars a day at most, such as 2.50."`
	CostPerMonth *string `placeholder:"USD" help:"US dollars a month at most."`
}

func (c *budgetSet) Run(ctx context.Context, p *process) error {
	budget := postgres.Budget{Platform: c.Platform, RunsPerDay: c.RunsPerDay, RunsPerMonth: c.RunsPerMonth, CostPerDay: c.CostPerDay, CostPerMonth: c.CostPerMonth}
	if err := tracking.CheckBudget(&budget); err != nil {
		return usageError{err}
	}
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		organization, err := on.organization(ctx, c.Org)
		if err != nil {
			return err
		}
		return on.DB.SetBudget(ctx, uuid.Nil, organization.ID, budget)
	})
}

type budgetList struct {
	Org  string `required:"" placeholder:"SLUG" help:"Whose budgets."`
	JSON bool   `name:"json" help:"One JSON object a line."`
}

func (c *budgetList) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		organization, err := on.organization(ctx, c.Org)
		if err != nil {
			return err
		}
		list, err := on.DB.BudgetUsage(ctx, organization.ID, time.Now())
		if err != nil {
			return err
		}
		return printList(p, c.JSON, list, budgetLine, "platform", "runs today", "this month", "USD today", "this month")
	})
}

func budgetLine(b postgres.BudgetUsage) string {
	name := b.Platform
	if name == "" {
		name = "all"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", name,
		spentOf(b.Spent.RunsDay, b.RunsPerDay), spentOf(b.Spent.RunsMonth, b.RunsPerMonth), spentOf(b.Spent.CostDay, b.CostPerDay), spentOf(b.Spent.CostMonth, b.CostPerMonth))
}

// spentOf is an amount in a table, with its limit if there is one.
func spentOf[T any](spent T, limit *T) string {
	if limit == nil {
		return fmt.Sprint(spent)
	}
	return fmt.Sprintf("%v of %v", spent, *limit)
}
