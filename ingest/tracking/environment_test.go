package tracking_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) {
	if worker := os.Getenv(workerVariable); worker != "" {
		os.Exit(workUntilKilled(worker))
	}
	testkit.Main(m)
}

// workerConfig configures a process that works on jobs.
type workerConfig struct {
	DSN, Prefix, Service string
	Brokers              []string
	Limits               platform.Limits
	TypicalTokens        int64                // of an answer, as the platforms describe it
	AnswerTokens         int64                // of an answer, as it says
	Accounts             map[uuid.UUID]string // by organization
	MissingKey           string               // a platform whose key this process has not
	Unusable             string               // a platform that this process cannot open
	BrokenOrganization   uuid.UUID            // the organization whose platforms cannot be listed
	FailingList          *atomic.Int64        `json:"-"` // which listing of an organization's platforms fails
	LosesRecords         bool                 // whether the log loses every record
	ClockAhead           time.Duration        // by how much its clock is ahead
	// the variables of capture providers, whose surface chatgpt-web is asked, too
	Captures         []string
	FirstPause       time.Duration // of a capture provider that fails, where it is not the default
	CallbackURL      string        // at which capture providers call; "": they do not
	HeartbeatTimeout time.Duration // after which a worker's job is given to another one, where it is not the default
}

// environment is an organization with a brand, a log, and a service that is asked.
type environment struct {
	workerConfig
	db      *postgres.DB
	proxy   *testkit.Proxy // between workers and PostgreSQL; nil: they reach it directly
	brand   postgres.Brand
	service *service
}

func newEnvironment(t testing.TB, prompts ...string) *environment {
	t.Helper()
	cfg := store.ControlPlane(t)
	e := &environment{service: &service{asked: map[string]int{}}, db: store.OpenControlPlane(t, cfg)}
	server := httptest.NewServer(e.service)
	t.Cleanup(server.Close)
	e.workerConfig = workerConfig{
		DSN: cfg.DSN, Prefix: testkit.Prefix(t), Service: server.URL, Brokers: testkit.Kafka(t),
	}
	topics := producer.DefaultTopicsConfig()
	topics.Brokers, topics.Prefix, topics.Partitions = e.Brokers, e.Prefix, 1
	if _, err := producer.CreateTopics(t.Context(), topics); err != nil {
		t.Fatal(err)
	}
	e.brand = e.addBrand(t, "Lumen", prompts...)
	return e
}

// addBrand adds an organization with a brand and its prompts.
func (e *environment) addBrand(t testing.TB, name string, prompts ...string) postgres.Brand {
	t.Helper()
	organization, err := e.db.AddOrganization(t.Context(), name, "")
	if err != nil {
		t.Fatal(err)
	}
	brand, _, err := e.db.AddBrand(t.Context(), organization.ID, postgres.NewBrand{
		Name: name, Domains: []string{"lumen.example"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var wanted []postgres.NewPrompt
	for _, p := range prompts {
		wanted = append(wanted, postgres.NewPrompt{Text: p})
	}
	if _, err := e.db.EnsurePrompts(t.Context(), brand.ID, wanted); err != nil {
		t.Fatal(err)
	}
	return brand
}

func numbered(n int) (prompts []string) {
	for i := range n {
		prompts = append(prompts, fmt.Sprintf("best lamp, version %d?", i))
	}
	return prompts
}

// run works on jobs in this process until the test ends, or stop is called.
func (e *environment) run(t *testing.T) (jobs *tracking.Jobs, stop func()) {
	t.Helper()
	jobs, log := e.jobs(t)
	stopLog := testkit.Start(t, log.Run)
	stopJobs := testkit.Start(t, jobs.Run)
	stop = sync.OnceFunc(func() { stopJobs(); stopLog() })
	t.Cleanup(stop)
	return jobs, stop
}

// jobs are not worked on yet.
func (e *environment) jobs(t testing.TB) (*tracking.Jobs, *producer.Producer) {
	t.Helper()
	db := e.db
	if e.proxy != nil {
		cfg := postgres.DefaultConfig()
		cfg.DSN = e.proxy.DSN
		db = store.OpenControlPlane(t, cfg)
	}
	jobs, log, err := e.workerConfig.jobs(db, testkit.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	return jobs, log
}

func (s workerConfig) jobs(db *postgres.DB, log *slog.Logger) (*tracking.Jobs, *producer.Producer, error) {
	cfg := producer.DefaultConfig()
	cfg.Brokers, cfg.Prefix = s.Brokers, s.Prefix
	appends, err := producer.New(cfg, log, prometheus.NewRegistry())
	if err != nil {
		return nil, nil, err
	}
	jobs, err := tracking.NewJobs(tracking.Parts{
		DB: db, ListPlatforms: platforms{s}.List, Append: appends.AppendAll,
		Room: appends.AwaitRoom, Now: func() time.Time {
			return time.Now().Add(s.ClockAhead)
		},
		Dead: func(context.Context, uuid.UUID, uuid.UUID, []uuid.UUID) (map[uuid.UUID]bool, error) { return nil, nil },
		Landed: func(_ context.Context, _, _ uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
			landed := map[uuid.UUID]bool{}
			for _, id := range ids {
				if !s.LosesRecords {
					landed[id] = true
				}
			}
			return landed, nil
		},
	}, prometheus.NewRegistry(), log)
	if err == nil && s.HeartbeatTimeout > 0 {
		jobs.SetHeartbeatTimeout(s.HeartbeatTimeout)
	}
	if err == nil && s.FirstPause > 0 {
		jobs.SetFirstPause(s.FirstPause)
	}
	if err == nil && s.CallbackURL != "" {
		jobs.Callbacks = s.callbacks()
	}
	return jobs, appends, err
}

// exec changes what is stored.
func (e *environment) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := e.db.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// start starts a job.
func (e *environment) start(t testing.TB, jobs *tracking.Jobs, r tracking.Request) uuid.UUID {
	t.Helper()
	id, err := jobs.Start(t.Context(), e.brand, r, tracking.Caller{})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (e *environment) job(t *testing.T, id uuid.UUID) postgres.TrackingJob {
	t.Helper()
	j, err := e.db.TrackingJob(t.Context(), e.brand.OrganizationID, id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// result is what a finished job says.
type result struct {
	Answered  int            `json:"answered"`
	NotShown  int            `json:"notShown"`
	GaveUp    map[string]int `json:"gaveUp"`
	Cancelled int            `json:"cancelled"`
	Repeats   int            `json:"repeats"`
	Cost      struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`
	DegradedPlatforms []string `json:"degradedPlatforms"`
}

// finished waits for the end of a job, whose progress must never fall, and adds up.
func (e *environment) finished(t *testing.T, id uuid.UUID) (postgres.TrackingJob, result) {
	t.Helper()
	phases := []string{"queued", "asking", "landing", "done"}
	var last postgres.TrackingJob
	wait.For(t, "the end of the job", func() bool {
		j := e.job(t, id)
		if j.Completed < last.Completed || j.Total != last.Total &&
			last.Total > 0 || index(phases, j.Phase) < index(phases, last.Phase) {
			t.Fatalf("the job went from %+v to %+v", last, j)
		}
		if (j.Result != nil) != j.Finished() {
			t.Fatalf("status %s with the result %s", j.Status, j.Result)
		}
		last = j
		return j.Finished()
	})
	var r result
	if err := json.Unmarshal(last.Result, &r); err != nil {
		t.Fatal(err)
	}
	sum := r.Answered + r.Cancelled
	for _, n := range r.GaveUp {
		sum += n
	}
	if last.Phase != "done" || last.Completed != last.Total || sum != last.Total {
		t.Errorf("%+v does not add up to its result %+v", last, r)
	}
	return last, r
}

func index(list []string, of string) int {
	for i := range list {
		if list[i] == of {
			return i
		}
	}
	return -1
}

// records are the answers on the log, by id; how often each is there.
func (e *environment) records(t *testing.T) (answers map[uuid.UUID]event.Answer, times map[uuid.UUID]int) {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	conn, err := kafka.DialLeader(ctx, "tcp", e.Brokers[0], e.Prefix+event.TopicAnswers, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	end, err := conn.ReadLastOffset()
	if err != nil {
		t.Fatal(err)
	}
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: e.Brokers, Topic: e.Prefix + event.TopicAnswers, MaxWait: 100 * time.Millisecond,
	})
	defer reader.Close()
	answers, times = map[uuid.UUID]event.Answer{}, map[uuid.UUID]int{}
	for range end {
		m, err := reader.ReadMessage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var a event.Answer
		if err := event.DecodeAnswer(m.Value, &a); err != nil {
			t.Fatal(err)
		}
		answers[a.ID] = a
		times[a.ID]++
	}
	return answers, times
}

// service is what platforms ask: it answers, unless a behavior says otherwise.
type service struct {
	mu       sync.Mutex
	asked    map[string]int // requests by question
	inFlight int
	most     int // in flight at once
	behaves  func(q question, times int) (status int, retryAfter time.Duration, took time.Duration)
}

type question struct {
	Platform, Text, Model, Region string
	Sample                        int64
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q question
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	key := fmt.Sprint(q)
	s.asked[key]++
	s.inFlight++
	s.most = max(s.most, s.inFlight)
	times, behaves := s.asked[key], s.behaves
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight--
	}()
	status, retryAfter, took := http.StatusOK, time.Duration(0), 5*time.Millisecond
	if behaves != nil {
		status, retryAfter, took = behaves(q, times)
	}
	select {
	case <-r.Context().Done():
		return
	case <-time.After(took):
	}
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	}
	w.WriteHeader(status)
	fmt.Fprintf(w, "Lumen is the answer to %s", q.Text)
}

// requests is how often the service was asked.
func (s *service) requests() (sum int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.asked {
		sum += n
	}
	return sum
}

func (s *service) behave(behaves func(q question, times int) (int, time.Duration, time.Duration)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaves = behaves
}
