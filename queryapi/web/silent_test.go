package web

import (
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const goodPassword = "plum-orbit-tacit-91"

// A client asks a service that serves every surface of queryapi but /rest/v1.
type client struct {
	url                 string
	key, access, cookie string
}

// serve serves the surfaces over a control plane until the test ends.
func serve(t *testing.T, db *postgres.DB) *client {
	t.Helper()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	server := httpd.New(httpd.DefaultConfig(), listener, log, prometheus.NewRegistry())
	ring, err := secret.ParseRing("k:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	if err != nil {
		t.Fatal(err)
	}
	warehouse := store.OpenWarehouse(t, store.Warehouse(t))
	provider, keys := auth.NewProvider(auth.Config{}, db, ring, log), auth.NewKeyManager(db, time.Now)
	tokens, api := provider.Tokens(), metrics.New(metrics.DefaultConfig(), db, warehouse, time.Now)
	api.Mount(server, auth.NewKeyResolver(db, log))
	provider.Mount(server)
	keys.Mount(tokens.Mount(server).Group("/keys"), tokens.RequireToken)
	keys.Mount(provider.MountDashboard(server).Group("/keys"), provider.RequireDashboard)
	api.MountAt(server, auth.DashboardPrefix+"/v1", provider.RequireDashboard)
	server.App.Get(auth.DashboardPrefix+"/forwarded", func(c *fiber.Ctx) error {
		_, err := provider.DashboardToken(c)
		return err
	})
	New(db, warehouse, provider, false).Mount(server)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &client{url: server.URL()}
}

// ask sends a request with a credential that its path takes, and as a page of this origin.
func (cl *client) ask(t *testing.T, method, path, body string) (status int, header http.Header, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, cl.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Answerscope", "1")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	switch {
	case strings.HasPrefix(path, "/api/v1"):
		request.Header.Set("Authorization", "Bearer "+cl.key)
	case strings.HasPrefix(path, "/api"), strings.HasPrefix(path, "/auth"):
		request.Header.Set("Authorization", "Bearer "+cl.access)
	default:
		request.Header.Set("Cookie", cl.cookie)
	}
	response, err := (&http.Transport{}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(read)
}

// While PostgreSQL is silent, as behind a firewall that drops its packets, every request ends as 503 within five
// seconds; without a deadline it waited until TCP gave up.
func TestASilentPostgresIs503(t *testing.T) {
	t.Parallel()
	cfg := store.ControlPlane(t)
	proxy := testkit.NewProxy(t, cfg.DSN)
	cfg.DSN = proxy.DSN
	db := store.OpenControlPlane(t, cfg)
	organization, err := db.AddOrganization(t.Context(), "Acme", "")
	if err != nil {
		t.Fatal(err)
	}
	user, err := db.AddUser(t.Context(), postgres.NewUser{
		Email: "ann@example.com", PasswordHash: auth.HashPassword(goodPassword),
		OrganizationID: organization.ID, Role: "admin",
	})
	if err != nil {
		t.Fatal(err)
	}
	minted := auth.MintKey()
	if _, err := db.AddKey(t.Context(),
		postgres.NewKey{
			OrganizationID: organization.ID, UserID: user.ID, Name: "test", Hash: minted.Hash, Prefix: minted.Prefix,
		}); err != nil {
		t.Fatal(err)
	}
	at := serve(t, db)
	t.Cleanup(proxy.Cut) // or the pool would wait for its connections to close
	at.key = minted.Text
	const signIn = `{"email":"ann@example.com","password":"` + goodPassword + `"}`
	_, _, session := at.ask(t, "POST", "/auth/v1/token?grant_type=password", signIn)
	_, after, _ := strings.Cut(session, `"access_token":"`)
	at.access, _, _ = strings.Cut(after, `"`)
	_, header, _ := at.ask(t, "POST", "/app/api/session", signIn)
	at.cookie, _, _ = strings.Cut(header.Get("Set-Cookie"), ";")
	requests := [][3]string{
		{"GET", "/api/v1/whoami"}, {"GET", "/api/health"}, {"GET", "/api/keys"}, {"GET", "/auth/v1/user"},
		{"GET", "/app/api/session"}, {"GET", "/app/api/members"}, {"GET", "/app/api/keys"},
		{"GET", "/app/api/v1/brands"},
		{"GET", "/app/api/forwarded"}, {"GET", "/"}, {"GET", "/brands/acme"},
		{"POST", "/auth/v1/token?grant_type=password", signIn},
		{"POST", "/auth/v1/token?grant_type=refresh_token", `{"refresh_token":"x"}`},
		{"POST", "/app/api/session", signIn}, {"POST", "/auth/v1/logout"}, {"DELETE", "/app/api/session"},
	}
	for _, r := range requests[:9] {
		if status, _, text := at.ask(t, r[0], r[1], r[2]); status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", r[0], r[1], status, text)
		}
	}
	proxy.Drop()
	for _, r := range requests {
		t.Run(r[0]+" "+r[1], func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			status, _, text := at.ask(t, r[0], r[1], r[2])
			if took := time.Since(began); status != http.StatusServiceUnavailable || took > wait.Hang {
				t.Errorf("%d %s after %s", status, text, took)
			}
		})
	}
}
