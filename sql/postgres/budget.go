package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Budget limits what an organization spends on tracking; nil is no limit. Days and months are UTC's, costs decimal
// numbers of US dollars.
type Budget struct {
	Platform     string  `db:"platform" json:"platform"` // "": all together
	RunsPerDay   *int64  `db:"runs_per_day" json:"runsPerDay"`
	RunsPerMonth *int64  `db:"runs_per_month" json:"runsPerMonth"`
	CostPerDay   *string `db:"cost_per_day" json:"costPerDay"`
	CostPerMonth *string `db:"cost_per_month" json:"costPerMonth"`
}

// LimitsCost reports whether the budget has a limit of cost.
func (b Budget) LimitsCost() bool { return b.CostPerDay != nil || b.CostPerMonth != nil }

// BudgetUsage is a budget, or a platform without one, and the spending on it.
type BudgetUsage struct {
	Budget
	Spent Spent `db:"spent" json:"spent"`
}

// Spent counts the runs of a platform, or of all, and their cost.
type Spent struct {
	Platform  string `json:"platform"`
	RunsDay   int64  `json:"runsDay"`
	CostDay   string `json:"costDay"`
	RunsMonth int64  `json:"runsMonth"`
	CostMonth string `json:"costMonth"`
}

// Budgets returns the budgets of an organization, the one of all platforms first.
func (db *DB) Budgets(ctx context.Context, organization uuid.UUID) ([]Budget, error) {
	return queryAll[Budget](ctx, db, "budgets", organization)
}

// BudgetUsage returns the budgets of an organization and its spending in the day and the month of an instant: of all
// platforms together first, even without a budget, then of each platform that has a budget or was asked.
func (db *DB) BudgetUsage(ctx context.Context, organization uuid.UUID, at time.Time) ([]BudgetUsage, error) {
	return queryAll[BudgetUsage](ctx, db, "budget_usage", organization, at)
}

// SetBudget sets the budget of an organization for a platform, or for all. The audit log names the user; uuid.Nil is
// the command line, whose budget stands beside the owners': the lower limit holds.
func (db *DB) SetBudget(ctx context.Context, user, organization uuid.UUID, b Budget) error {
	return db.asUser(ctx, user, func(tx Tx) error {
		err := exec(ctx, tx, "set_budget",
			organization, b.Platform, user == uuid.Nil, b.RunsPerDay, b.RunsPerMonth, b.CostPerDay, b.CostPerMonth)
		return wrap(err, "set budget")
	})
}

// BudgetError reports the budget that has no room for a job.
type BudgetError struct {
	Platform string    `db:"platform"` // "": all together
	What     string    `db:"what"`     // runs or cost
	Period   string    `db:"period"`   // day or month
	Limit    string    `db:"budget"`
	Spent    string    `db:"spent"`
	Wanted   string    `db:"wanted"`
	Resets   time.Time `db:"resets"`
}

func (e *BudgetError) Error() string {
	platform, unit := "", ""
	if e.Platform != "" {
		platform = " for " + e.Platform
	}
	if e.What == "cost" {
		unit = " USD"
	}
	const text = "the budget of %s a %s%s is %s%s, of which %s%s are spent or reserved; " +
		"this needs %s%s; it resets at %s"
	return fmt.Sprintf(text,
		e.What, e.Period, platform, e.Limit, unit, e.Spent, unit, e.Wanted, unit, e.Resets.Format(time.RFC3339))
}

// checkBudgets returns a *BudgetError if the runs, in JSON, do not fit into a budget. The caller must hold the lock of
// the organization's spending until it has reserved them.
func checkBudgets(ctx context.Context, on querier, n NewTracking, runs string) error {
	over, err := queryOne[BudgetError](ctx, on, "over_budget", n.OrganizationID, n.CreatedAt, runs)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return &over
}
