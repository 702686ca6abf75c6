package postgres

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
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

// Once, an owner lifted the budget that the operator had set, and a member filled the disk by the simulator.
func TestTheOperatorsBudgetHoldsBesideTheOwners(t *testing.T) {
	t.Parallel()
	db := openMigrated(t)
	organization, err := db.AddOrganization(t.Context(), "Lumen", "")
	if err != nil {
		t.Fatal(err)
	}
	owner, err := db.AddUser(t.Context(),
		NewUser{Email: "o@lumen.example", OrganizationID: organization.ID, Role: "owner"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)
	set := func(user uuid.UUID, platform string, runs *int64) {
		t.Helper()
		err := db.SetBudget(t.Context(), user, organization.ID, Budget{Platform: platform, RunsPerDay: runs})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit := func(runs int, platform string) string {
		t.Helper()
		text := "[" + strings.Repeat(`{"platform": "`+platform+`"},`, runs-1) + `{"platform": "` + platform + `"}]`
		err := checkBudgets(t.Context(), db, NewTracking{OrganizationID: organization.ID, CreatedAt: now}, text)
		if over, refused := errors.AsType[*BudgetError](err); refused {
			return over.Limit
		}
		if err != nil {
			t.Fatal(err)
		}
		return "fits"
	}
	three, five, many := int64(3), int64(5), int64(2000)
	for _, c := range []struct {
		operators, owners *int64
		want              string // limit of five runs
		shown             *int64
	}{
		{&three, nil, "3", &three}, {&three, &five, "3", &three}, {&five, &three, "3", &three},
		{nil, &three, "3", &three}, {nil, nil, "fits", nil},
	} {
		set(uuid.Nil, "", c.operators)
		set(owner.ID, "", c.owners)
		usage, err := db.BudgetUsage(t.Context(), organization.ID, now)
		if got := limit(5, "alpha"); got != c.want || err != nil || len(usage) != 1 ||
			!reflect.DeepEqual(usage[0].RunsPerDay, c.shown) {
			t.Errorf("%s of %+v, %v; want %+v", got, usage, err, c)
		}
	}
	if got := []string{limit(1000, "simulator-shopping"), limit(1001, "simulator-shopping")}; got[0] != "fits" ||
		got[1] != "1000" {
		t.Errorf("1,000 runs of the simulator, and one more: %q", got)
	}
	set(owner.ID, "simulator", &many)
	if got := limit(1001, "simulator"); got != "1000" {
		t.Errorf("an owner lifts the simulator's limit: %q", got)
	}
	set(uuid.Nil, "simulator", &many)
	if got := limit(1001, "simulator"); got != "fits" {
		t.Errorf("the operator does not lift the simulator's limit: %q", got)
	}
}
