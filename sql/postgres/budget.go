package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Budget is what an organization may spend on tracking; nil is no limit. Days and months are UTC's, costs decimal
// numbers of US dollars.
type Budget struct {
	Platform     string  `db:"platform" json:"platform"` // "": all together
	RunsPerDay   *int64  `db:"runs_per_day" json:"runsPerDay"`
	RunsPerMonth *int64  `db:"runs_per_month" json:"runsPerMonth"`
	CostPerDay   *string `db:"cost_per_day" json:"costPerDay"`
	CostPerMonth *string `db:"cost_per_month" json:"costPerMonth"`
}

// LimitsCost reports whether there is a limit to what it costs.
func (b Budget) LimitsCost() bool { return b.CostPerDay != nil || b.CostPerMonth != nil }

// Spent is what an organization has spent on a platform.
type Spent struct {
	Platform  string `db:"platform" json:"platform"`
	RunsDay   int64  `db:"runs_day" json:"runsDay"`
	CostDay   string `db:"cost_day" json:"costDay"`
	RunsMonth int64  `db:"runs_month" json:"runsMonth"`
	CostMonth string `db:"cost_month" json:"costMonth"`
}

// Budgets returns the budgets of an organization, that of all platforms first.
func (db *DB) Budgets(ctx context.Context, organization uuid.UUID) ([]Budget, error) {
	return queryAll[Budget](ctx, db, "budgets", organization)
}

// SetBudget sets the budget of an organization for a platform, or for all. user did it, as the audit log says; nil is
// the command line.
func (db *DB) SetBudget(ctx context.Context, user, organization uuid.UUID, b Budget) error {
	return db.byUserOrCommand(ctx, user, func(on querier) error {
		err := exec(ctx, on, "set_budget", organization, b.Platform, b.RunsPerDay, b.RunsPerMonth, b.CostPerDay, b.CostPerMonth)
		return wrap(err, "set budget")
	})
}

// Spent returns what an organization has spent in the day and the month of an instant, by platform.
func (db *DB) Spent(ctx context.Context, organization uuid.UUID, at time.Time) ([]Spent, error) {
	return queryAll[Spent](ctx, db, "spent", organization, at)
}

// BudgetUsage is a budget with what is spent of it, or what is spent without one.
type BudgetUsage struct {
	Budget
	Spent Spent `json:"spent"`
}

// BudgetUsage returns what an organization may spend, and has spent in the day and the month of an instant: of all
// platforms together first, then of each platform that has a budget or was asked.
func (db *DB) BudgetUsage(ctx context.Context, organization uuid.UUID, at time.Time) ([]BudgetUsage, error) {
	limits, err := db.Budgets(ctx, organization)
	if err != nil {
		return nil, err
	}
	already, err := db.Spent(ctx, organization, at)
	if err != nil {
		return nil, err
	}
	if len(limits) == 0 || limits[0].Platform != "" {
		limits = slices.Insert(limits, 0, Budget{})
	}
	var list []BudgetUsage
	left := map[string]Spent{}
	for _, s := range already {
		left[s.Platform] = s
	}
	for _, b := range limits {
		of := BudgetUsage{Budget: b, Spent: SumSpent([]Spent{left[b.Platform]})}
		if b.Platform == "" {
			of.Spent = SumSpent(already)
		}
		of.Spent.Platform = b.Platform
		list = append(list, of)
		delete(left, b.Platform)
	}
	for _, s := range already {
		if _, without := left[s.Platform]; without {
			list = append(list, BudgetUsage{Budget{Platform: s.Platform}, s})
		}
	}
	return list, nil
}

// BudgetError says which budget has no room for a job.
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
	of, unit := "", ""
	if e.Platform != "" {
		of = " for " + e.Platform
	}
	if e.What == "cost" {
		unit = " USD"
	}
	return fmt.Sprintf("the budget of %s a %s%s is %s%s, of which %s%s are spent or reserved; this needs %s%s; it resets at %s",
		e.What, e.Period, of, e.Limit, unit, e.Spent, unit, e.Wanted, unit, e.Resets.Format(time.RFC3339))
}

// SumSpent is what is spent on all platforms together.
func SumSpent(spent []Spent) Spent {
	var day, month amounts
	day.add(0, "0")
	month.add(0, "0")
	for _, s := range spent {
		day.add(s.RunsDay, s.CostDay)
		month.add(s.RunsMonth, s.CostMonth)
	}
	return Spent{RunsDay: day.runs, CostDay: dollars(day.cost), RunsMonth: month.runs, CostMonth: dollars(month.cost)}
}

// amounts are runs and their cost.
type amounts struct {
	runs int64
	cost *big.Rat
}

func (a *amounts) add(runs int64, cost string) {
	a.runs += runs
	if a.cost == nil {
		a.cost = new(big.Rat)
	}
	if r, ok := new(big.Rat).SetString(cost); ok {
		a.cost.Add(a.cost, r)
	}
}

// checkBudgets returns a *BudgetError if some runs, encoded, do not fit into a budget. It is right as long as the caller
// holds the lock of the organization's spending.
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

func dollars(r *big.Rat) string { return r.FloatString(6) }
