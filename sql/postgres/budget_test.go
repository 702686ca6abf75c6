package postgres

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
)

// A budget of a day counts that day in UTC, a budget of a month all days of the month up to then, each of one platform
// or of all. What was spent in the month before counts for none. A job that fits exactly is started.
func TestABudgetCountsItsOwnPeriodAndPlatform(t *testing.T) {
	t.Parallel()
	db := openMigrated(t)
	organization, err := db.AddOrganization(t.Context(), "Lumen", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, spent := range []struct {
		platform, day string
		runs          int // of a cent each
	}{
		{"alpha", "2026-02-28", 100}, {"alpha", "2026-03-01", 10}, {"alpha", "2026-03-30", 4},
		{"beta", "2026-03-29", 20}, {"beta", "2026-03-30", 3}, {"alpha", "2026-03-31", 1000},
	} {
		_, err := db.Exec(t.Context(), `INSERT INTO private.spending (organization_id, platform, day, runs, cost)
			VALUES ($1, $2, $3::date, $4::int, round($4::int / 100.0, 2))`,
			organization.ID, spent.platform, spent.day, spent.runs)
		if err != nil {
			t.Fatal(err)
		}
	}
	late := time.Date(2026, 3, 30, 23, 59, 0, 0, time.UTC)
	want := []Spent{ // of all platforms together, of alpha and of beta
		{"", 7, "0.070000", 37, "0.370000"}, {"alpha", 4, "0.040000", 14, "0.140000"}, {"beta", 3, "0.03", 23, "0.23"},
	}
	for _, platform := range []string{"", "alpha"} {
		if err := db.SetBudget(t.Context(), uuid.Nil, organization.ID, Budget{Platform: platform}); err != nil {
			t.Fatal(err)
		}
	}
	usage, err := db.BudgetUsage(t.Context(), organization.ID, late)
	if err != nil || len(usage) != len(want) {
		t.Fatalf("usage %+v, %v", usage, err)
	}
	for i, u := range usage {
		if u.Spent != want[i] {
			t.Errorf("spent %+v, want %+v", u.Spent, want[i])
		}
	}

	const alpha, beta = `{"platform": "alpha", "estimate": "0.01"}`, `{"platform": "beta", "estimate": "0.01"}`
	const five = "[" + alpha + "," + alpha + "," + alpha + "," + beta + "," + beta + "]"
	for _, c := range []struct {
		platform, what, period string
		spent                  int64
		wanted                 int64
		resets                 string
	}{
		{"", "runs", "day", 7, 5, "2026-03-31"}, {"", "runs", "month", 37, 5, "2026-04-01"},
		{"", "cost", "day", 7, 5, "2026-03-31"}, {"", "cost", "month", 37, 5, "2026-04-01"},
		{"alpha", "runs", "day", 4, 3, "2026-03-31"}, {"alpha", "runs", "month", 14, 3, "2026-04-01"},
		{"alpha", "cost", "day", 4, 3, "2026-03-31"}, {"alpha", "cost", "month", 14, 3, "2026-04-01"},
	} {
		for _, fits := range []bool{true, false} {
			limit := c.spent + c.wanted
			if !fits {
				limit--
			}
			cents := fmt.Sprintf("%d.%02d", limit/100, limit%100)
			budget := map[string]Budget{
				"runs day": {RunsPerDay: &limit}, "runs month": {RunsPerMonth: &limit},
				"cost day": {CostPerDay: &cents}, "cost month": {CostPerMonth: &cents},
			}[c.what+" "+c.period]
			budget.Platform = c.platform
			if err := db.SetBudget(t.Context(), uuid.Nil, organization.ID, budget); err != nil {
				t.Fatal(err)
			}
			err := checkBudgets(t.Context(), db, NewTracking{OrganizationID: organization.ID, CreatedAt: late}, five)
			outcome, expected := "fits", "fits"
			if err != nil {
				outcome = err.Error()
			}
			if over, refused := errors.AsType[*BudgetError](err); refused {
				outcome = fmt.Sprintf("%s a %s of %q until %s",
					over.What, over.Period, over.Platform, over.Resets.UTC().Format(time.DateTime))
			}
			if !fits {
				expected = fmt.Sprintf("%s a %s of %q until %s 00:00:00", c.what, c.period, c.platform, c.resets)
			}
			if outcome != expected {
				t.Errorf("five runs in a budget of %d (%s a %s of %q): %s, want %s: %v",
					limit, c.what, c.period, c.platform, outcome, expected, err)
			}
		}
		if err := db.SetBudget(t.Context(), uuid.Nil, organization.ID, Budget{Platform: c.platform}); err != nil {
			t.Fatal(err)
		}
	}
}
