package track

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// An openAI answers as the platform does.
type openAI struct {
	*httptest.Server
	asked atomic.Int64
	takes atomic.Int64 // time.Duration
}

func newOpenAI(t *testing.T) *openAI {
	t.Helper()
	text, err := os.ReadFile("../../../ingest/platform/catalog/testdata/openai/answer.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, answer, _ := bytes.Cut(text, []byte("-- response --\n"))
	answer, _, _ = bytes.Cut(answer, []byte("\n-- "))
	o := &openAI{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		o.asked.Add(1)
		select {
		case <-r.Context().Done():
		case <-time.After(time.Duration(o.takes.Load())):
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *openAI) settings() []string {
	return []string{
		"ANSWERSCOPE_PLATFORM_OPENAI_API_KEY=k", "ANSWERSCOPE_PLATFORM_OPENAI_BASE_URL=" + o.URL, "CRON_SECRET=wind",
	}
}

// tracker is a brand whose jobs are started by requests.
type tracker struct{ *run.Tracker }

func newTracker(t *testing.T, o *openAI) *tracker {
	t.Helper()
	return &tracker{run.TrackerOf(t, run.Installed(t, o.settings()...), 5)}
}

// start starts a job, and follows it to its end by long polls.
func (k *tracker) start(t *testing.T, fields string) run.Job {
	t.Helper()
	var started struct {
		Success bool
		JobID   string `json:"jobId"`
	}
	body := fmt.Sprintf(`{"brandId":%q,%s}`, k.Brand.ID, fields)
	status := 429
	for ; status == 429; <-time.After(100 * time.Millisecond) { // two a second
		status, _ = k.Ask(t, k.Key, "POST", "/api/tracking/start", body, &started)
	}
	if status != 200 || !started.Success {
		t.Fatalf("start: %d %+v", status, started)
	}
	for {
		var j run.Job
		if status, _ := k.Ask(t, k.Key, "GET", "/api/tracking/job/"+started.JobID+"?wait=20", "", &j); status != 200 {
			t.Fatalf("job: %d", status)
		}
		if j.Result != nil {
			return j
		}
	}
}

// When a job is done, its answers are in the figures of /api/v1.
func TestATrackingJobLandsInTheFigures(t *testing.T) {
	t.Parallel()
	o := newOpenAI(t)
	k := newTracker(t, o)
	for n := range 3 {
		j := k.start(t, `"platforms":["openai","simulator"],"models":["gpt-5.4","sim-atlas"]`)
		if j.Status != "completed" || j.Progress.Phase != "done" || j.Progress.Completed != 10 ||
			j.Progress.Total != 10 || j.Result.Cost.Amount == 0 {
			t.Fatalf("%+v with the result %+v", j, j.Result)
		}
		_, summary := run.Fetch(t, k.Server.URL+"/api/v1/visibility-summary?platform=openai&brand_id="+
			k.Brand.ID.String(), k.Installation.Key)
		if !strings.Contains(summary, fmt.Sprintf(`"resultCount":%d,`, 5*(n+1))) || o.asked.Load() != int64(5*(n+1)) {
			t.Errorf("after job %d and %d requests: %s", n+1, o.asked.Load(), summary)
		}
	}
	var paid, free float64 // nobody pays for the simulator
	const costs = `SELECT sum(cost) FILTER (WHERE platform = 'openai'), sum(cost) FILTER (WHERE platform = 'simulator')
		FROM private.spending`
	if err := k.DB.QueryRow(t.Context(), costs).Scan(&paid, &free); err != nil || paid == 0 || free != 0 {
		t.Errorf("openai cost %g, the simulator %g: %v", paid, free, err)
	}
	k.checkRefusals(t)
	k.checkCron(t)
	k.checkDeadLetter(t)
	k.checkBudget(t)
}

// checkRefusals starts what cannot be started.
func (k *tracker) checkRefusals(t *testing.T) {
	t.Helper()
	brand := k.Brand.ID.String()
	for body, want := range map[string]int{
		`{`:                                    400,
		`{"platforms":[]}`:                     400,
		`{"brandId":"x"}`:                      400,
		`{"brandId":"` + brand + `","what":1}`: 400,
		`{"brandId":"` + brand + `","samples":0}`:                                          400,
		`{"brandId":"` + brand + `","samples":11}`:                                         400,
		`{"brandId":"` + brand + `","regions":["DE"]}`:                                     400,
		`{"brandId":"` + brand + `","regions":["uk"]}`:                                     400,
		`{"brandId":"` + brand + `","platforms":"openai"}`:                                 400,
		`{"brandId":"01a2082f-ca8e-7e39-89ca-12d548e9b271"}`:                               404,
		`{"brandId":"` + brand + `","platforms":["nowhere"]}`:                              422,
		`{"brandId":"` + brand + `","platforms":["openai"],"models":["gpt-1"]}`:            422,
		`{"brandId":"` + brand + `","platforms":["gemini"]}`:                               422,
		`{"brandId":"` + brand + `","promptIds":["01a2082f-ca8e-7e39-89ca-12d548e9b271"]}`: 409,
	} {
		var refused struct{ Error string }
		status := 429
		for status == 429 { // two a second
			var header http.Header
			status, header = k.Ask(t, k.Key, "POST", "/api/tracking/start", body, &refused)
			if status == 429 && header.Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
			<-time.After(100 * time.Millisecond)
		}
		if status != want || refused.Error == "" {
			t.Errorf("%s: %d %q, want %d", body, status, refused.Error, want)
		}
	}
	var estimate struct {
		Runs       int
		Cost       struct{ Amount float64 }
		ByPlatform []struct{ Platform, Model string }
		Refused    []struct{ Platform, Reason string }
	}
	body := `{"brandId":"` + brand + `","platforms":["openai","gemini"],"samples":2}`
	if status, _ := k.Ask(t, k.Key, "POST", "/api/tracking/estimate", body, &estimate); status != 200 ||
		estimate.Runs != 10 || estimate.Cost.Amount == 0 ||
		len(estimate.ByPlatform) != 1 || estimate.ByPlatform[0].Model != "gpt-5.4" || len(estimate.Refused) != 1 ||
		estimate.Refused[0].Platform != "gemini" {
		t.Errorf("estimate: %d %+v", status, estimate)
	}
	var page struct {
		Jobs       []struct{ JobID string }
		NextCursor *string `json:"next_cursor"`
	}
	k.Ask(t, k.Key, "GET", "/api/tracking/jobs?limit=2&brand_id="+brand, "", &page)
	first := page
	if len(first.Jobs) != 2 || first.NextCursor == nil {
		t.Fatalf("a page of jobs: %+v", first)
	}
	page.NextCursor = nil
	k.Ask(t, k.Key, "GET", "/api/tracking/jobs?limit=2&cursor="+*first.NextCursor, "", &page)
	if len(page.Jobs) != 1 || page.NextCursor != nil || page.Jobs[0].JobID == first.Jobs[1].JobID {
		t.Errorf("the second page: %+v", page)
	}
}

// cronAnswer is what the schedule answers.
type cronAnswer struct {
	Success                                bool
	Organizations, BrandsDue, JobsEnqueued int
	Jobs                                   []struct{ BrandID, JobID string }
	Skipped                                []struct{ BrandID, Reason string }
}

// checkCron starts what is due, once.
func (k *tracker) checkCron(t *testing.T) {
	t.Helper()
	var refused struct{ Error string }
	if status, _ := k.Ask(t, "wave", "POST", "/cron/daily-tracking", "", &refused); status != 401 ||
		refused.Error == "" {
		t.Errorf("with a wrong secret: %d %+v", status, refused)
	}
	// Never checked, it is due at once: for the schedule of this process too, which has to be quicker or slower.
	if err := k.DB.EnsureBrandPlatform(t.Context(), k.Brand.ID, "simulator", "monthly"); err != nil {
		t.Fatal(err)
	}
	var first, second cronAnswer
	if status, _ := k.Ask(t, "wind", "POST", "/cron/daily-tracking",
		`{"organization_id":"`+k.Organization.ID.String()+`"}`, &first); status != 200 || !first.Success ||
		first.Organizations != 1 {
		t.Errorf("cron: %d %+v", status, first)
	}
	if status, _ := k.Ask(t, "wind", "GET", "/api/cron/daily-tracking", "", &second); status != 200 ||
		second.BrandsDue != 0 || len(second.Jobs) != 0 {
		t.Errorf("the second time: %d %+v", status, second)
	}
	jobs, err := k.DB.TrackingJobs(t.Context(), k.Organization.ID, &k.Brand.ID, nil, 10)
	if err != nil || len(jobs) != 4 {
		t.Errorf("%d jobs, want the three before and one by schedule: %v", len(jobs), err)
	}
}

// checkDeadLetter starts a job one of whose answers has become unreadable before it comes to the log.
func (k *tracker) checkDeadLetter(t *testing.T) {
	t.Helper()
	owner, err := pgx.Connect(t.Context(), k.SettingOf("ANSWERSCOPE_POSTGRES_DSN"))
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(t.Context())
	if _, err := owner.Exec(t.Context(), `
		CREATE FUNCTION public.spoil() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN NEW.answer = (NEW.answer::jsonb - 'answered_at')::json; RETURN NEW; END $$;
		CREATE TRIGGER spoil BEFORE UPDATE ON public.tracking_runs FOR EACH ROW
			WHEN (NEW.state = 'answered' AND NEW.prompt->>'text' LIKE '%room 3?')
			EXECUTE FUNCTION public.spoil()`); err != nil {
		t.Fatal(err)
	}
	j := k.start(t, `"platforms":["openai"]`)
	if j.Status != "completed" || j.Result.Answered != 4 ||
		!maps.Equal(j.Result.GaveUp, map[string]int{"changed_shape": 1}) {
		t.Errorf("with a dead letter: %+v, %+v", j, j.Result)
	}
}

// checkBudget starts a job for which there is no room.
func (k *tracker) checkBudget(t *testing.T) {
	t.Helper()
	run.Must(t, k.Env, "budget", "set", "--org", "acme", "--platform", "openai", "--runs-per-day", "20",
		"--cost-per-month", "20.5")
	var refused struct{ Error string }
	status, header := 0, http.Header(nil)
	wait.For(t, "a refusal for the budget", func() bool {
		status, header = k.Ask(t, k.Key, "POST", "/api/tracking/start",
			fmt.Sprintf(`{"brandId":%q,"platforms":["openai"]}`, k.Brand.ID), &refused)
		return strings.Contains(refused.Error, "budget")
	})
	if status != 429 || !strings.Contains(refused.Error, "the budget of runs a day for openai is 20") ||
		header.Get("Retry-After") == "" {
		t.Errorf("over the budget: %d %q, Retry-After %q", status, refused.Error, header.Get("Retry-After"))
	}
	if got := run.Must(t, k.Env, "budget", "list", "--org", "acme"); !strings.Contains(got, "20 of 20") ||
		!strings.Contains(got, "of 20.5") {
		t.Errorf("budget list:\n%s", got)
	}
}

// track follows a job of the process that serves; Ctrl-C leaves it running.
func TestTrackFollowsAJobOfTheServer(t *testing.T) {
	t.Parallel()
	o := newOpenAI(t)
	k := newTracker(t, o)
	got := run.Must(t, k.Env, "track", "lumen", "--org", "acme", "--platforms", "openai", "--json")
	if !strings.Contains(got, `"status":"completed"`) || !strings.Contains(got, `"answered":5`) ||
		strings.Contains(got, "\n") {
		t.Errorf("track printed %s", got)
	}
	o.takes.Store(int64(2 * time.Second))
	cmd := run.Command(t.Context(), t, k.Env, "track", "lumen", "--org", "acme", "--platforms", "openai",
		"--samples", "2")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "requests of the second job", func() bool { return o.asked.Load() > 5 })
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != run.ExitFailed ||
		!strings.Contains(said.String(), "is left running") {
		t.Errorf("after Ctrl-C: %v\n%s", err, said.String())
	}
	wait.For(t, "the end of the job that was left", func() bool {
		jobs, err := k.DB.TrackingJobs(t.Context(), k.Organization.ID, nil, nil, 1)
		return err == nil && jobs[0].Status == "completed"
	})
	if o.asked.Load() != 15 {
		t.Errorf("%d requests, want 15", o.asked.Load())
	}
	for said, args := range map[string][]string{
		`brand "lume" not found: want one of lumen`: {"track", "lume", "--org", "acme"},
		`platform "openia" is unknown`:              {"track", "lumen", "--org", "acme", "--platforms", "openia"},
		"no platform can be asked: gemini":          {"track", "lumen", "--org", "acme", "--platforms", "gemini"},
		"--samples 11: want 1 to 10":                {"track", "lumen", "--org", "acme", "--samples", "11"},
	} {
		if r := run.ToEnd(t, k.Env, "", args...); r.Status == run.ExitDone || !strings.Contains(r.Stderr, said) {
			t.Errorf("%q: status %d, %s\nwant %s", args, r.Status, r.Stderr, said)
		}
	}
	own := append(slices.Clone(k.Env), "ANSWERSCOPE_PLATFORM_GEMINI_API_KEY=k")
	r := run.ToEnd(t, own, "", "track", "lumen", "--org", "acme", "--platforms", "gemini")
	if r.Status == run.ExitDone ||
		!strings.Contains(r.Stderr, "ANSWERSCOPE_PLATFORM_GEMINI_API_KEY is missing where tracking jobs are worked "+
			"on: start answerscope all") {
		t.Errorf("with a key that the server has not: status %d, %s", r.Status, r.Stderr)
	}
}

// Where nothing runs, track starts what a job needs, and its answers land.
func TestTrackAlone(t *testing.T) {
	t.Parallel()
	env := []string{"ANSWERSCOPE_DATA_DIR=" + run.MigratedDir(t)}
	if err := run.InPostgres(t, env, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `
			WITH acme AS (INSERT INTO public.organizations (name, slug) VALUES ('Acme', 'acme') RETURNING id),
			lumen AS (INSERT INTO public.brands (organization_id, name, slug) SELECT id, 'Lumen', 'lumen' FROM acme
				RETURNING id),
			lamps AS (INSERT INTO public.prompt_sets (brand_id, name) SELECT id, 'Lamps' FROM lumen RETURNING id)
			INSERT INTO public.prompts (prompt_set_id, text) SELECT id, 'Which lamp?' FROM lamps`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	got := run.Must(t, env, "track", "lumen", "--org", "acme", "--platforms", "simulator",
		"--models", "sim-atlas,sim-borealis")
	if !strings.HasPrefix(got, "completed: 2 of 2 answered; 0 USD") {
		t.Errorf("track printed %s", got)
	}
	if exported := run.Must(t, env, "export", "--org", "acme",
		"--brand", "lumen"); strings.Count(exported, `"simulated":true`) != 2 {
		t.Errorf("exported:\n%s", exported)
	}
}
