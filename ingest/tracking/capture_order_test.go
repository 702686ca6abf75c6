package tracking_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Without platforms a request asks the APIs that have a key, and no surface.
func TestSurfacesAreAskedWhereTheyAreNamed(t *testing.T) {
	t.Parallel()
	e, _ := newCaptured(t, 1)
	jobs, _ := e.jobs(t)
	draft, err := jobs.Draft(t.Context(), e.brand, tracking.Request{}, nil, time.Now())
	if err != nil || len(draft.Runs) == 0 || slices.ContainsFunc(draft.Runs, func(r postgres.NewRun) bool {
		return r.Platform == "chatgpt-web"
	}) {
		t.Errorf("%+v, %v", draft, err)
	}
}

// A start is refused where the organization's order names no provider that the workers have a key of. It was accepted,
// since they can ask the surface, and every run was given up.
func TestAnOrderWithoutAKeyIsRefused(t *testing.T) {
	t.Parallel()
	e, _ := newCaptured(t, 1)
	platforms := tracking.NewPlatforms(config.FromEnvironment(e.Captures), e.db, secret.Ring{})
	jobs, _ := e.jobs(t)
	jobs.ListPlatforms = platforms.List
	t.Cleanup(testkit.Start(t, jobs.Run))
	wait.For(t, "the worker", func() bool {
		var workers int
		row := e.db.QueryRow(t.Context(), "SELECT count(*) FROM private.tracking_workers")
		return row.Scan(&workers) == nil && workers == 1
	})
	for order, want := range map[string]string{
		"cloro": "chatgpt-web: ANSWERSCOPE_PLATFORM_CLORO_API_KEY is missing", "cloro,oxylabs": "",
	} {
		if err := platforms.SetOrder(t.Context(), uuid.Nil, e.brand.OrganizationID, "chatgpt-web",
			strings.Split(order, ",")); err != nil {
			t.Fatal(err)
		}
		_, err := jobs.Start(t.Context(), e.brand, surface, tracking.Caller{})
		if want == "" && err != nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("in the order %s: %v, want %q", order, err, want)
		}
	}
}

// A process without a key of the surface reserves what the workers may spend: it reserved one page of an overview.
func TestAProcessWithoutAKeyReservesTheHighestPrice(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(1)...)
	jobs, _ := e.jobs(t)
	jobs.ListPlatforms = tracking.NewPlatforms(config.FromEnvironment(nil), e.db, secret.Ring{}).List
	if err := e.db.RegisterWorker(t.Context(), uuid.Must(uuid.NewV4()),
		[]string{"google-ai-overview"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := e.db.SetBudget(t.Context(), uuid.Nil, e.brand.OrganizationID,
		postgres.Budget{CostPerDay: new("1")}); err != nil {
		t.Fatal(err)
	}
	draft, err := jobs.Draft(t.Context(), e.brand,
		tracking.Request{Platforms: []string{"google-ai-overview"}}, nil, time.Now())
	if err != nil || draft.Estimate().Cost.Amount != "0.05" {
		t.Errorf("%+v, %v", draft, err)
	}
}

// What a provider says of the account where it accepts a job is learnt, as from an answer.
func TestLimitsAreLearntFromSubmissions(t *testing.T) {
	t.Parallel()
	e, c := newCaptured(t, 1)
	c.perMinute = "777"
	jobs, _ := e.run(t)
	e.finished(t, e.start(t, jobs, surface))
	wait.For(t, "the limit", func() bool {
		var perMinute int
		row := e.db.QueryRow(t.Context(),
			"SELECT requests_per_minute FROM private.platform_accounts WHERE account LIKE 'oxylabs %'")
		return row.Scan(&perMinute) == nil && perMinute == 777
	})
}
