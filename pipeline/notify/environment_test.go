package notify_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/notify"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(workerVariable); dsn != "" {
		os.Exit(workUntilKilled(dsn))
	}
	testkit.Main(m)
}

// environment is an organization with an admin, and a receiver of its events.
type environment struct {
	cfg          postgres.Config
	db           *postgres.DB
	organization postgres.Organization
	receiver     *receiver
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	t.Parallel()
	e := &environment{cfg: store.ControlPlane(t), receiver: &receiver{posts: map[string]int{}}}
	e.db = store.OpenControlPlane(t, e.cfg)
	server := httptest.NewServer(e.receiver)
	t.Cleanup(server.Close)
	e.receiver.url = server.URL
	var err error
	if e.organization, err = e.db.AddOrganization(t.Context(), "House of Lumen", ""); err != nil {
		t.Fatal(err)
	}
	admin := postgres.NewUser{Email: "ana@lumen.example", OrganizationID: e.organization.ID, Role: "admin"}
	if _, err := e.db.AddUser(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	return e
}

// receiver counts the requests by path and event. It answers as its function says, else 200.
type receiver struct {
	url    string
	answer func(http.ResponseWriter, *http.Request)
	mu     sync.Mutex
	posts  map[string]int
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	r.posts[q.URL.Path+" "+q.Header.Get("webhook-id")]++
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(w, q)
	}
}

// count returns the deliveries that came to a path, and how many requests that took; "" is all paths.
func (r *receiver) count(path string) (deliveries, requests int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, n := range r.posts {
		if strings.HasPrefix(key, path) {
			deliveries, requests = deliveries+1, requests+n
		}
	}
	return deliveries, requests
}

// post sends a delivery without a signature.
func post(ctx context.Context, d postgres.Delivery) postgres.Outcome {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, strings.NewReader(string(d.Data)))
	if err != nil {
		return postgres.Outcome{Error: err.Error()}
	}
	request.Header.Set("webhook-id", d.EventID.String())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return postgres.Outcome{Error: "no response"}
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	outcome := postgres.Outcome{Code: response.StatusCode, Excerpt: string(body)}
	if response.StatusCode/100 != 2 {
		outcome.Error, outcome.Final = fmt.Sprintf("status %d", response.StatusCode),
			response.StatusCode == http.StatusGone
	}
	return outcome
}

// quickly is a configuration whose leases end soon.
func quickly() notify.Config {
	cfg := notify.DefaultConfig()
	cfg.Deliver, cfg.PollInterval = post, 50*time.Millisecond
	return cfg
}

func (e *environment) run(t *testing.T, db *postgres.DB, cfg notify.Config) (log *logbuffer.Buffer) {
	t.Helper()
	log = &logbuffer.Buffer{}
	worker, err := notify.New(cfg, db, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(testkit.Start(t, worker.Run))
	return log
}

// endpoint adds an endpoint at a path of the receiver.
func (e *environment) endpoint(t *testing.T, path string) uuid.UUID {
	t.Helper()
	return one[uuid.UUID](t, e, "INSERT INTO public.webhook_endpoints (organization_id, url) VALUES ($1, $2) "+
		"RETURNING id",
		e.organization.ID, e.receiver.url+path)
}

// emit adds an event.
func (e *environment) emit(t *testing.T) uuid.UUID {
	t.Helper()
	return one[uuid.UUID](t, e, "SELECT private.emit($1, NULL, 'brand.created', '{}')", e.organization.ID)
}

func (e *environment) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := e.db.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func one[T any](t *testing.T, e *environment, text string, args ...any) (value T) {
	t.Helper()
	if err := e.db.QueryRow(t.Context(), text, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// statuses lists how many deliveries, or mails, have which status, such as "1 delivered, 2 pending".
func (e *environment) statuses(t *testing.T, table string) string {
	t.Helper()
	return one[string](t, e, `SELECT coalesce(string_agg(n || ' ' || status, ', ' ORDER BY status), '')
		FROM (SELECT status, count(*) AS n FROM `+table+` GROUP BY status) AS s`)
}
