package tracking

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/postgres"
)

func lost(class platform.Class, again time.Duration) *platform.Error {
	return &platform.Error{Class: class, RetryAfter: again}
}

// polledAccount returns the limit of an account at Bright Data in one process.
func polledAccount(t *testing.T) *rateLimit {
	limit := newRateLimits(nil, testkit.Log(t)).account(Platform{Description: platform.Description{Slug: "brightdata"}})
	limit.setLease(postgres.PlatformLease{InFlight: 100, RequestsPerMinute: maxPerMinute, TokensPerMinute: maxTokens},
		postgres.PlatformAccount{}, time.Now().Add(time.Hour))
	return limit
}

// A provider that refuses polls for their rate gets one of each process after its pause, and the others once that was
// answered: 25 refusals in five minutes block an address at Bright Data. Three processes were refused 108.
func TestARefusedPollPausesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var refused, answered atomic.Int64
		var jobs sync.WaitGroup
		for range 3 {
			limit := polledAccount(t)
			for range 100 {
				jobs.Go(func() {
					for {
						lost := limit.poll(t.Context(), func() *platform.Error {
							<-time.After(100 * time.Millisecond)
							if time.Since(began) > 6*time.Minute {
								answered.Add(1)
								return nil
							}
							refused.Add(1)
							return &platform.Error{Class: platform.RateLimited, RetryAfter: time.Minute}
						})
						if lost == nil {
							return
						}
						<-time.After(lost.RetryAfter)
					}
				})
			}
			defer func() {
				if limit.closedUntil.Before(began.Add(5 * time.Minute)) {
					t.Error("submissions go on")
				}
			}()
		}
		<-time.After(5 * time.Minute)
		if n := refused.Load(); n > 24 {
			t.Errorf("%d polls are refused within five minutes", n)
		}
		jobs.Wait()
		if answered.Load() != 300 || time.Since(began) > 8*time.Minute {
			t.Errorf("%d polls are answered within %s", answered.Load(), time.Since(began))
		}
	})
}

// The pause of another process, or of a refused submission, is one for the polls of a provider that blocks addresses.
// After it one poll goes first.
func TestPollsHeedTheAccountsPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := polledAccount(t)
		limit.setLease(limit.lease, postgres.PlatformAccount{ClosedSeconds: 60}, time.Now().Add(time.Hour))
		if limit.beginPoll() == nil {
			t.Error("a poll is sent during the pause")
		}
		<-time.After(time.Minute + 1)
		if limit.beginPoll() != nil || limit.beginPoll() == nil {
			t.Error("after the pause not one poll goes first")
		}
		limit.endPoll(nil)
		for range 2 {
			if limit.beginPoll() != nil {
				t.Error("after an answer the others do not follow")
			}
		}
		other := newRateLimit(t, 1, limit.lease)
		other.closedUntil = time.Now().Add(time.Hour)
		if other.beginPoll() != nil {
			t.Error("the captures of another provider are not fetched while it takes no submissions")
		}
	})
}

// While all polls are lost no more captures are asked for: they could not be fetched.
func TestLostPollsCloseAnAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := newRateLimit(t, 1, postgres.PlatformLease{InFlight: 10, RequestsPerMinute: maxPerMinute,
			TokensPerMinute: maxTokens})
		limit.endPoll(lost(platform.Unavailable, 0))
		<-time.After(firstPause / 2)
		limit.endPoll(lost(platform.Timeout, 0))
		if limit.closedFor() > 0 {
			t.Error("after half a minute")
		}
		<-time.After(firstPause)
		limit.endPoll(lost(platform.Unavailable, 0))
		if limit.closedFor() != firstPause {
			t.Errorf("closed for %s", limit.closedFor())
		}
		<-time.After(firstPause)
		limit.endPoll(lost(platform.Auth, 0)) // it answers
		limit.endPoll(lost(platform.Unavailable, 0))
		if limit.closedFor() > 0 {
			t.Error("after an answer")
		}
	})
}

// newSurfaceAsker returns an asker of a surface whose accounts are open.
func newSurfaceAsker(t *testing.T, slug string, accounts ...capture.Account) *asker {
	t.Helper()
	surface, err := capture.Open(slug, accounts)
	if err != nil {
		t.Fatal(err)
	}
	jobs := &Jobs{Parts: Parts{Now: time.Now}, metrics: newMetrics(prometheus.NewRegistry()), log: testkit.Log(t)}
	a := &asker{
		worker: &worker{Jobs: jobs, prompts: map[uuid.UUID]event.Prompt{}}, surface: surface, queue: newRunQueue(),
		byProvider: map[string]*rateLimit{}, prices: map[string]*big.Rat{},
	}
	for _, account := range accounts {
		a.byProvider[account.Provider] = newRateLimit(t, 1,
			postgres.PlatformLease{InFlight: 10, RequestsPerMinute: maxPerMinute, TokensPerMinute: maxTokens})
	}
	return a
}

// limitCost lets a budget limit cost.
func (a *asker) limitCost(slug string, accounts ...capture.Account) {
	for _, account := range accounts {
		price := capture.HighestPrice(slug, []capture.Account{account})
		a.prices[account.Provider] = decimal(price.Cost(event.Usage{}))
	}
}

// Where a budget limits cost, a run is sent to providers that what is left of its estimate pays for. The first request
// may cost as much as the cheapest: a provider of 0.0056 USD was asked for runs that had reserved 0.0016.
func TestABudgetLimitsRoutes(t *testing.T) {
	accounts := []capture.Account{{Provider: "serpapi", Key: "key"}, {Provider: "oxylabs", Key: "user:password"},
		{Provider: "cloro", Key: "key"}}
	a := newSurfaceAsker(t, "google-ai-overview", accounts...)
	all := "serpapi oxylabs cloro" // at most 0.05 USD for two pages, 0.0016 and 0.004
	for name, c := range map[string]struct{ estimate, paid, want string }{
		"nothing is spent":                     {"0.05", "", all},
		"a page of a deferred overview":        {"0.05", "0.025", "oxylabs cloro"},
		"both pages of a deferred overview":    {"0.05", "0.025 0.025", ""},
		"a captured page without an answer":    {"0.05", "0.0016", "oxylabs cloro"},
		"a provider was put first later":       {"0.004", "", "oxylabs cloro"},
		"that is paid, and the order is new":   {"0.004", "0.0016", "oxylabs"},
		"the rest is a millionth too little":   {"0.0032", "0.0016 0.000001", ""},
		"the rest pays for none":               {"0.004", "0.004", ""},
		"all are more expensive than at first": {"0.001", "", "oxylabs"},
		"and the cheapest is paid":             {"0.001", "0.0016", ""},
		"the price was not known":              {"0", "", "oxylabs"},
	} {
		r := &queuedRun{TrackingRun: postgres.TrackingRun{Estimate: c.estimate, Cost: "0", ErrorClass: "timeout"}}
		for cost := range strings.FieldsSeq(c.paid) {
			r.pay(cost)
		}
		clear(a.prices)
		if routes, failure := a.routes(r); strings.Join(routes, " ") != all || failure != nil {
			t.Errorf("%s, without a budget: %v, %v", name, routes, failure)
		}
		a.limitCost("google-ai-overview", accounts...)
		routes, failure := a.routes(r)
		if strings.Join(routes, " ") != c.want || (failure == nil) != (c.want != "") || failure != nil &&
			failure.Class != platform.Timeout {
			t.Errorf("%s: %v, %v", name, routes, failure)
		}
	}
}

// A run that failed at one provider goes back to it where the others are away by then. It waited for their pause.
func TestARunGoesBackToAProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSurfaceAsker(t, "chatgpt-web", capture.Account{Provider: "oxylabs", Key: "user:password"},
			capture.Account{Provider: "cloro", Key: "key"})
		a.byProvider["cloro"].closedUntil = time.Now().Add(10 * time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		began := time.Now()
		var waited time.Duration
		a.Room = func(ctx context.Context) error { // before a request is sent
			waited = time.Since(began)
			stop()
			<-ctx.Done()
			return ctx.Err()
		}
		a.queue.add(&queuedRun{TrackingRun: postgres.TrackingRun{Slot: began, Cost: "0"}, tried: []string{"oxylabs"}})
		a.routeRuns(ctx, t.Context())
		a.inFlight.Wait()
		if waited != firstDelay {
			t.Errorf("it is asked after %s", waited)
		}
	})
}

// A job takes too long if the provider has said often enough that it goes on, for 15 minutes or an hour. Polls that are
// lost say nothing. Where another job is too expensive, one that goes on is waited for: its capture was paid and lost.
func TestOverdueJobs(t *testing.T) {
	now := time.Now()
	account := capture.Account{Provider: "oxylabs", Key: "user:password"}
	a := newSurfaceAsker(t, "chatgpt-web", account)
	for name, c := range map[string]struct {
		sinceSubmission, sinceRunning time.Duration
		polls                         int
		lost                          *platform.Error
		want, wantInBudget            bool
	}{
		"runs":                     {14 * time.Minute, 14 * time.Minute, 100, nil, false, false},
		"runs for long":            {17 * time.Minute, 16 * time.Minute, 100, nil, true, false},
		"is queued":                {59 * time.Minute, 0, 100, nil, false, false},
		"is queued for long":       {61 * time.Minute, 0, 100, nil, true, false},
		"after a restart":          {2 * time.Hour, 0, minAnswered - 1, nil, false, false},
		"polls are lost":           {2 * time.Hour, 0, 1000, lost(platform.Unavailable, 0), false, false},
		"polls are refused":        {2 * time.Hour, 0, 1000, lost(platform.RateLimited, 0), false, false},
		"it is not found":          {2 * time.Hour, 0, 1000, lost(platform.Invalid, 0), true, true},
		"one poll finds it not":    {2 * time.Hour, 0, 1, lost(platform.Invalid, 0), false, false},
		"the day is over":          {25 * time.Hour, 0, 1, lost(platform.Unavailable, 0), true, true},
		"it is not found at first": {time.Minute, 0, 30, lost(platform.Invalid, 0), false, false},
	} {
		for estimate, want := range map[string]bool{"": c.want, "0.0016": c.wantInBudget, "0.0032": c.want} {
			submitted := now.Add(-c.sinceSubmission)
			r := &queuedRun{TrackingRun: postgres.TrackingRun{
				SubmittedAt: &submitted, Slot: submitted, Provider: "oxylabs", Estimate: estimate, Cost: "0",
				ErrorClass: "timeout",
			}}
			if c.sinceRunning > 0 {
				r.runningSince = now.Add(-c.sinceRunning)
			}
			clear(a.prices)
			if estimate != "" {
				a.limitCost("chatgpt-web", account)
			}
			got := false
			for range c.polls {
				got = a.isOverdue(r, capture.Progress{Lost: c.lost}, now)
			}
			if got != want {
				t.Errorf("%s, with an estimate of %q: overdue %t", name, estimate, got)
			}
		}
	}
}

// The capture of a job that took too long is taken while the next one is waited for.
func TestALateCaptureIsTaken(t *testing.T) {
	answers := map[string]string{
		"/v1/async/task/late": `{"task": {"id": "late", "status": "COMPLETED"}, "response": {"markdown": "Lumen.", ` +
			`"text": "Lumen."}, "credits": {"creditsCharged": 7}}`,
		"/v1/async/task/gone": `{"task": {"id": "gone", "status": "FAILED"}}`,
		"/v1/async/task/next": `{"task": {"id": "next", "status": "PROCESSING"}}`,
	}
	polling, stop := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/async/task/stopped" {
			stop()
			<-r.Context().Done()
		}
		fmt.Fprint(w, answers[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	a := newSurfaceAsker(t, "grok-web", capture.Account{Provider: "cloro", Key: "key", BaseURL: server.URL})
	r := &queuedRun{TrackingRun: postgres.TrackingRun{LateJobs: []string{"cloro late", "cloro gone"}}}
	if _, ok := a.pollLate(t.Context(), r, capture.Progress{Lost: lost(platform.Unavailable, 0)}); ok ||
		len(r.LateJobs) != 2 {
		t.Error("they are polled though the provider is away")
	}
	reply, ok := a.pollLate(t.Context(), r, capture.Progress{})
	if !ok || reply.Provider != "cloro" || !strings.HasPrefix(reply.Text, "Lumen") || reply.Raw != nil ||
		len(r.LateJobs) != 0 {
		t.Errorf("%+v, %t; %v is left", reply, ok, r.LateJobs)
	}
	if n := testutil.ToFloat64(a.metrics.polls.WithLabelValues("cloro", outcomeAnswered)); n != 2 {
		t.Errorf("%g polls are counted", n)
	}
	limit := a.byProvider["cloro"]
	if _, p, err := a.fetch(polling, r, capture.Job{Provider: "cloro", ID: "stopped"}); err != nil || p.Lost == nil ||
		!limit.pollsLostSince.IsZero() || limit.isProbing {
		t.Errorf("a poll that ends with its job counts as lost: %+v, %v", p, err)
	}
}
