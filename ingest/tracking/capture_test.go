package tracking_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// captures is a capture provider with the protocols of Oxylabs, Bright Data and Cloro.
type captures struct {
	URL string

	mu         sync.Mutex
	accepting  *sync.Cond     // a submission has come
	together   int            // none is answered before so many have come
	submitted  map[string]int // accepted submissions by prompt
	jobs       map[string]*captureJob
	polls      int
	most       int           // jobs that had not ended, at once
	done       int           // jobs whose result was fetched
	away       int           // a status that every request gets; 0: none
	retryAfter string        // while it is away
	refused    int           // requests while it was away
	lostPolls  int           // the polls of these
	holds      bool          // no job ends
	pending    int           // polls of a job that find it pending
	faulted    bool          // jobs end without a result
	broken     int           // the status of results that hold no answer; 0: they do
	breaks     int           // connections that break once a submission is accepted
	perMinute  string        // the requests a minute that it says the account may send, where it accepts a job
	huge       bool          // answers are too long for a record
	keys       []string      // of idempotency, each once
	conflicts  int           // submissions with a key that was used
	accept     func(job int) // called before a submission is answered
}

type captureJob struct {
	prompt, callback string
	polls            int
	holds, cancelled bool // it does not end, or without a capture
	fetched          bool
}

func newCaptures(t testing.TB) *captures {
	t.Helper()
	c := &captures{submitted: map[string]int{}, jobs: map[string]*captureJob{}}
	c.accepting = sync.NewCond(&c.mu)
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
		if r.Method == http.MethodGet {
			c.lostPolls++
		}
		w.Header().Set("Retry-After", c.retryAfter)
		w.WriteHeader(c.away)
		return
	}
	id, isCancelled := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/datasets/v3/snapshot/"), "/cancel")
	switch {
	case isCancelled:
		c.jobs[id].cancelled = true
		return
	case r.Method == http.MethodPost:
		c.submit(w, r)
		return
	}
	path, isResult := strings.CutSuffix(r.URL.Path, "/results")
	isSnapshot := strings.Contains(path, "/snapshot/")
	id = path[strings.LastIndex(path, "/")+1:]
	job := c.jobs[id]
	if job == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	answer := "Lumen is the answer to " + job.prompt
	if c.huge {
		answer += strings.Repeat(" lamp", event.MaxText/4)
	}
	text, _ := json.Marshal(answer)
	if isResult || isSnapshot {
		if !job.fetched {
			job.fetched = true
			c.done++
		}
		switch {
		case isSnapshot:
			fmt.Fprintf(w, `[{"answer_text_markdown": %s, "model": "gpt-5"}]`, text)
		case c.broken > 0:
			fmt.Fprintf(w, `{"results": [{"content": {}, "status_code": %d}]}`, c.broken)
		default:
			fmt.Fprintf(w, `{"results": [{"content": {"markdown_text": %s, "llm_model": "gpt-5", `+
				`"parse_status_code": 12000}, "status_code": 200, "url": "https://chatgpt.com/", "job_id": %q}]}`, text,
				id)
		}
		return
	}
	c.polls++
	job.polls++
	done := "done"
	if strings.Contains(path, "/progress/") {
		done = "ready"
	}
	switch {
	case job.cancelled:
		fmt.Fprint(w, `{"status": "cancelled"}`)
	case c.holds || job.holds || job.polls <= c.pending:
		fmt.Fprintf(w, `{"id": %q, "status": "pending", "task": {"id": %[1]q, "status": "PROCESSING"}}`, id)
	case c.faulted:
		fmt.Fprintf(w, `{"id": %q, "status": "faulted", "task": {"id": %[1]q, "status": "FAILED", "error": "blocked"}}`,
			id)
	default:
		fmt.Fprintf(w, `{"id": %q, "status": %q, "task": {"id": %[1]q, "status": "COMPLETED"}, "response": `+
			`{"markdown": %[3]s, "text": %[3]s}, "credits": {"creditsCharged": 7}}`, id, done, text)
	}
}

// submit accepts a submission.
func (c *captures) submit(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Prompt      string
		CallbackURL string `json:"callback_url"`
		Payload     struct{ Prompt string }
		Webhook     struct{ URL string }

		IdempotencyKey string
	}
	text, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(bytes.Trim(text, "[]"), &body) // Bright Data's is a list
	body.Prompt += body.Payload.Prompt
	if body.IdempotencyKey != "" && slices.Contains(c.keys, body.IdempotencyKey) {
		c.conflicts++
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"success": false, "error": {"code": "RESOURCE_ALREADY_EXISTS", "message": `+
			`"Task already exists", "details": {"field": "idempotencyKey"}}}`)
		return
	}
	id := fmt.Sprint(len(c.jobs) + 1)
	c.submitted[body.Prompt]++
	c.keys = append(c.keys, body.IdempotencyKey)
	c.jobs[id] = &captureJob{prompt: body.Prompt, callback: body.CallbackURL + body.Webhook.URL +
		r.URL.Query().Get("notify")}
	c.most = max(c.most, len(c.jobs)-c.done)
	for c.accepting.Broadcast(); len(c.jobs) < c.together; {
		c.accepting.Wait()
	}
	if c.accept != nil {
		c.accept(len(c.jobs))
	}
	if c.breaks > 0 {
		c.breaks--
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("X-Ratelimit-Limit-Requests", c.perMinute)
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, `{"id": %q, "snapshot_id": %[1]q, "status": "pending", "success": true, "task": {"id": %[1]q, `+
		`"status": "QUEUED"}}`, id)
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
	return []string{prefix + "_API_KEY=" + key, prefix + "_BASE_URL=" + c.URL, prefix + "_LIMITS=requests=6000"}
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
	e, c := newCaptured(t, 7)
	e.Captures = append(e.Captures, "ANSWERSCOPE_PLATFORM_OXYLABS_LIMITS=in-flight=5")
	c.pending = 1
	jobs, _ := e.run(t)
	id := e.start(t, jobs, surface)
	wait.For(t, "five jobs", func() bool { n, _ := c.accepted(); return n == 5 })
	c.set(func() { c.away = http.StatusBadGateway }) // polls are lost
	wait.For(t, "a pause", func() bool { return len(e.runs(t, id, "asking")) == 5 })
	c.set(func() { c.away = 0 })
	j, r := e.finished(t, id)
	if j.Status != "completed" || r.Answered != 7 || r.Repeats != 0 || r.Cost.Amount != 7*0.0016 {
		t.Errorf("%s: %+v", j.Status, r)
	}
	if submissions, prompts := c.accepted(); submissions != 7 || prompts != 7 || c.most != 5 {
		t.Errorf("%d submissions of %d prompts, %d at once", submissions, prompts, c.most)
	}
	answers, _ := e.records(t)
	for _, a := range answers {
		if a.Provider != "oxylabs" || a.Surface != "consumer" || a.Usage == nil || a.Usage.CostUSD != "0.001600" ||
			!strings.HasPrefix(a.Text, "Lumen is the answer") {
			t.Errorf("%+v", a)
		}
	}
}

// runs returns the provider's job of each run in a state.
func (e *environment) runs(t *testing.T, id uuid.UUID, state string) (jobs []string) {
	t.Helper()
	row := e.db.QueryRow(t.Context(), "SELECT coalesce(array_agg(provider_job), '{}') FROM tracking_runs WHERE "+
		"job_id = $1 AND state = $2 AND provider_job IS NOT NULL", id, state)
	if err := row.Scan(&jobs); err != nil {
		t.Fatal(err)
	}
	return jobs
}

// A worker is killed at each step of a run. The next one polls what was accepted and submits nothing again: what
// providers were sent is a submission for each run, one more for each repeat that is counted, and those that failed.
func TestACaptureOutlivesAKill(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		provider, at string
		unknown      int // submissions of unknown outcome, at least
		failsOver    bool
	}{
		"claimed":               {"OXYLABS", "claimed:1", 0, false},
		"accepted and unstored": {"OXYLABS", "asked:1", 1, false},
		"accepted":              {"OXYLABS", "accepted:1", 0, false},
		"result read":           {"OXYLABS", "asked:4", 0, false}, // three were accepted
		"answered":              {"OXYLABS", "answered:1", 0, false},
		"appended":              {"OXYLABS", "appended:1", 0, false},
		"marked":                {"OXYLABS", "marked:1", 0, false},
		"failed":                {"OXYLABS", "failed:1", 0, true},
		"Bright Data":           {"BRIGHTDATA", "accepted:1", 0, false},
		"Cloro":                 {"CLORO", "asked:1", 1, false},
	} {
		if few := []string{"accepted", "result read", "failed", "Cloro"}; !testkit.All && !slices.Contains(few, name) {
			continue // TestAKilledWorkerIsReplaced has the other steps
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, first, second := newEnvironment(t, numbered(3)...), newCaptures(t), newCaptures(t)
			first.together, first.faulted = 3, c.failsOver
			e.Captures = first.environment(c.provider, "user:password")
			if c.failsOver {
				e.Captures = append(e.Captures, second.environment("CLORO", "key")...)
			}
			jobs, _ := e.jobs(t)
			id := e.start(t, jobs, surface)
			killed := e.work(t, c.at)
			<-killed.ended
			sum := func(what string) (n int) {
				row := e.db.QueryRow(t.Context(), "SELECT sum("+what+") FROM tracking_runs WHERE job_id = $1", id)
				if err := row.Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			unknown := sum("(state = 'asking' AND submitted_at IS NULL)::int")
			e.work(t, "")
			j, r := e.finished(t, id)
			sent, prompts := first.accepted()
			others, _ := second.accepted()
			if j.Status != "completed" || r.Answered != 3 || prompts != 3 || r.Repeats != unknown ||
				unknown < c.unknown || unknown == 3 && c.unknown == 0 {
				t.Errorf("%s: %+v after %d submissions of %d prompts, of which %d had an unknown outcome", j.Status, r,
					sent, prompts, unknown)
			}
			if !c.failsOver && sent != 3+r.Repeats || sent+others+first.conflicts != sum("attempts") || c.failsOver &&
				others != 3 {
				t.Errorf("%d and %d submissions, %d repeats, %d attempts", sent, others, r.Repeats, sum("attempts"))
			}
			if cost := float64(sent) * 0.0056; c.provider == "CLORO" &&
				(first.conflicts != unknown || math.Abs(r.Cost.Amount-cost) > 1e-9) {
				t.Errorf("%d submissions are told from new ones, at %g USD, want %g", first.conflicts, r.Cost.Amount,
					cost)
			}
			if answers, times := e.records(t); len(answers) != 3 || slices.Max(slices.Collect(maps.Values(times))) > 2 {
				t.Errorf("answers are on the log %v times", times)
			}
		})
	}
}

// A provider accepts a job and is away for an hour, with 503 and then refusing connections. With a second provider no
// run waits but that of the job; without, runs wait, none is given up and none is submitted twice.
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
			refusing := slices.Clone(e.Captures)
			refusing[1] = "ANSWERSCOPE_PLATFORM_OXYLABS_BASE_URL=http://127.0.0.1:1"
			c.accept = func(int) { c.away = http.StatusServiceUnavailable }
			jobs, stop := e.run(t)
			ids := []uuid.UUID{e.start(t, jobs, surface)}
			wait.For(t, "the job and its lost polls", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(c.jobs) == 1 && c.lostPolls > 0 && c.refused > 5
			})
			away := func(runs, requests int) { // so many runs are answered by the other provider, or requests refused
				t.Helper()
				wait.For(t, "the other runs", func() bool {
					if second {
						return e.job(t, ids[len(ids)-1]).Completed == runs
					}
					var uncounted int
					row := e.db.QueryRow(t.Context(), "SELECT sum(rate_limited) FROM tracking_runs")
					return row.Scan(&uncounted) == nil && uncounted >= requests
				})
			}
			away(39, 15)
			stop()
			present := e.Captures
			e.Captures = refusing
			e.exec(t, "UPDATE tracking_runs SET submitted_at = submitted_at - interval '1 hour'")
			jobs, stop = e.run(t)
			if second {
				ids = append(ids, e.start(t, jobs, tracking.Request{Platforms: surface.Platforms,
					Regions: []string{"de"}}))
			}
			away(40, 30)
			if j := e.job(t, ids[0]); second && j.Completed != 39 || !second && j.Completed != 0 {
				t.Fatalf("%+v", j)
			}
			stop()
			e.Captures = present
			c.set(func() { c.away, c.accept = 0, nil })
			e.run(t)
			answered, repeats := 0, 0
			for _, id := range ids {
				_, r := e.finished(t, id)
				answered, repeats = answered+r.Answered, repeats+r.Repeats
			}
			submissions, _ := c.accepted()
			others, _ := other.accepted()
			if answered != 40*len(ids) || submissions+others != answered || second && submissions != 1 || repeats != 0 {
				t.Errorf("%d answers after %d and %d submissions, %d repeats", answered, submissions, others, repeats)
			}
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
