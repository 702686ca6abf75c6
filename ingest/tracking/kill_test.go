package tracking_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

// workerVariable has the workerConfig of a process that works on jobs until it is killed; faultVariable where it dies
// by itself.
const (
	workerVariable = "ANSWERSCOPE_TEST_WORKER"
	faultVariable  = "ANSWERSCOPE_TEST_FAULT"
)

func workUntilKilled(text string) int {
	var s workerConfig
	err := json.Unmarshal([]byte(text), &s)
	if at := os.Getenv(faultVariable); err == nil && at != "" {
		err = fault.Arm(at)
	}
	if err == nil {
		err = s.work()
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func (s workerConfig) work() error {
	cfg := postgres.DefaultConfig()
	cfg.DSN = s.DSN
	ctx := context.Background()
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return err
	}
	jobs, log, err := s.jobs(db, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	go func() { _ = log.Run(ctx) }()
	return jobs.Run(ctx)
}

// process is another process that works on jobs.
type process struct {
	*exec.Cmd
	log   *logbuffer.Buffer
	ended chan struct{}
}

// work starts a process, which dies at a point if one is given.
func (e *environment) work(t testing.TB, at string) *process {
	t.Helper()
	config := e.workerConfig
	config.HeartbeatTimeout = cmp.Or(config.HeartbeatTimeout, 4*time.Second) // another takes its job over soon
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(os.Args[0]), log: &logbuffer.Buffer{}, ended: make(chan struct{})}
	p.Env = append(os.Environ(), workerVariable+"="+string(text), faultVariable+"="+at)
	p.Stderr = p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(p.ended); _ = p.Wait() }()
	t.Cleanup(p.kill)
	return p
}

func (p *process) kill() {
	_ = p.Process.Kill()
	<-p.ended
}

// A worker is killed at each point of a run. The next one takes its job up: every question is asked once, or its repeat
// is counted, and every answer is on the log.
func TestAKilledWorkerIsReplaced(t *testing.T) {
	t.Parallel()
	for _, point := range fault.TrackingPoints {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, numbered(12)...)
			e.Limits.InFlight = 4
			jobs, _ := e.jobs(t)
			id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha", "beta"}})
			at := string(point) + ":1" // a busy machine appends and marks all answers at once
			if point == fault.Asked || point == fault.Answered {
				at = string(point) + ":3"
			}
			first := e.work(t, at)
			<-first.ended
			e.work(t, "")
			j, r := e.finished(t, id)
			if j.Status != "completed" || r.Answered != 24 {
				t.Errorf("%s: %+v", j.Status, r)
			}
			e.checkAsked(t, r)
			if point == fault.Asked && r.Repeats == 0 {
				t.Error("no repeat, although an answer was lost")
			}
		})
	}
}

// A worker is killed once another job has its answer, and before its own run has. The run is asked again, as a repeat
// that is counted; the other job's is not.
func TestAWorkerIsKilledWhileItShares(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(1)...)
	betaAsked, killed := make(chan struct{}), make(chan struct{})
	isAsked := sync.OnceFunc(func() { close(betaAsked) })
	e.service.behave(func(q question, _ int) (int, time.Duration, time.Duration) {
		if q.Platform == "beta" {
			isAsked()
			<-killed // the first answer is one that is shared
		}
		<-betaAsked // the kill loses its answer
		return http.StatusOK, 0, 0
	})
	jobs, _ := e.jobs(t)
	ids := []uuid.UUID{
		e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}}),
		e.start(t, jobs, tracking.Request{Platforms: []string{"alpha", "beta"}}),
	}
	first := e.work(t, string(fault.Shared)+":1")
	<-first.ended
	close(killed)
	e.work(t, "")
	repeats := 0
	for i, id := range ids {
		j, r := e.finished(t, id)
		if j.Status != "completed" || r.Answered != i+1 {
			t.Errorf("%s: %+v", j.Status, r)
		}
		repeats += r.Repeats
	}
	if answers, _ := e.records(t); repeats < 1 || e.service.requests() != 2+repeats || len(answers) != 3 {
		t.Errorf("%d requests, %d repeats and %d answers on the log", e.service.requests(), repeats, len(answers))
	}
}

// checkAsked checks that each question of a service that always answers was asked once or its repeat counted, and that
// the log has each answer.
func (e *environment) checkAsked(t *testing.T, r result) {
	t.Helper()
	e.service.mu.Lock()
	questions, requests := len(e.service.asked), 0
	for _, n := range e.service.asked {
		requests += n
	}
	e.service.mu.Unlock()
	if requests > questions+r.Repeats {
		t.Errorf("%d requests for %d questions, and %d repeats are counted", requests, questions, r.Repeats)
	}
	answers, _ := e.records(t)
	if len(answers) != questions {
		t.Errorf("%d answers on the log of %d questions", len(answers), questions)
	}
}

// A process is killed between a reservation, of half a minute's tokens, and its settlement. The others have them again
// within a minute.
func TestTokensOfAKilledProcessComeBack(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	e.Limits = platform.Limits{TokensPerMinute: 60_000}
	e.TypicalTokens, e.AnswerTokens = 30_000, 10
	jobs, _ := e.jobs(t)
	id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
	first := e.work(t, string(fault.Asked)+":1")
	<-first.ended
	e.work(t, "")
	if _, r := e.finished(t, id); r.Answered != 3 {
		t.Errorf("%+v after the kill", r)
	}
	wait.For(t, "what was learnt of the answers", func() bool {
		accounts, err := e.db.PlatformAccounts(t.Context(), []string{"alpha"})
		return err == nil && len(accounts) == 1 && accounts[0].TokensPerAnswer > 10 &&
			accounts[0].TokensPerAnswer < 30_000
	})
}

// While Kafka is away answers are kept, and nothing is asked again: what a killed process has left, the next one
// appends.
func TestAnswersOutliveAKillWhileKafkaIsAway(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(10)...)
	jobs, _ := e.jobs(t)
	id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha"}})
	away := *e
	away.Brokers = []string{"127.0.0.1:1"}
	first := away.work(t, "")
	wait.For(t, "all answers", func() bool { return e.job(t, id).Completed == 10 })
	first.kill()
	if j := e.job(t, id); j.Finished() || j.Phase != "asking" {
		t.Errorf("the job is %s, %s, and the log has none of its answers", j.Status, j.Phase)
	}
	e.work(t, "")
	if _, r := e.finished(t, id); r.Answered != 10 || r.Repeats != 0 || e.service.requests() != 10 {
		t.Errorf("%d requests: %+v", e.service.requests(), r)
	}
	e.checkAsked(t, result{})
}

// kills is how often workers die at random moments.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("ANSWERSCOPE_TEST_KILLS")); err == nil {
		return max(n, 2)
	}
	return testkit.Draws(1, 2)
}

// Two workers at a time ask a service that is slow, limits rates, fails and hangs; each is killed at random moments.
// Every question is answered once, or its repeat is counted, and every answer is on the log.
func TestWorkersKilledAtRandom(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(25*kills())...)
	e.Limits.InFlight = 3 // of each platform: the job lasts as long as the kills
	answered := map[string]int{}
	var mu sync.Mutex
	e.service.behave(func(q question, times int) (int, time.Duration, time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		took := time.Duration(rand.IntN(1000)) * time.Millisecond
		switch n := rand.IntN(40); {
		case n < 2 && times < 3:
			return http.StatusTooManyRequests, time.Second, took
		case n < 4 && times < 3:
			return http.StatusServiceUnavailable, 0, took
		case n == 4:
			took = 8 * time.Second
		}
		answered[fmt.Sprint(q)]++
		return http.StatusOK, 0, took
	})
	jobs, _ := e.jobs(t)
	id := e.start(t, jobs, tracking.Request{Platforms: []string{"alpha", "beta"}})
	workers := []*process{e.work(t, ""), e.work(t, "")}
	for n := range kills() {
		<-time.After(time.Duration(1+rand.IntN(3)) * time.Second)
		workers[n%2].kill()
		workers[n%2] = e.work(t, "")
	}
	j, r := e.finished(t, id)
	if j.Status != "completed" || r.Answered != j.Total {
		t.Errorf("%s: %+v", j.Status, r)
	}
	mu.Lock()
	defer mu.Unlock()
	twice := 0
	for _, times := range answered {
		twice += times - 1
	}
	if twice > r.Repeats || len(answered) != j.Total {
		t.Errorf("%d answers were paid for twice, and %d repeats are counted; %d questions of %d", twice, r.Repeats,
			len(answered), j.Total)
	}
	if answers, _ := e.records(t); len(answers) != j.Total {
		t.Errorf("%d answers on the log, want %d", len(answers), j.Total)
	}
	t.Logf("%d kills, %d repeats, %d of them answered before", kills(), r.Repeats, twice)
}
