package crash

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// A job asks four platforms that are slow, limit rates, fail and hang, and the processes that work on it are killed:
// once an answer is stored while Kafka is away, in `make test-all` at each point of a run, and in a long run at random.
// Each question is asked once, or its repeat is counted, by the platforms' own count of requests; each answer is in
// /api/v1 once; the job goes on after each kill, its progress never falls, and it ends with what became of each run.
func TestKilledTrackingAsksOnce(t *testing.T) {
	parallelUnlessLong(t)
	prompts, longest, commands := testkit.Draws(8, 25), 400*time.Millisecond, []string{"all"}
	if run.LongRun() {
		prompts, longest, commands = 250, 3*time.Second, []string{"all", "ingest"}
	}
	k := newTrackingKill(t, prompts, longest, commands)
	end := k.watch(t)
	if run.LongRun() {
		k.killAtRandom(t)
	} else {
		k.killAtPoints(t)
	}
	j := end()
	k.checkJob(t, j)
	repeats, answers := k.checkRuns(t, j)
	k.checkAnswers(t, answers)
	t.Logf(
		"%d runs, %d kills of tracking (%d by themselves), %d requests, %d repeats; the job went on after %s at most",
		j.Progress.Total, k.kills, k.own, k.platforms.requests(), repeats, k.slowest.Round(100*time.Millisecond))
	if !t.Failed() {
		summed.Add(int64(k.kills))
		t.Logf("%d kills, 0 lost, 0 doubled", summed.Load())
	}
}

// killAtPoints kills the only process once at each point, or at one of them, for which it takes Kafka away.
func (k *trackingKill) killAtPoints(t *testing.T) {
	t.Helper()
	points := []string{"answered:30"}
	if testkit.All {
		points = []string{"claimed:1", "asked:20", "answered:30", "appended:2", "marked:3"}
	}
	var died time.Time
	for _, at := range points {
		k.start(t, 0, at)
		if at == "answered:30" {
			k.kafka.StopKafka(t)
		}
		if k.job.Load() == nil {
			k.begin(t)
		} else {
			k.goesOn(t, died)
		}
		wait.For(t, "the death at "+at, k.parts[0].Load().Shot)
		died = k.died(t, 0, true)
		k.kafka.StartKafka(t)
	}
	k.platforms.hangs.Store(false) // each would take two minutes
	k.start(t, 0, "")
	k.goesOn(t, died)
}

// killAtRandom kills one of two processes at a random moment, or lets the second die at a random point, over and over.
// When Kafka is away, which both need to start, the first one goes on alone.
func (k *trackingKill) killAtRandom(t *testing.T) {
	t.Helper()
	k.start(t, 0, "")
	k.start(t, 1, "")
	k.begin(t)
	kills := leastKills(t)
	for n := 0; k.kills < kills && !k.asked(); n++ {
		which, own := k.random.IntN(2), false
		if n%4 == 1 {
			which = 1
			k.kafka.StopKafka(t)
		}
		select {
		case <-k.parts[1].Load().Ended:
			which, own = 1, true
		case <-time.After(time.Duration(k.random.Int64N(int64(6 * time.Second)))):
			k.parts[which].Load().Stop(t, syscall.SIGKILL)
		}
		died := k.died(t, which, own)
		if n%4 == 1 {
			k.goesOn(t, died)
			k.kafka.StartKafka(t)
		}
		if which == 0 {
			k.start(t, 0, "")
			k.goesOn(t, died)
		} else {
			k.start(t, 1, k.randomPass())
		}
	}
	k.parts[1].Load().Stop(t, syscall.SIGKILL) // what is left runs undisturbed
	k.goesOn(t, k.died(t, 1, false))
}

// randomPass is a pass of a point of a run, soon after a process has taken a job up.
func (k *trackingKill) randomPass() string {
	switch point := fault.TrackingPoints[k.random.IntN(len(fault.TrackingPoints))]; point {
	case fault.Asked, fault.Answered:
		return fmt.Sprintf("%s:%d", point, 1+k.random.IntN(20))
	default:
		return fmt.Sprintf("%s:1", point)
	}
}

// A trackingKill is an installation whose tracking processes are killed.
type trackingKill struct {
	*run.Tracker
	kafka     *run.OwnKafka
	platforms *troubledPlatforms
	commands  []string
	parts     []atomic.Pointer[run.Server] // one a command
	prompts   int
	random    *rand.Rand

	job        atomic.Pointer[string]
	last       atomic.Pointer[run.Job]
	kills, own int           // own: those that died at a point
	slowest    time.Duration // from a kill to the next request
}

func newTrackingKill(t *testing.T, prompts int, longest time.Duration, commands []string) *trackingKill {
	t.Helper()
	seed := testkit.Seed(t)
	k := &trackingKill{
		random:    rand.New(rand.NewPCG(seed, 0)),
		platforms: newTroubledPlatforms(t, longest, seed), kafka: run.NewOwnKafka(t, "kafka"), commands: commands,
		prompts: prompts,
	}
	k.parts = make([]atomic.Pointer[run.Server], len(commands))
	k.Tracker = run.TrackerOf(t, run.Install(t, k.kafka.Brokers, k.platforms.settings()...), prompts)
	return k
}

// start starts one of the processes, which dies at a point if one is given.
func (k *trackingKill) start(t *testing.T, which int, at string) {
	t.Helper()
	env := append(slices.Clone(k.Env), fmt.Sprintf("ANSWERSCOPE_DATA_DIR=%s/%d", k.kafka.Dir, which))
	if at != "" {
		env = append(env, fault.Variable+"="+at)
	}
	s := run.Launch(t, env, k.commands[which])
	s.Await(t) // unless it has died before
	k.parts[which].Store(s)
}

// begin starts the job.
func (k *trackingKill) begin(t *testing.T) {
	t.Helper()
	var models, slugs []string
	for slug, list := range troubledModels {
		slugs, models = append(slugs, slug), append(models, list...)
	}
	body, err := json.Marshal(map[string]any{"brandId": k.Brand.ID, "platforms": slugs, "models": models})
	if err != nil {
		t.Fatal(err)
	}
	k.Server = k.parts[0].Load()
	var started struct{ JobID string }
	if status, _ := k.Ask(t, k.Tracker.Key, "POST", "/api/tracking/start", string(body), &started); status != 200 {
		t.Fatalf("start: %d", status)
	}
	k.job.Store(&started.JobID)
}

// died counts a process that has died, by itself (own) or not.
func (k *trackingKill) died(t *testing.T, which int, own bool) time.Time {
	t.Helper()
	if !k.parts[which].Load().Shot() {
		t.Errorf("%s was not killed, and has ended", k.commands[which])
	}
	k.kills++
	if own {
		k.own++
	}
	return time.Now()
}

// goesOn waits until another request is sent after a process has died, unless all runs have ended.
func (k *trackingKill) goesOn(t *testing.T, died time.Time) {
	t.Helper()
	other := k.parts[len(k.parts)-1].Load()
	before, bothDied := k.platforms.requests(), other.Shot()
	wait.For(t, "the next request after a kill", func() bool {
		if !bothDied && other.Shot() { // it had taken the job up, perhaps
			bothDied, died = true, time.Now()
		}
		return k.platforms.requests() > before || k.asked()
	})
	took := time.Since(died)
	k.slowest = max(k.slowest, took)
	t.Logf("kill %d: the job goes on after %s", k.kills, took.Round(100*time.Millisecond))
	if run.LongRun() && took > time.Minute {
		t.Errorf("the job went on %s after a kill, want a minute at most", took)
	}
}

// asked reports whether all runs have ended.
func (k *trackingKill) asked() bool {
	j := k.last.Load()
	return j != nil && j.Progress.Completed == j.Progress.Total
}

// watch looks at the job all the time, which goes forward alone; end waits for its end.
func (k *trackingKill) watch(t *testing.T) (end func() run.Job) {
	t.Helper()
	phases := []string{"queued", "asking", "landing", "done"}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for t.Context().Err() == nil {
			<-time.After(200 * time.Millisecond)
			now, before := k.poll(t), k.last.Load()
			if now == nil {
				continue // none of them is there
			}
			if before != nil &&
				(now.Progress.Completed < before.Progress.Completed || now.Progress.Total != before.Progress.Total ||
					slices.Index(phases, now.Progress.Phase) < slices.Index(phases, before.Progress.Phase)) {
				t.Errorf("the job went from %+v to %+v", before.Progress, now.Progress)
			}
			k.last.Store(now)
			if now.Result != nil {
				return
			}
		}
	}()
	return func() run.Job {
		for before := k.last.Load(); ; before = k.last.Load() {
			select {
			case <-over:
				return *k.last.Load()
			case <-time.After(2 * run.Timeout):
				if now := k.last.Load(); now.Progress == before.Progress {
					t.Fatalf("the job does not move: %+v", now)
				}
			}
		}
	}
}

// poll asks for the job, where a process answers.
func (k *trackingKill) poll(t *testing.T) *run.Job {
	t.Helper()
	id := k.job.Load()
	if id == nil {
		return nil
	}
	for i := range k.parts {
		s := k.parts[i].Load()
		if s == nil || s.URL == "" {
			continue
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/tracking/job/"+*id, nil)
		if err != nil {
			continue
		}
		request.Header.Set("Authorization", "Bearer "+k.Tracker.Key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			continue
		}
		var j run.Job
		err = json.NewDecoder(response.Body).Decode(&j)
		response.Body.Close()
		if err == nil && response.StatusCode == http.StatusOK {
			return &j
		}
	}
	return nil
}

// checkJob checks what the job says of itself.
func (k *trackingKill) checkJob(t *testing.T, j run.Job) {
	t.Helper()
	total := k.prompts * troubledRuns
	if j.Status != "completed" || j.Progress.Phase != "done" || j.Progress.Total != total ||
		j.Progress.Completed != total ||
		j.Result.Answered != total-1 || !maps.Equal(j.Result.GaveUp, map[string]int{"unavailable": 1}) ||
		j.Result.Cancelled != 0 {
		t.Errorf("the job is %+v with the result %+v, want all %d runs but one answered", j, j.Result, total)
	}
}

// checkRuns compares the job's runs with the requests that the platforms have counted, and returns the sum of repeats
// and the ids of the answers.
func (k *trackingKill) checkRuns(t *testing.T, j run.Job) (repeats int, answers map[string]bool) {
	t.Helper()
	rows, err := k.DB.Query(t.Context(),
		`SELECT platform, model, substring(prompt->>'text' FROM 'room (\d+)'), state, attempts, repeats, answer_id
		FROM tracking_runs WHERE job_id = $1`, *k.job.Load())
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	answers = map[string]bool{}
	questions := map[aQuestion]bool{}
	for rows.Next() {
		var q aQuestion
		var state string
		var attempts, again int
		var id uuid.UUID
		if err := rows.Scan(&q.platform, &q.model, &q.prompt, &state, &attempts, &again, &id); err != nil {
			t.Fatal(err)
		}
		repeats += again
		questions[q] = true
		if state == "done" {
			answers[id.String()] = true
		}
		of := k.platforms.of(q)
		if of.all > attempts || of.all > 1+of.failed+again || of.paid > 1+again || (state == "done") != (of.paid > 0) {
			t.Errorf("%+v is %s after %d attempts of which %d repeat one of unknown outcome; "+
				"the platform has counted %+v", q, state, attempts, again, of)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(questions) != j.Progress.Total || repeats != j.Result.Repeats {
		t.Errorf("%d questions and %d repeats, want %d and %d", len(questions), repeats, j.Progress.Total,
			j.Result.Repeats)
	}
	return repeats, answers
}

// checkAnswers checks that /api/v1 has each answer once, and the landing table each record.
func (k *trackingKill) checkAnswers(t *testing.T, want map[string]bool) {
	t.Helper()
	path := "/api/v1/answers?limit=200&brand_id=" + k.Brand.ID.String()
	listed, cursor := map[string]bool{}, ""
	for {
		var page struct {
			Total      int
			Answers    []struct{ ID string }
			NextCursor *string `json:"next_cursor"`
		}
		status, body := run.Fetch(t, k.parts[0].Load().URL+path+cursor, k.Installation.Key)
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != 200 || page.Total != len(want) {
			t.Fatalf("answers: %d %.300s, %v, want %d", status, body, err, len(want))
		}
		for _, a := range page.Answers {
			if listed[a.ID] {
				t.Errorf("answer %s is listed twice", a.ID)
			}
			listed[a.ID] = true
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	if !maps.Equal(listed, want) {
		t.Errorf("/api/v1 lists %d answers, and they are not the %d of the job", len(listed), len(want))
	}
	var rows, ids uint64
	err := k.Warehouse.QueryRow(t.Context(), "SELECT count(), uniqExact(id) FROM answers").Scan(&rows, &ids)
	if total := uint64(k.prompts * troubledRuns); err != nil || rows != total || ids != total {
		t.Errorf("%d rows and %d ids have landed, want %d: %v", rows, ids, total, err)
	}
}
