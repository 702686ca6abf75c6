package tracking_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// captures is a capture provider with the protocols of Oxylabs and of Cloro.
type captures struct {
	URL string

	mu        sync.Mutex
	submitted map[string]int // accepted submissions by prompt
	jobs      map[string]*captureJob
	polls     int
	most      int           // jobs that had not ended, at once
	done      int           // jobs whose result was fetched
	away      int           // a status that every request gets; 0: none
	refused   int           // requests while it was away
	holds     bool          // no job ends
	pending   int           // polls of a job that find it pending
	faulted   bool          // jobs end without a result
	broken    bool          // results are errors
	breaks    int           // connections that break once a submission is accepted
	keys      []string      // of idempotency
	accept    func(job int) // called before a submission is answered
}

type captureJob struct {
	prompt, callback string
	polls            int
	fetched          bool
}

func newCaptures(t testing.TB) *captures {
	t.Helper()
	c := &captures{submitted: map[string]int{}, jobs: map[string]*captureJob{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *captures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away > 0 {
		c.refused++
		w.WriteHeader(c.away)
		return
	}
	_, id, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/v1/queries"), "/v1/async/task"), "/")
	id, isResult := strings.CutSuffix(id, "/results")
	if r.Method == http.MethodPost {
		var body struct {
			Prompt      string
			CallbackURL string `json:"callback_url"`
			Payload     struct{ Prompt string }
			Webhook     struct{ URL string }

			IdempotencyKey string
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		body.Prompt += body.Payload.Prompt
		id = fmt.Sprint(len(c.jobs) + 1)
		c.submitted[body.Prompt]++
		c.keys = append(c.keys, body.IdempotencyKey)
		c.jobs[id] = &captureJob{prompt: body.Prompt, callback: body.CallbackURL + body.Webhook.URL}
		c.most = max(c.most, len(c.jobs)-c.done)
		if c.accept != nil {
			c.accept(len(c.jobs))
		}
		if c.breaks > 0 {
			c.breaks--
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"id": %q, "status": "pending", "success": true, "task": {"id": %[1]q, "status": "QUEUED"}}`, id)
		return
	}
	job := c.jobs[id]
	if job == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	text, _ := json.Marshal("Lumen is the answer to " + job.prompt)
	if isResult {
		if !job.fetched {
			job.fetched = true
			c.done++
		}
		if c.broken {
			fmt.Fprint(w, `{"results": [{"content": {}, "status_code": 613}]}`)
			return
		}
		fmt.Fprintf(w, `{"results": [{"content": {"markdown_text": %s, "llm_model": "gpt-5", "parse_status_code": 12000}, "status_code": 200, "url": "https://chatgpt.com/", "job_id": %q}]}`, text, id)
		return
	}
	c.polls++
	job.polls++
	switch {
	case c.holds || job.polls <= c.pending:
		fmt.Fprintf(w, `{"id": %q, "status": "pending", "task": {"id": %[1]q, "status": "PROCESSING"}}`, id)
	case c.faulted:
		fmt.Fprintf(w, `{"id": %q, "status": "faulted", "task": {"id": %[1]q, "status": "FAILED", "error": "blocked"}}`, id)
	default:
		fmt.Fprintf(w, `{"id": %q, "status": "done", "task": {"id": %[1]q, "status": "COMPLETED"}, "response": {"markdown": %s, "text": %[2]s}, "credits": {"creditsCharged": 7}}`, id, text)
	}
}

func (c *captures) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// accepted is how many submissions were accepted, and of how many prompts.
func (c *captures) accepted() (submissions, prompts int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.submitted {
		submissions += n
	}
	return submissions, len(c.submitted)
}

func (c *captures) environment(provider, key string) []string {
	prefix := "ANSWERSCOPE_PLATFORM_" + provider
	return []string{prefix + "_API_KEY=" + key, prefix + "_BASE_URL=" + c.URL}
}

// surface is the request of the tests.
var surface = tracking.Request{Platforms: []string{"chatgpt-web"}}

func newCaptured(t testing.TB, prompts int) (*environment, *captures) {
	t.Helper()
	e, c := newEnvironment(t, numbered(prompts)...), newCaptures(t)
	e.Captures = c.environment("OXYLABS", "user:password")
	return e, c
}

// Jobs are polled until they end, and count as in flight for as long; a poll that is lost is repeated. The cost is the
// list's.
func TestCapturesArePolled(t *testing.T) {
	t.Parallel()
	e, c := newCaptured(t, 12)
	e.Captures = append(e.Captures, "ANSWERSCOPE_PLATFORM_OXYLABS_LIMITS=in-flight=5")
	c.pending = 1
	jobs, _ := e.run(t)
	id := e.start(t, jobs, surface)
	wait.For(t, "five jobs", func() bool { n, _ := c.accepted(); return n == 5 })
	c.set(func() { c.away = http.StatusBadGateway }) // polls are lost
	wait.For(t, "a pause", func() bool { return len(e.runs(t, id, "asking")) == 5 })
	c.set(func() { c.away = 0 })
	j, r := e.finished(t, id)
	if j.Status != "completed" || r.Answered != 12 || r.Repeats != 0 || r.Cost.Amount != 12*0.0016 {
		t.Errorf("%s: %+v", j.Status, r)
	}
	if submissions, prompts := c.accepted(); submissions != 12 || prompts != 12 || c.most != 5 {
		t.Errorf("%d submissions of %d prompts, %d at once", submissions, prompts, c.most)
	}
	answers, _ := e.records(t)
	for _, a := range answers {
		if a.Provider != "oxylabs" || a.Surface != "consumer" || a.Usage == nil || a.Usage.CostUSD != "0.001600" || !strings.HasPrefix(a.Text, "Lumen is the answer") {
			t.Errorf("%+v", a)
		}
	}
}

// runs returns the provider's job of each run in a state.
func (e *environment) runs(t *testing.T, id uuid.UUID, state string) (jobs []string) {
	t.Helper()
	row := e.db.QueryRow(t.Context(), "SELECT coalesce(array_agg(provider_job), '{}') FROM tracking_runs WHERE job_id = $1 AND state = $2 AND provider_job IS NOT NULL", id, state)
	if err := row.Scan(&jobs); err != nil {
		t.Fatal(err)
	}
	return jobs
}

// A worker is killed at each point of a run. The next one polls what was accepted and submits nothing again; only a
// submission of unknown outcome is repeated, and counted.
func TestACaptureOutlivesAKill(t *testing.T) {
	t.Parallel()
	for _, point := range append(slices.Clone(fault.TrackingPoints), fault.Accepted) {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			e, c := newCaptured(t, 6)
			jobs, _ := e.jobs(t)
			id := e.start(t, jobs, surface)
			at := string(point) + ":1"
			if point == fault.Accepted || point == fault.Asked {
				at = string(point) + ":3"
			}
			first := e.work(t, at)
			<-first.ended
			stored := e.runs(t, id, "asking")
			if point == fault.Accepted && len(stored) < 3 {
				t.Errorf("jobs %v are stored", stored)
			}
			e.work(t, "")
			j, r := e.finished(t, id)
			submissions, prompts := c.accepted()
			if j.Status != "completed" || r.Answered != 6 || prompts != 6 || submissions > 6+r.Repeats {
				t.Errorf("%s: %+v after %d submissions of %d prompts", j.Status, r, submissions, prompts)
			}
			if point == fault.Accepted && r.Repeats > 6-len(stored) {
				t.Errorf("%d repeats, though %d jobs were stored", r.Repeats, len(stored))
			}
			if point != fault.Asked && point != fault.Accepted && (submissions != 6 || r.Repeats != 0) {
				t.Errorf("%d submissions, %d repeats", submissions, r.Repeats)
			}
		})
	}
}

// A provider is away for long, first refusing connections and then with 503. With a second one no run waits for it;
// without, runs wait, none is given up and none is submitted twice.
func TestAProviderIsAway(t *testing.T) {
	t.Parallel()
	for _, second := range []bool{true, false} {
		t.Run(fmt.Sprintf("second %t", second), func(t *testing.T) {
			t.Parallel()
			e, c := newCaptured(t, 40)
			other := newCaptures(t)
			e.FirstPause = 50 * time.Millisecond // so that pauses of up to 10 minutes are half a second
			if second {
				e.Captures = append(e.Captures, other.environment("CLORO", "key")...)
			}
			refusing := "http://127.0.0.1:1"
			present := e.Captures[1]
			e.Captures[1] = "ANSWERSCOPE_PLATFORM_OXYLABS_BASE_URL=" + refusing
			c.set(func() { c.away = http.StatusServiceUnavailable })
			jobs, stop := e.run(t)
			id := e.start(t, jobs, surface)
			if second {
				_, r := e.finished(t, id)
				if n, _ := other.accepted(); r.Answered != 40 || n != 40 || r.Repeats != 0 {
					t.Errorf("%+v after %d submissions", r, n)
				}
				return
			}
			uncounted := func() (n int) {
				row := e.db.QueryRow(t.Context(), "SELECT sum(rate_limited) FROM tracking_runs WHERE job_id = $1", id)
				if err := row.Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			wait.For(t, "refused connections", func() bool { return uncounted() >= 15 })
			stop()
			e.Captures[1] = present
			_, stop = e.run(t)
			wait.For(t, "refused requests", func() bool { return uncounted() >= 30 })
			if j := e.job(t, id); j.Completed != 0 {
				t.Fatalf("%+v", j)
			}
			c.set(func() { c.away = 0 })
			_, r := e.finished(t, id)
			if n, _ := c.accepted(); r.Answered != 40 || n != 40 {
				t.Errorf("%+v after %d submissions", r, n)
			}
			stop()
		})
	}
}

// A job that failed without a charge goes to the next provider at once, and costs nothing.
func TestAFailedCaptureGoesToTheNextProvider(t *testing.T) {
	t.Parallel()
	e, c := newCaptured(t, 3)
	other := newCaptures(t)
	e.Captures = append(e.Captures, other.environment("CLORO", "key")...)
	c.faulted = true
	jobs, _ := e.run(t)
	_, r := e.finished(t, e.start(t, jobs, surface))
	first, _ := c.accepted()
	second, _ := other.accepted()
	if first != 3 || second != 3 || r.Answered != 3 || r.Cost.Amount != 3*0.0056 {
		t.Errorf("%d and %d submissions: %+v", first, second, r)
	}
}

func (s workerConfig) callbacks() *tracking.Callbacks {
	ring, _ := secret.ParseRing("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	return &tracking.Callbacks{BaseURL: s.CallbackURL, Ring: ring, WebhookSecret: "hush"}
}

// A callback makes us look at once. One before the submission's answer, a late one and a second one change nothing;
// a thousand at once are one answer.
func TestCallbacks(t *testing.T) {
	t.Parallel()
	e, c := newCaptured(t, 1)
	e.CallbackURL = "https://tracking.example"
	c.holds = true
	jobs, _ := e.run(t)
	token := func(url string) string { return url[strings.LastIndex(url, "/")+1:] }
	call := func(url string) {
		run, err := jobs.Callbacks.Check("oxylabs", token(url), "", "", nil, time.Now())
		if err != nil {
			t.Error(err)
		}
		jobs.Look(run)
	}
	c.accept = func(job int) { call(c.jobs[fmt.Sprint(job)].callback) } // before the answer
	id := e.start(t, jobs, surface)
	wait.For(t, "a few polls", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.polls >= 2 })
	var url string
	var polls int
	c.set(func() { url, polls, c.holds = c.jobs["1"].callback, c.polls, false })
	if !strings.HasPrefix(url, "https://tracking.example/callbacks/oxylabs/") {
		t.Fatal(url)
	}
	began := time.Now()
	var calls sync.WaitGroup
	for range 1000 {
		calls.Go(func() { call(url) })
	}
	calls.Wait()
	_, r := e.finished(t, id)
	c.set(func() { polls = c.polls - polls })
	if r.Answered != 1 || polls > 2 || time.Since(began) > 4*time.Second {
		t.Errorf("%+v after %d polls and %s", r, polls, time.Since(began))
	}
	call(url) // the run has ended
	if n, _ := c.accepted(); n != 1 {
		t.Errorf("%d submissions", n)
	}
}

// Forged callbacks are refused.
func TestForgedCallbacks(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	callbacks := workerConfig{}.callbacks()
	run := uuid.Must(uuid.NewV4())
	right, other := tracking.Token(callbacks, run), tracking.Token(callbacks, uuid.Must(uuid.NewV4()))
	signed := func(timestamp, body string) string { return tracking.Sign("hush", timestamp, body) }
	for name, c := range map[string]struct {
		provider, token, timestamp, signature, body string
		want                                        problem.Kind
	}{
		"none":           {"oxylabs", "", "", "", "", problem.Unauthenticated},
		"another run's":  {"oxylabs", right[:32] + other[32:], "", "", "", problem.Unauthenticated},
		"no hex":         {"oxylabs", strings.Repeat("x", 64), "", "", "", problem.Unauthenticated},
		"upper case":     {"oxylabs", strings.ToUpper(right), "", "", "", problem.Unauthenticated},
		"unsigned":       {"cloro", right, "1800000000", "", "{}", problem.Unauthenticated},
		"another secret": {"cloro", right, "1800000000", tracking.Sign("other", "1800000000", "{}"), "{}", problem.Unauthenticated},
		"a changed body": {"cloro", right, "1800000000", signed("1800000000", "{}"), "{ }", problem.Unauthenticated},
		"stale":          {"cloro", right, "1799999000", signed("1799999000", "{}"), "{}", problem.Invalid},
		"no time":        {"cloro", right, "", signed("", "{}"), "{}", problem.Invalid},
	} {
		if _, err := callbacks.Check(c.provider, c.token, c.timestamp, c.signature, []byte(c.body), now); kindOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, provider := range []string{"oxylabs", "cloro"} {
		if got, err := callbacks.Check(provider, right, "1800000000", signed("1800000000", "{}"), []byte("{}"), now); err != nil || got != run {
			t.Errorf("%s: %s, %v", provider, got, err)
		}
	}
}

func kindOf(err error) problem.Kind {
	kind, _ := problem.Of(err)
	return kind
}
