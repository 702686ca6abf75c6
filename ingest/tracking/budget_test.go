package tracking_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Eight starts at once never overspend: not a budget of runs, not one of cost, of all platforms or of one.
func TestConcurrentStartsKeepWithinABudget(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	jobs, _ := e.jobs(t) // no worker runs
	for name, c := range map[string]struct {
		budget postgres.Budget
		starts int // that have room, of three runs and three cents each
	}{
		"runs a day of all":       {postgres.Budget{RunsPerDay: new(int64(10))}, 3},
		"runs a month of alpha":   {postgres.Budget{Platform: "alpha", RunsPerMonth: new(int64(6))}, 2},
		"cost a day of all":       {postgres.Budget{CostPerDay: new("0.1199")}, 3},
		"cost a month of alpha":   {postgres.Budget{Platform: "alpha", CostPerMonth: new("0.15")}, 5},
		"runs of another, beta":   {postgres.Budget{Platform: "beta", RunsPerDay: new(int64(0))}, 8},
		"nothing may be spent":    {postgres.Budget{CostPerDay: new("0")}, 0},
		"there is room for all 8": {postgres.Budget{RunsPerDay: new(int64(24)), CostPerDay: new("0.24")}, 8},
	} {
		brand := e.addBrand(t, name, numbered(3)...)
		if err := e.db.SetBudget(t.Context(), uuid.Nil, brand.OrganizationID, c.budget); err != nil {
			t.Fatal(err)
		}
		var together sync.WaitGroup
		var mu sync.Mutex
		started := map[uuid.UUID]bool{}
		for n := range 8 {
			together.Go(func() {
				id, err := jobs.Start(t.Context(), brand, tracking.Request{Platforms: []string{"alpha"},
					Regions: []string{fmt.Sprintf("a%c", 'a'+n)}}, tracking.Caller{})
				over, refused := errors.AsType[*postgres.BudgetError](err)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					started[id] = true
				case !refused || !over.Resets.After(time.Now()):
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		together.Wait()
		usage, err := e.db.BudgetUsage(t.Context(), brand.OrganizationID, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if runs := usage[0].Spent.RunsDay; len(started) != c.starts || runs != int64(3*c.starts) {
			t.Errorf("%s: %d starts and %d runs, want %d", name, len(started), runs, c.starts)
		}
	}
}

// What is reserved is given back when a job is cancelled, and becomes what it cost when it is answered, if that is
// known. A platform without a price is left out where there is a budget of cost.
func TestBudgetsCountActualCost(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(4)...)
	spends := func(runs int64, cost string) {
		t.Helper()
		usage, err := e.db.BudgetUsage(t.Context(), e.brand.OrganizationID, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		got := usage[0].Spent
		want, _ := new(big.Rat).SetString(cost)
		if is, _ := new(big.Rat).SetString(got.CostMonth); got.RunsMonth != runs || is.Cmp(want) != 0 {
			t.Errorf("%d runs and %s USD are spent, want %d and %s", got.RunsMonth, got.CostMonth, runs, cost)
		}
	}
	jobs, _ := e.jobs(t)
	id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
	spends(4, "0.04")
	var estimates string // without trailing zeros
	row := e.db.QueryRow(t.Context(),
		`SELECT concat_ws(' ', j.estimated_cost, min(r.estimate::text), max(r.estimate::text))
		FROM public.tracking_jobs j JOIN public.tracking_runs r ON r.job_id = j.id WHERE j.id = $1 GROUP BY j.id`, id)
	if err := row.Scan(&estimates); err != nil || estimates != "0.04 0.01 0.01" {
		t.Errorf("the estimates are stored as %s, %v", estimates, err)
	}
	if err := e.db.CancelTracking(t.Context(), e.brand.OrganizationID, id); err != nil {
		t.Fatal(err)
	}
	spends(0, "0")
	working, _ := e.run(t)
	e.finished(t, id)
	e.service.behave(func(q question, _ int) (int, time.Duration, time.Duration) {
		n := slices.Index(numbered(4), q.Text)
		return []int{http.StatusUnauthorized, http.StatusNonAuthoritativeInfo, http.StatusPartialContent,
			http.StatusOK}[n], 0, 0
	})
	_, r := e.finished(t, e.start(t, working, tracking.Request{Platforms: []string{"alpha"}}))
	if r.Answered != 2 || r.GaveUp["auth"] != 1 || r.GaveUp["changed_shape"] != 1 || r.Cost.Amount != 0.03 {
		t.Errorf("%+v", r)
	}
	spends(4, "0.03") // what cannot be read, and what does not say its usage, is paid for; what is refused is not
	twice, err := jobs.Draft(t.Context(), e.brand, tracking.Request{Platforms: []string{"delta"},
		Regions: []string{"de", "fr"}}, nil, time.Now())
	if err != nil || len(twice.Runs) != 4 || twice.Runs[0].Region != "" {
		t.Errorf("a platform that takes no region is asked for two: %v", err)
	}
	if err := e.db.SetBudget(t.Context(), uuid.Nil, e.brand.OrganizationID,
		postgres.Budget{CostPerMonth: new("100")}); err != nil {
		t.Fatal(err)
	}
	_, err = jobs.Start(t.Context(), e.brand, tracking.Request{Platforms: []string{"delta"}}, tracking.Caller{})
	if kind, _ := problem.Of(err); kind != problem.Unprocessable {
		t.Errorf("a platform without a price beside a budget of cost: %v", err)
	}
	draft, err := jobs.Draft(t.Context(), e.brand, tracking.Request{Platforms: []string{"alpha", "gamma", "delta"},
		Samples: 2}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(draft.Estimate())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"runs":8,"cost":{"amount":0.08,"currency":"USD"},"byPlatform":[{"platform":"alpha",` +
		`"model":"alpha-small","runs":8,"cost":{"amount":0.08,"currency":"USD"}}],` +
		`"refused":[{"platform":"gamma","reason":"its key is missing"},{"platform":"delta","reason":"the price of ` +
		`model \"delta-small\" is not known, and the organization has a budget of cost"}]}`
	if string(text) != want {
		t.Errorf("the estimate is %s\nwant %s", text, want)
	}
}
