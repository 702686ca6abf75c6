package tracking_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

// costs returns what a job, the day and the budget say that was spent, which must be the same.
func (e *environment) costs(t *testing.T, id uuid.UUID) string {
	t.Helper()
	var job string
	if err := e.db.QueryRow(t.Context(),
		"SELECT trim_scale(cost)::text FROM tracking_jobs WHERE id = $1", id).Scan(&job); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	days, err := e.db.TrackingSpending(t.Context(), e.brand.OrganizationID, now.AddDate(0, 0, -1), now, e.brand.ID)
	usage, usageErr := e.db.BudgetUsage(t.Context(), e.brand.OrganizationID, now)
	if err != nil || usageErr != nil {
		t.Fatal(err, usageErr)
	}
	day, spent := string(sumCosts(dayCosts(days)...)), string(sumCosts(usage[0].Spent.CostMonth))
	if day != job || spent != job {
		t.Errorf("the job cost %s, the day %s, the budget has %s", job, day, spent)
	}
	return job
}

func dayCosts(days []postgres.TrackingDay) (costs []string) {
	for _, d := range days {
		costs = append(costs, d.Cost)
	}
	return costs
}

// Captures that are delivered and hold no answer use up the retries of their runs, also of a provider that delivers
// nothing else: they were asked for again for a day. Those of a page that answers are paid for, and cost nothing
// before; Oxylabs bills none of its own failures, which were paid for.
func TestCapturesThatHoldNoAnswer(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{http.StatusNotFound: "0.0112", 613: "0"} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			e, c := newCaptured(t, 7)
			e.FirstPause = 50 * time.Millisecond
			c.broken = status
			jobs, _ := e.jobs(t)
			id := e.start(t, jobs, surface)
			e.exec(t, "UPDATE tracking_runs SET attempts = 5") // one failure is left to each
			e.run(t)
			_, r := e.finished(t, id)
			if n, _ := c.accepted(); r.GaveUp["unavailable"] != 7 || n != 7 {
				t.Errorf("%+v after %d submissions", r, n)
			}
			if cost := e.costs(t, id); cost != want {
				t.Errorf("%s USD are counted, want %s", cost, want)
			}
			var providers []string
			row := e.db.QueryRow(t.Context(),
				"SELECT array_agg(DISTINCT provider) FROM tracking_runs WHERE job_id = $1", id)
			if err := row.Scan(&providers); err != nil || !slices.Equal(providers, []string{"oxylabs"}) {
				t.Errorf("providers %v, %v", providers, err)
			}
		})
	}
}

// Captures that are paid for and hold no answer do not go past a budget: a run is submitted again only where what it
// has reserved pays for that. Three runs of 0.0016 USD cost 18 captures.
func TestPaidFailuresKeepWithinABudget(t *testing.T) {
	t.Parallel()
	e, c := newCaptured(t, 3)
	c.broken = http.StatusNotFound
	if err := e.db.SetBudget(t.Context(), uuid.Nil, e.brand.OrganizationID,
		postgres.Budget{CostPerDay: new("0.0048")}); err != nil {
		t.Fatal(err)
	}
	jobs, _ := e.run(t)
	id := e.start(t, jobs, surface)
	_, r := e.finished(t, id)
	if n, _ := c.accepted(); n != 3 || r.GaveUp["unavailable"] != 3 || e.costs(t, id) != "0.0048" {
		t.Errorf("%+v after %d submissions, at %s USD", r, n, e.costs(t, id))
	}
}

// A job took too long before its worker ended. The next worker submits another one, takes the first one's capture,
// which is there before, and is killed. The third submits nothing, and takes it, too. It was lost, and both were paid
// for. The record has the price of the capture that it holds, also where the other job is another provider's.
func TestALateCaptureOutlivesAKill(t *testing.T) {
	t.Parallel()
	providers := []string{"oxylabs", "brightdata", "cloro"}
	for _, provider := range providers[:testkit.Draws(1, len(providers))] {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			e, c := newEnvironment(t, numbered(1)...), newCaptures(t)
			e.Captures = c.environment(strings.ToUpper(provider), "user:password")
			if provider == "cloro" {
				e.Captures = append(e.Captures, c.environment("OXYLABS", "user:password")...)
			}
			jobs, _ := e.jobs(t)
			id := e.start(t, jobs, surface)
			claim, err := e.db.ClaimTracking(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			runs, _, err := claim.Runs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			run, now := runs[0].ID, time.Now()
			_, err = claim.Ask(t.Context(), []uuid.UUID{run})
			for _, o := range []postgres.RunOutcome{
				{ID: run, State: "asking", Provider: provider, ProviderJob: "1", SubmittedAt: &now},
				{ID: run, State: "queued", Provider: provider, ErrorClass: "timeout", Cost: "0.0016",
					NextAttemptAt: &now},
			} {
				for range 2 { // the reply to the first call may be lost
					if _, endErr := claim.End(t.Context(), []postgres.RunOutcome{o}); err != nil || endErr != nil {
						t.Fatal(err, endErr)
					}
				}
			}
			c.jobs["1"] = &captureJob{prompt: numbered(1)[0]}
			c.accept = func(job int) { c.jobs[fmt.Sprint(job)].holds = true }
			second := e.work(t, string(fault.Asked)+":2") // the submission is the first
			<-second.ended
			if !c.jobs["1"].fetched && provider != "cloro" || c.jobs["2"].cancelled {
				t.Errorf("the late capture %+v, the other %+v", c.jobs["1"], c.jobs["2"])
			}
			e.work(t, "")
			_, r := e.finished(t, id)
			n, _ := c.accepted()
			want := map[string]string{"oxylabs": "0.0032", "brightdata": "0.0031", "cloro": "0.0032"}[provider]
			if n != 1 || r.Answered != 1 || r.Repeats != 0 || e.costs(t, id) != want {
				t.Errorf("%+v after %d more submissions, at %s USD", r, n, e.costs(t, id))
			}
			price := map[string]string{"oxylabs": "0.001600", "brightdata": "0.001500", "cloro": "0.005600"}[provider]
			answers, _ := e.records(t)
			for _, a := range answers {
				if len(answers) != 1 || a.Provider != provider || a.Usage.CostUSD != price {
					t.Errorf("%d records, %s at %+v, want one at %s USD", len(answers), a.Provider, a.Usage, price)
				}
			}
			if provider == "brightdata" {
				wait.For(t, "the end of the other job", func() bool {
					c.mu.Lock()
					defer c.mu.Unlock()
					return c.jobs["2"].cancelled
				})
			}
		})
	}
}

// A job at Bright Data that took too long ends with its run: when the next one's capture comes, or fails for the last
// time. It ran on.
func TestALateJobEndsWithItsRun(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprintf("fails %t", fails), func(t *testing.T) {
			t.Parallel()
			e, c := newEnvironment(t, numbered(1)...), newCaptures(t)
			e.Captures = c.environment("BRIGHTDATA", "key")
			c.jobs["1"] = &captureJob{prompt: numbered(1)[0], holds: true}
			c.accept = func(job int) { c.jobs[fmt.Sprint(job)].cancelled = fails }
			jobs, _ := e.jobs(t)
			id := e.start(t, jobs, surface)
			// one failure is left to it
			e.exec(t, "UPDATE tracking_runs SET attempts = 5, late_jobs = '{brightdata 1}'")
			e.run(t)
			_, r := e.finished(t, id)
			if r.Answered == 1 == fails || r.GaveUp["unavailable"] == 1 != fails {
				t.Errorf("%+v", r)
			}
			wait.For(t, "the end of the job", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return c.jobs["1"].cancelled
			})
		})
	}
}

// A capture of which no record can be made costs what it did: it cost the estimate, which is the highest price.
func TestACaptureThatMakesNoRecordIsPaidFor(t *testing.T) {
	t.Parallel()
	e, c := newCaptured(t, 1)
	c.huge = true
	e.Captures = append(e.Captures, c.environment("CLORO", "key")...)
	if err := e.db.SetBudget(t.Context(), uuid.Nil, e.brand.OrganizationID,
		postgres.Budget{CostPerDay: new("1")}); err != nil {
		t.Fatal(err)
	}
	jobs, _ := e.run(t)
	id := e.start(t, jobs, surface)
	_, r := e.finished(t, id)
	if r.GaveUp["changed_shape"] != 1 || e.costs(t, id) != "0.0016" {
		t.Errorf("%+v at %s USD", r, e.costs(t, id))
	}
}

// What failures cost before a job is cancelled stays spent, and the rest of its reservation is given back.
func TestACancelledJobKeepsItsCost(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	jobs, _ := e.jobs(t)
	id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
	e.exec(t, "UPDATE tracking_runs SET attempts = 1, cost = 0.004 WHERE id = (SELECT min(id::text)::uuid FROM "+
		"tracking_runs)")
	if err := e.db.CancelTracking(t.Context(), e.brand.OrganizationID, id); err != nil {
		t.Fatal(err)
	}
	if cost := e.costs(t, id); cost != "0.004" {
		t.Errorf("%s USD are counted", cost)
	}
}

// Captures that are waited for when a job is cancelled end with it, at their price. The job waited for them for up to
// an hour.
func TestACancelledJobLeavesItsCaptures(t *testing.T) {
	t.Parallel()
	e, c := newCaptured(t, 3)
	c.holds = true
	jobs, _ := e.run(t)
	id := e.start(t, jobs, surface)
	wait.For(t, "the jobs", func() bool { return len(e.runs(t, id, "asking")) == 3 })
	if err := e.db.CancelTracking(t.Context(), e.brand.OrganizationID, id); err != nil {
		t.Fatal(err)
	}
	j, r := e.finished(t, id)
	if cost := e.costs(t, id); j.Status != "cancelled" || r.Cancelled != 3 || cost != "0.0048" {
		t.Errorf("%s: %+v at %s USD", j.Status, r, cost)
	}
}

// A worker is away for two hours, and the first poll after that is lost or not to be read. The captures are there, and
// are taken. They were given up and asked for again.
func TestACaptureOutlivesADowntime(t *testing.T) {
	t.Parallel()
	statuses := []int{http.StatusBadGateway, http.StatusNotFound}
	for _, status := range statuses[:testkit.Draws(1, len(statuses))] {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			e, c := newCaptured(t, 1)
			jobs, _ := e.jobs(t)
			id := e.start(t, jobs, surface)
			first := e.work(t, string(fault.Accepted)+":1")
			<-first.ended
			e.exec(t, "UPDATE tracking_runs SET submitted_at = submitted_at - interval '2 hours'")
			c.set(func() { c.away = status })
			e.work(t, "")
			wait.For(t, "a lost poll", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.refused > 0 })
			c.set(func() { c.away = 0 })
			_, r := e.finished(t, id)
			if n, _ := c.accepted(); n != 1 || r.Answered != 1 || r.Cost.Amount != 0.0016 {
				t.Errorf("%+v after %d submissions", r, n)
			}
		})
	}
}

// The key of a provider is gone while it captures. Its capture is paid for, and another provider is asked, if there is
// one.
func TestACaptureWhoseKeyIsGoneIsPaidFor(t *testing.T) {
	t.Parallel()
	for _, second := range []bool{true, false} {
		t.Run(fmt.Sprintf("second %t", second), func(t *testing.T) {
			t.Parallel()
			e, _ := newCaptured(t, 1)
			jobs, _ := e.jobs(t)
			id := e.start(t, jobs, surface)
			first := e.work(t, string(fault.Accepted)+":1")
			<-first.ended
			e.Captures = []string{"ANSWERSCOPE_PLATFORM_OXYLABS_LIMITS=in-flight=5"}
			if second {
				e.Captures = newCaptures(t).environment("CLORO", "key")
			}
			e.work(t, "")
			_, r := e.finished(t, id)
			cost := e.costs(t, id)
			if second && (r.Answered != 1 || cost != "0.0072") ||
				!second && (r.GaveUp["auth"] != 1 || cost != "0.0016") {
				t.Errorf("%+v at %s USD", r, cost)
			}
		})
	}
}

// A submission whose connection breaks has the same idempotency key again: Cloro refuses it as one that it has
// accepted, and the run, which has paid for that, is submitted anew. It was given up. After the end of a task the key
// is another one, also in another process.
func TestIdempotencyKeysChangeWithTheJob(t *testing.T) {
	t.Parallel()
	e, c := newEnvironment(t, numbered(1)...), newCaptures(t)
	e.Captures = c.environment("CLORO", "key")
	c.breaks, c.faulted = 1, true
	c.accept = func(job int) { c.faulted = job < 3 }
	jobs, _ := e.run(t)
	id := e.start(t, jobs, surface)
	_, r := e.finished(t, id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Answered != 1 || c.conflicts != 1 || len(c.keys) != 3 || e.costs(t, id) != "0.0112" {
		t.Errorf("%+v with the keys %v, at %s USD", r, c.keys, e.costs(t, id))
	}
}

// A prompt that only a provider takes which is passed over, or has as many jobs as it takes, does not hold up those
// that another one takes.
func TestAProviderHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for _, isBusy := range []bool{false, true} {
		t.Run(fmt.Sprintf("busy %t", isBusy), func(t *testing.T) {
			t.Parallel()
			prompts := numbered(6)
			for i := range 12 {
				// too long for Oxylabs
				prompts = append(prompts, fmt.Sprintf("%d ", i)+strings.Repeat("best lamp ", 500))
			}
			e, c, other := newEnvironment(t, prompts...), newCaptures(t), newCaptures(t)
			other.holds, e.FirstPause = true, time.Hour
			if !isBusy {
				other.away = http.StatusServiceUnavailable
			}
			e.Captures = append(c.environment("OXYLABS", "user:password"), other.environment("CLORO", "key")...)
			e.Captures[len(e.Captures)-1] = "ANSWERSCOPE_PLATFORM_CLORO_LIMITS=requests=6000,in-flight=1"
			jobs, _ := e.run(t)
			id := e.start(t, jobs, surface)
			wait.For(t, "the short prompts", func() bool { return e.job(t, id).Completed == 6 })
			if n, _ := other.accepted(); isBusy && n != 1 {
				t.Errorf("%d jobs", n)
			}
			if err := e.db.CancelTracking(t.Context(), e.brand.OrganizationID, id); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Where a budget limits cost, a run reserves what it costs at most, since it may fail over.
func TestABudgetReservesTheHighestPrice(t *testing.T) {
	t.Parallel()
	e, _ := newCaptured(t, 10)
	e.Captures = append(e.Captures, "ANSWERSCOPE_PLATFORM_CLORO_API_KEY=key")
	jobs, _ := e.jobs(t)
	estimate := func() string {
		t.Helper()
		draft, err := jobs.Draft(t.Context(), e.brand, surface, nil, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return string(draft.Estimate().Cost.Amount)
	}
	if got := estimate(); got != "0.016" {
		t.Errorf("without a budget %s", got)
	}
	if err := e.db.SetBudget(t.Context(), uuid.Nil, e.brand.OrganizationID,
		postgres.Budget{CostPerDay: new("1")}); err != nil {
		t.Fatal(err)
	}
	if got := estimate(); got != "0.056" {
		t.Errorf("with a budget %s", got)
	}
}
