package metrics

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// today is when every service of these tests believes to be.
var today = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// A service is the API on a port of its own, over databases of its own.
type service struct {
	url       string
	db        *postgres.DB
	warehouse *clickhouse.Conn
}

func newService(t *testing.T) *service {
	t.Helper()
	return newServiceOn(t, openClickHouse(t))
}

func newServiceOn(t *testing.T, warehouse *clickhouse.Conn) *service {
	t.Helper()
	s := &service{db: openPostgres(t), warehouse: warehouse}
	s.url = serve(t, s.db, s.warehouse)
	runUntilEnd(t, upkeep.NewMirror(s.db, s.warehouse, prometheus.NewRegistry(), logTo(t)).Run)
	return s
}

// serve starts the API and returns where it is.
func serve(t *testing.T, db *postgres.DB, warehouse *clickhouse.Conn) (url string) {
	t.Helper()
	return serveWith(t, Config{}, db, warehouse)
}

func serveWith(t *testing.T, cfg Config, db *postgres.DB, warehouse *clickhouse.Conn) (url string) {
	t.Helper()
	return serveAPI(t, New(cfg, db, warehouse, func() time.Time { return today }))
}

func serveAPI(t *testing.T, api *API) (url string) {
	t.Helper()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, logTo(t), prometheus.NewRegistry())
	api.Mount(server, auth.NewKeyResolver(api.db, logTo(t)))
	runUntilEnd(t, server.Run)
	return server.URL()
}

func logTo(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

func runUntilEnd(t *testing.T, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run() = %v", err)
		}
	})
}

func openPostgres(t *testing.T) *postgres.DB {
	t.Helper()
	return store.OpenControlPlane(t, store.ControlPlane(t))
}

// openComplete is openClickHouse with the named views.
func openComplete(t *testing.T) *clickhouse.Conn {
	t.Helper()
	return store.OpenWarehouse(t, store.CompleteWarehouse(t))
}

func openClickHouse(t *testing.T) *clickhouse.Conn {
	t.Helper()
	return store.OpenWarehouse(t, store.Warehouse(t))
}

func migrated(t *testing.T, c clickhouse.Config) *clickhouse.Conn {
	t.Helper()
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	return store.OpenWarehouse(t, c)
}

// A reply is a response that was read whole.
type reply struct {
	*http.Response
	body string
}

// ask sends a request whose headers are given as "Name: value", and holds the response against the contract.
func (s *service) ask(t *testing.T, method, target string, headers ...string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "identity")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := reply{response, string(body)}
	contractOf(t).hold(t, method, target, r)
	return r
}
