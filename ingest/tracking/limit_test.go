package tracking_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Two processes share a platform's limits.
func TestProcessesShareLimits(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(40)...)
	e.Limits.InFlight, e.Limits.RequestsPerMinute = 6, 600
	e.service.behave(func(question, int) (int, time.Duration, time.Duration) {
		return http.StatusOK, 0, 500 * time.Millisecond
	})
	first, _ := e.run(t)
	e.run(t)
	began := time.Now()
	var ids []uuid.UUID
	for _, region := range []string{"de", "fr"} {
		ids = append(ids, e.start(t, first, tracking.Request{Platforms: []string{"alpha"}, Regions: []string{region}}))
	}
	for _, id := range ids {
		e.finished(t, id)
	}
	if took := time.Since(began); e.service.most > 6 || took < 8*time.Second {
		t.Errorf("%d requests at once, want at most 6; 80 within %s, want at most 10 a second", e.service.most, took)
	}
}

// Organizations with keys of their own have the limits of their accounts each, and share those of one account.
func TestAccountsHaveTheirOwnLimits(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	brands := []postgres.Brand{e.addBrand(t, "First", "one a?", "one b?", "one c?"),
		e.addBrand(t, "Same", "one d?", "one e?"), e.addBrand(t, "Other", "two a?", "two b?", "two c?")}
	e.Limits.InFlight = 2
	e.Accounts = map[uuid.UUID]string{brands[0].OrganizationID: "alpha one", brands[1].OrganizationID: "alpha one",
		brands[2].OrganizationID: "alpha two"}
	var mu sync.Mutex
	inFlight, most := map[string]int{}, map[string]int{}
	free := make(chan struct{})
	e.service.behave(func(q question, _ int) (int, time.Duration, time.Duration) {
		account, _, _ := strings.Cut(q.Text, " ")
		mu.Lock()
		inFlight[account]++
		most[account] = max(most[account], inFlight[account])
		mu.Unlock()
		<-free
		mu.Lock()
		defer mu.Unlock()
		inFlight[account]--
		return http.StatusOK, 0, 0
	})
	freed := sync.OnceFunc(func() { close(free) })
	t.Cleanup(freed)
	jobs, _ := e.run(t)
	ids := map[uuid.UUID]postgres.Brand{}
	for _, brand := range brands {
		id, err := jobs.Start(t.Context(), brand, tracking.Request{Platforms: []string{"alpha"}}, tracking.Caller{})
		if err != nil {
			t.Fatal(err)
		}
		ids[id] = brand
	}
	wait.For(t, "two requests of each account", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return inFlight["one"] == 2 && inFlight["two"] == 2
	})
	freed()
	for id, brand := range ids {
		e.brand = brand
		e.finished(t, id)
	}
	if most["one"] > 2 || most["two"] > 2 {
		t.Errorf("in flight at once: %v, want at most 2 of each account", most)
	}
}

// Nothing is started that the processes cannot ask that work on jobs, whatever keys the one has that starts it.
func TestAStartLooksAtTheKeysOfWorkers(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, "which lamp?")
	starter, _ := e.jobs(t) // has alpha and beta
	e.MissingKey = "alpha"
	_, stop := e.run(t)
	refused := func() string {
		plan, err := starter.Draft(t.Context(), e.brand, tracking.Request{Platforms: []string{"alpha", "beta"}}, nil,
			time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Refused) != 1 {
			return ""
		}
		return plan.Refused[0].Platform + ": " + plan.Refused[0].Reason
	}
	const want = "alpha: ANSWERSCOPE_PLATFORM_ALPHA_API_KEY is missing where tracking jobs are worked on: start " +
		"answerscope all (or ingest) again with it, or " +
		"give the organization a key by answerscope provider set alpha"
	wait.For(t, "the worker's word", func() bool { return refused() == want })
	if _, err := starter.Start(t.Context(), e.brand, tracking.Request{Platforms: []string{"alpha"}},
		tracking.Caller{}); err == nil {
		t.Error("a job was started that no process can ask")
	}
	stop()
	if got := refused(); got != "" {
		t.Errorf("without a worker %s is refused", got)
	}
	lacking, _ := e.jobs(t)
	e.MissingKey = ""
	e.run(t)
	wait.For(t, "a platform whose key the worker alone has", func() bool {
		plan, err := lacking.Draft(t.Context(), e.brand, tracking.Request{Platforms: []string{"alpha"}}, nil,
			time.Now())
		return err == nil && len(plan.Runs) == 1
	})
}
