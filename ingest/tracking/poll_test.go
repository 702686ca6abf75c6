package tracking

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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

// A provider that refuses polls for their rate gets one after its pause, and the others once that was answered: 25
// refusals in five minutes block an address at Bright Data. Each job had its own pause.
func TestARefusedPollPausesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := newRateLimit(t, 1, postgres.PlatformLease{InFlight: 10, RequestsPerMinute: maxPerMinute, TokensPerMinute: maxTokens})
		began := time.Now()
		var mu sync.Mutex
		refused, answered := 0, 0
		var jobs sync.WaitGroup
		for range 100 {
			jobs.Go(func() {
				for {
					if closed := limit.beginPoll(); closed != nil {
						<-time.After(closed.RetryAfter)
						continue
					}
					<-time.After(100 * time.Millisecond)
					if time.Since(began) < 5*time.Minute {
						mu.Lock()
						refused++
						mu.Unlock()
						limit.endPoll(lost(platform.RateLimited, time.Minute))
						continue
					}
					mu.Lock()
					answered++
					mu.Unlock()
					limit.endPoll(nil)
					return
				}
			})
			<-time.After(100 * time.Millisecond) // ten polls a second
		}
		jobs.Wait()
		if refused > 24 || answered != 100 || time.Since(began) > 7*time.Minute {
			t.Errorf("%d polls are refused and %d answered within %s", refused, answered, time.Since(began))
		}
		if limit.closedUntil.Before(began.Add(4 * time.Minute)) {
			t.Error("submissions go on")
		}
	})
}

// While all polls are lost no more captures are asked for: they could not be fetched.
func TestLostPollsCloseAnAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := newRateLimit(t, 1, postgres.PlatformLease{InFlight: 10, RequestsPerMinute: maxPerMinute, TokensPerMinute: maxTokens})
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

// A job takes too long if the provider has said often enough that it goes on, for 15 minutes or an hour. Polls that are
// lost say nothing.
func TestOverdueJobs(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		sinceSubmission, sinceRunning time.Duration
		polls                         int
		lost                          *platform.Error
		want                          bool
	}{
		"runs":                     {14 * time.Minute, 14 * time.Minute, 100, nil, false},
		"runs for long":            {17 * time.Minute, 16 * time.Minute, 100, nil, true},
		"is queued":                {59 * time.Minute, 0, 100, nil, false},
		"is queued for long":       {61 * time.Minute, 0, 100, nil, true},
		"after a restart":          {2 * time.Hour, 0, minAnswered - 1, nil, false},
		"polls are lost":           {2 * time.Hour, 0, 1000, lost(platform.Unavailable, 0), false},
		"polls are refused":        {2 * time.Hour, 0, 1000, lost(platform.RateLimited, 0), false},
		"it is not found":          {2 * time.Hour, 0, 1000, lost(platform.Invalid, 0), true},
		"one poll finds it not":    {2 * time.Hour, 0, 1, lost(platform.Invalid, 0), false},
		"the day is over":          {25 * time.Hour, 0, 1, lost(platform.Unavailable, 0), true},
		"it is not found at first": {time.Minute, 0, 30, lost(platform.Invalid, 0), false},
	} {
		submitted := now.Add(-c.sinceSubmission)
		r := &queuedRun{TrackingRun: postgres.TrackingRun{SubmittedAt: &submitted, Slot: submitted}}
		if c.sinceRunning > 0 {
			r.runningSince = now.Add(-c.sinceRunning)
		}
		got := false
		for range c.polls {
			got = (&asker{}).isOverdue(r, capture.Progress{Lost: c.lost}, now)
		}
		if got != c.want {
			t.Errorf("%s: overdue %t", name, got)
		}
	}
}

// The capture of a job that took too long is taken while the next one is waited for.
func TestALateCaptureIsTaken(t *testing.T) {
	answers := map[string]string{
		"/v1/async/task/late": `{"task": {"id": "late", "status": "COMPLETED"}, "response": {"markdown": "Lumen.", "text": "Lumen."}, "credits": {"creditsCharged": 7}}`,
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
	surface, err := capture.Open("grok-web", []capture.Account{{Provider: "cloro", Key: "key", BaseURL: server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	jobs := &Jobs{metrics: newMetrics(prometheus.NewRegistry()), log: testkit.Log(t)}
	a := &asker{worker: &worker{Jobs: jobs, prompts: map[uuid.UUID]event.Prompt{}}, surface: surface, byProvider: map[string]*rateLimit{}}
	limit := newRateLimit(t, 1, postgres.PlatformLease{InFlight: 10, RequestsPerMinute: maxPerMinute, TokensPerMinute: maxTokens})
	a.byProvider["cloro"] = limit
	r := &queuedRun{TrackingRun: postgres.TrackingRun{LateJobs: []string{"cloro late", "cloro gone"}}}
	if _, ok := a.pollLate(t.Context(), r, capture.Progress{Lost: lost(platform.Unavailable, 0)}); ok || len(r.LateJobs) != 2 {
		t.Error("they are polled though the provider is away")
	}
	reply, ok := a.pollLate(t.Context(), r, capture.Progress{})
	if !ok || reply.Provider != "cloro" || !strings.HasPrefix(reply.Text, "Lumen") || reply.Raw != nil || len(r.LateJobs) != 0 {
		t.Errorf("%+v, %t; %v is left", reply, ok, r.LateJobs)
	}
	if n := testutil.ToFloat64(jobs.metrics.polls.WithLabelValues("cloro", outcomeAnswered)); n != 2 {
		t.Errorf("%g polls are counted", n)
	}
	if _, _, err := a.fetch(polling, r, capture.Job{Provider: "cloro", ID: "stopped"}); err == nil || !limit.pollsLostSince.IsZero() || limit.isProbing {
		t.Errorf("a poll that ends with its job counts as lost: %v", err)
	}
}
