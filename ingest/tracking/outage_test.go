package tracking_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// outageVariable has how long PostgreSQL is away in tests, such as 1m; then workers beat as in production.
const outageVariable = "ANSWERSCOPE_TEST_OUTAGE"

// PostgreSQL is away for longer than a silent worker keeps its job, while 200 requests are in flight: half of them are
// answered meanwhile, the others later. No request is aborted and none is repeated, whichever process looks for silent
// workers first. All were, and were paid for twice.
func TestAnswersOutliveAnOutageOfPostgres(t *testing.T) {
	t.Parallel()
	const requests = 200
	type kind struct{ away, back func(*testkit.Proxy) }
	kinds := map[string]kind{"dropping": {(*testkit.Proxy).Drop, (*testkit.Proxy).Pass}}
	if testkit.All {
		kinds["refusing"] = kind{(*testkit.Proxy).Refuse, (*testkit.Proxy).Accept}
	}
	for name, c := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, numbered(requests)...)
			outage := 10 * time.Second
			e.HeartbeatTimeout = outage / 4
			if long, err := time.ParseDuration(os.Getenv(outageVariable)); err == nil {
				outage, e.HeartbeatTimeout = long, 0
			}
			e.proxy = testkit.NewProxy(t, e.DSN)
			early, late := make(chan struct{}), make(chan struct{})
			answerEarly, answerLate := sync.OnceFunc(func() { close(early) }), sync.OnceFunc(func() { close(late) })
			t.Cleanup(func() { answerEarly(); answerLate() })
			texts := numbered(requests)
			e.service.behave(func(q question, _ int) (int, time.Duration, time.Duration) {
				if slices.Index(texts, q.Text)%2 == 0 {
					<-early
				} else {
					<-late
				}
				return http.StatusOK, 0, 0
			})
			jobs, _ := e.run(t)
			e.run(t)                                  // another process, which looks for silent workers, too
			wait.For(t, "both workers", func() bool { // a start without PostgreSQL fails
				var workers int
				err := e.db.QueryRow(t.Context(), "SELECT count(*) FROM private.tracking_workers").Scan(&workers)
				return err == nil && workers == 2
			})
			id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
			wait.For(t, "all requests", func() bool { return e.service.requests() == requests })
			c.away(e.proxy)
			answerEarly()
			<-time.After(outage)
			c.back(e.proxy)
			wait.For(t, "the answers of the outage", func() bool { return e.job(t, id).Completed == requests/2 })
			answerLate()
			j, r := e.finished(t, id)
			if j.Status != "completed" || r.Answered != requests || r.Repeats != 0 {
				t.Errorf("%s: %+v", j.Status, r)
			}
			if n := e.service.requests(); n != requests {
				t.Errorf("%d requests for %d questions", n, requests)
			}
			if answers, _ := e.records(t); len(answers) != requests {
				t.Errorf("%d answers on the log, want %d", len(answers), requests)
			}
		})
	}
}

// The runs of a platform that cannot be asked, and those whose prompts no provider takes, of which a job may have
// 50,000, are given up up to 50 at a time. Each was a transaction, one after the other.
func TestUnaskedRunsAreGivenUpInBatches(t *testing.T) {
	t.Parallel()
	prompts := numbered(200)
	for i := range prompts {
		prompts[i] += strings.Repeat(" lamp", 800) // too long for Oxylabs
	}
	e := newEnvironment(t, prompts...)
	e.Captures = []string{"ANSWERSCOPE_PLATFORM_OXYLABS_API_KEY=user:password"}
	jobs, _ := e.jobs(t)
	id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha", "chatgpt-web"}})
	e.Unusable, e.Brokers = "alpha", []string{"127.0.0.1:1"} // the last write of a run is that of its end
	e.run(t)
	wait.For(t, "the end of all runs", func() bool { return e.job(t, id).Completed == 400 })
	for _, class := range []string{"auth", "invalid"} {
		var transactions int
		row := e.db.QueryRow(t.Context(), "SELECT count(DISTINCT updated_at) FROM public.tracking_runs WHERE job_id "+
			"= $1 AND error_class = $2", id, class)
		if err := row.Scan(&transactions); err != nil || transactions < 1 || transactions > 20 {
			t.Errorf("%d transactions have written 200 runs of class %s: %v", transactions, class, err)
		}
	}
}
