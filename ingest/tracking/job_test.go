package tracking_test

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestEveryRunIsAskedOnce(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(5)...)
	e.FailingList = new(atomic.Int64)
	e.FailingList.Store(2) // postgres is away when the worker reads the keys: the runs were given up as auth
	jobs, _ := e.run(t)
	id := e.start(t, jobs, tracking.Request{
		Platforms: []string{"alpha", "beta", "gamma"}, Models: []string{
			"alpha-small", "alpha-large", "beta-large",
		}, Regions: []string{"", "de"}, Samples: 2,
	})
	j, r := e.finished(t, id)
	if j.Status != "completed" || j.Total != 60 || r.Answered != 60 || r.Repeats != 0 || r.Cost.Amount != 0.6 ||
		r.Cost.Currency != "USD" || len(r.DegradedPlatforms) != 0 {
		t.Errorf("%+v: %+v", j, r)
	}
	answers, times := e.records(t)
	for id, a := range answers {
		if times[id] != 1 || a.JobID == nil || *a.JobID != j.ID || costOf(a) != 0.01 || a.Attempts != 1 {
			t.Errorf("%d times on the log: %+v", times[id], a)
		}
	}
	if len(answers) != 60 || e.service.requests() != 60 {
		t.Errorf("%d answers of %d requests, want 60", len(answers), e.service.requests())
	}
}

func costOf(a event.Answer) float64 {
	cost, _ := strconv.ParseFloat(a.Usage.CostUSD, 64)
	return cost
}

// A surface that was seen without an answer ends its run as an answer does: it is paid for, not asked again, and no
// outage.
func TestWhatWasNotShownIsPaidForAndNotAskedAgain(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	e.service.behave(func(question, int) (int, time.Duration, time.Duration) { return http.StatusNoContent, 0, 0 })
	jobs, _ := e.run(t)
	j, r := e.finished(t, e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}}))
	if j.Status != "completed" || r.Answered != 3 || r.NotShown != 3 || len(r.GaveUp) != 0 ||
		len(r.DegradedPlatforms) != 0 || r.Cost.Amount != 0.03 || e.service.requests() != 3 {
		t.Errorf("%s after %d requests: %+v", j.Status, e.service.requests(), r)
	}
	progress, err := e.db.TrackingProgress(t.Context(), e.brand.OrganizationID, j.ID, time.Now())
	if err != nil || len(progress) != 1 || progress[0].Answered != 3 || progress[0].NotShown != 3 {
		t.Errorf("progress %+v, %v", progress, err)
	}
	days, err := e.db.TrackingSpending(t.Context(),
		e.brand.OrganizationID, time.Now().AddDate(0, 0, -1), time.Now(), e.brand.ID)
	if err != nil || len(days) != 1 || days[0].Runs != 3 || days[0].NotShown != 3 || days[0].GivenUp != 0 {
		t.Errorf("spending %+v, %v", days, err)
	}
	answers, _ := e.records(t)
	for _, a := range answers {
		if a.Finish != event.FinishNotShown || a.GivenUp != nil || a.Text != "" ||
			a.Attempts != 1 || costOf(a) != 0.01 {
			t.Errorf("%+v", a)
		}
	}
	if len(answers) != 3 {
		t.Errorf("%d records, want 3", len(answers))
	}
}

// A failure that passes is retried; one that does not is a record of a given-up run.
func TestFailuresAreRetriedByTheirClass(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, "one?")
	e.service.behave(func(q question, times int) (int, time.Duration, time.Duration) {
		switch {
		case q.Platform == "beta":
			return http.StatusUnauthorized, 0, 0
		case times == 1:
			return http.StatusBadGateway, 0, 0
		case times == 2:
			return http.StatusTooManyRequests, 3 * time.Second, 0
		}
		return http.StatusOK, 0, 0
	})
	jobs, _ := e.run(t)
	began := time.Now()
	j, r := e.finished(t, e.start(t, jobs, tracking.Request{Platforms: []string{"alpha", "beta"}}))
	if j.Status != "completed" || r.Answered != 1 || r.GaveUp["auth"] != 1 ||
		!slices.Equal(r.DegradedPlatforms, []string{"beta"}) || r.Repeats != 0 || e.service.requests() != 4 {
		t.Errorf("%s after %d requests: %+v", j.Status, e.service.requests(), r)
	}
	limited := 0
	if err := e.db.QueryRow(t.Context(),
		"SELECT sum(rate_limited) FROM public.tracking_runs").Scan(&limited); err != nil || limited != 1 {
		t.Errorf("%d requests are counted as rate limited, want 1: %v", limited, err)
	}
	if took := time.Since(began); took < 4*time.Second {
		t.Errorf("finished within %s, although it was to wait for 1 s and for 3 s", took)
	}
	answers, _ := e.records(t)
	for _, a := range answers {
		if a.Platform == "alpha" && a.Attempts != 3 ||
			a.Platform == "beta" && (a.GivenUp == nil || a.GivenUp.Class != "auth" || a.Attempts != 1) {
			t.Errorf("%+v", a)
		}
	}
	if len(answers) != 2 {
		t.Errorf("%d records, want 2", len(answers))
	}
	none, gave := e.finished(t, e.start(t, jobs, tracking.Request{Platforms: []string{"beta"}}))
	if none.Status != "failed" || none.FailedReason == nil || gave.Answered != 0 {
		t.Errorf("a job without an answer: %+v, %+v", none, gave)
	}
	// A brand of which no record can be made was asked, and paid for, every five seconds for ever.
	e.exec(t, "INSERT INTO public.brand_domains (brand_id, domain) SELECT $1, n || "+
		"'.example' FROM generate_series(1, 300) AS n", e.brand.ID)
	asked := e.service.requests()
	none, gave = e.finished(t, e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}}))
	if none.Status != "failed" || gave.GaveUp["invalid"] != 1 || e.service.requests() != asked {
		t.Errorf("a brand with 301 domains, after %d requests: %+v, %+v", e.service.requests()-asked, none, gave)
	}
	// in any order, and only what has ended
	for before, want := range map[time.Time]int64{began: 0, time.Now().Add(time.Hour): 3} {
		if pruned, err := e.db.PruneTracking(t.Context(), before); err != nil || pruned != want {
			t.Errorf("%d jobs from before %s are pruned, want %d: %v", pruned, before, want, err)
		}
	}
}

// A cancelled job asks nothing more, and keeps the answers that were under way.
func TestACancelledJobKeepsAnswersInFlight(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(30)...)
	e.Limits.InFlight = 3
	e.service.behave(func(question, int) (int, time.Duration, time.Duration) {
		return http.StatusOK, 0, 2 * time.Second
	})
	waiting, _ := e.jobs(t)
	early := e.start(t, waiting, tracking.Request{Platforms: []string{"alpha"}})
	if err := e.db.CancelTracking(t.Context(), e.brand.OrganizationID, early); err != nil {
		t.Fatal(err)
	}
	if j := e.job(t, early); j.Status != "cancelled" || j.Phase != "done" || j.Completed != 30 || j.Result == nil {
		t.Errorf("cancelled before a worker took it up: %+v", j)
	}
	jobs, _ := e.run(t)
	id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
	wait.For(t, "requests in flight", func() bool { return e.service.requests() == 3 })
	if err := e.db.CancelTracking(t.Context(), e.brand.OrganizationID, id); err != nil {
		t.Fatal(err)
	}
	j, r := e.finished(t, id)
	if j.Status != "cancelled" || r.Answered != 3 || r.Cancelled != 27 || e.service.requests() != 3 {
		t.Errorf("%s after %d requests: %+v", j.Status, e.service.requests(), r)
	}
	if answers, _ := e.records(t); len(answers) != 3 {
		t.Errorf("%d answers on the log, want 3", len(answers))
	}
	if err := e.db.CancelTracking(t.Context(), e.brand.OrganizationID, id); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if again := e.job(t, id); again.Status != "cancelled" || string(again.Result) != string(j.Result) {
		t.Errorf("after a second time %+v", again)
	}
	if err := e.db.CancelTracking(t.Context(), uuid.Must(uuid.NewV4()), id); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("by another organization: %v", err)
	}
}

// Jobs that ask the same at one time ask it once, and all have the answer. A prompt that is edited meanwhile is another
// question: it was given the answer of its old wording.
func TestTheSameQuestionInFlightIsAskedOnce(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	free := make(chan struct{})
	freed := sync.OnceFunc(func() { close(free) })
	t.Cleanup(freed)
	e.service.behave(func(question, int) (int, time.Duration, time.Duration) {
		<-free
		return http.StatusOK, 0, time.Second
	})
	jobs, _ := e.run(t)
	first := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
	wait.For(t, "requests in flight", func() bool { return e.service.requests() == 3 })
	if joined := e.start(t, jobs,
		tracking.Request{Platforms: []string{"alpha", "alpha"}, Samples: 1}); joined != first {
		t.Errorf("a start of the same began job %s beside %s", joined, first)
	}
	e.exec(t, "UPDATE public.prompts SET text = 'which lamp?' WHERE brand_id = $1 AND text LIKE '%version 2?'",
		e.brand.ID)
	second, third := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha", "beta"}}),
		e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
	wait.For(t, "both jobs to ask", func() bool {
		return e.job(t, second).Phase == "asking" && e.job(t, third).Phase == "asking"
	})
	freed()
	one, r1 := e.finished(t, first)
	two, r2 := e.finished(t, second)
	three, r3 := e.finished(t, third)
	if one.Status != "completed" || two.Status != "completed" || three.Status != "completed" || r1.Answered != 3 ||
		r2.Answered != 6 || r3.Answered != 3 || r2.Cost.Amount+r3.Cost.Amount != 0.04 {
		t.Errorf("%+v, %+v and %+v", r1, r2, r3)
	}
	if n := e.service.requests(); n != 7 {
		t.Errorf("%d requests, want 7: 4 of alpha and 3 of beta", n)
	}
	if answers, _ := e.records(t); len(answers) != 12 {
		t.Errorf("%d answers on the log, want 12", len(answers))
	}
}

// A process that stops hands its jobs over, and asks nothing twice.
func TestAnotherProcessGoesOn(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(20)...)
	e.Limits.InFlight = 4
	e.service.behave(func(question, int) (int, time.Duration, time.Duration) {
		return http.StatusOK, 0, 300 * time.Millisecond
	})
	jobs, stop := e.run(t)
	id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
	wait.For(t, "some answers", func() bool { return e.job(t, id).Completed > 4 })
	stop()
	if n := e.job(t, id).Completed; n == 20 {
		t.Fatal("it has finished already: nothing would be proved")
	}
	e.run(t)
	j, r := e.finished(t, id)
	if j.Status != "completed" || r.Repeats != 0 || e.service.requests() != 20 || e.service.most > 4 {
		t.Errorf("%d requests, %d at once at most: %+v", e.service.requests(), e.service.most, r)
	}
}

// A worker that was paused, and taken for dead, ends when it wakes up and hears that its job is another worker's. The
// queue took that for the end of the other one's job, which no worker went on with once its process had stopped.
func TestAPausedWorkerEndsNothing(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	e.HeartbeatTimeout = 4 * time.Second
	e.service.behave(func(question, int) (int, time.Duration, time.Duration) { return http.StatusOK, 0, time.Hour })
	jobs, stop := e.run(t)
	id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
	wait.For(t, "the first worker to hear of the second", func() bool {
		e.exec(t, `UPDATE private.river_job SET attempted_at = now() - INTERVAL '1 hour'
			WHERE id = (SELECT min(id) FROM private.river_job) AND state = 'running' AND EXISTS (SELECT
				FROM public.tracking_jobs WHERE id = $1 AND claim = 1)`, id)
		e.service.mu.Lock()
		defer e.service.mu.Unlock()
		return e.service.inFlight == 3 && slices.Equal(slices.Collect(maps.Values(e.service.asked)), []int{2, 2, 2})
	})
	stop()
	e.service.behave(nil)
	e.run(t)
	if j, r := e.finished(t, id); j.Status != "completed" || r.Answered != 3 || e.service.requests() > 3+r.Repeats {
		t.Errorf("%s after %d requests: %+v", j.Status, e.service.requests(), r)
	}
}

// An answer may be seen before its rollups are written: the job is done when the batches of that moment are committed.
func TestAJobWaitsForBatchesUnderWay(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(1)...)
	batch, err := e.db.LockSinksShared(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	jobs, _ := e.run(t)
	id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
	wait.For(t, "the answer to land", func() bool { return e.job(t, id).Phase == "landing" })
	<-time.After(2 * time.Second)
	if j := e.job(t, id); j.Finished() {
		t.Errorf("the job is %s while a batch is being inserted", j.Status)
	}
	batch.Release()
	e.finished(t, id)
}

// The log may have lost an answer that was marked as appended: it was restored from a backup, or its topics are new.
// The job waited for it for ever.
func TestAnAnswerThatTheLogHasLostIsGivenUp(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(2)...)
	e.LosesRecords = true
	jobs, stop := e.run(t)
	id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
	wait.For(t, "the answers to be waited for", func() bool { return e.job(t, id).Phase == "landing" })
	stop()
	e.ClockAhead = 49 * time.Hour
	e.run(t)
	if j, r := e.finished(t, id); j.Status != "failed" || r.GaveUp["unavailable"] != 2 || r.Answered != 0 {
		t.Errorf("%s: %+v", j.Status, r)
	}
}
