package queryapi_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	password      = "plum-orbit-tacit-91"
	otherPassword = "seven-lamps-hover-low"
)

// users is the service for users, with Acme, whose admin is ann, and Other, whose owner is olga.
type users struct {
	db           *postgres.DB
	url          string
	acme, other  postgres.Organization
	ann, olga    postgres.User
	ring         secret.Ring
	log          logbuffer.Buffer
	registration *prometheus.Registry
	served       *httpd.Server
}

// newUsers serves what readers see, without a warehouse, once set has changed the settings.
func newUsers(t *testing.T, set func(*config.Settings)) *users {
	t.Helper()
	w := &users{db: store.OpenControlPlane(t, store.ControlPlane(t)), registration: prometheus.NewRegistry()}
	var err error
	check := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w.acme, err = w.db.AddOrganization(t.Context(), "Acme", "")
	check()
	w.other, err = w.db.AddOrganization(t.Context(), "Other", "")
	check()
	w.ann, w.olga = w.add(t, w.acme, "ann@example.com", "admin"), w.add(t, w.other, "olga@example.com", "owner")
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	check()
	cfg := httpd.DefaultConfig()
	log := newLog(&w.log)
	server := httpd.New(cfg, listener, log, w.registration)
	w.url, w.served = server.URL(), server
	keys := "k:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	settings := config.Settings{PublicURL: w.url}
	settings.SecretKeys = config.NewSecret(keys)
	settings.Mail.URL = config.NewDSN("smtp://127.0.0.1:25")
	if set != nil {
		set(&settings)
	}
	w.ring, err = settings.SecretRing()
	check()
	deps := queryapi.Deps{DB: w.db, Warehouse: &clickhouse.Conn{}, Settings: settings, Log: log}
	gate, err := queryapi.NewGate(t.Context(), deps)
	check()
	parts, err := queryapi.Mount(t.Context(), deps, gate, 0, server)
	check()
	stops := []func(){testkit.Start(t, server.Run)}
	for _, part := range parts {
		stops = append(stops, testkit.Start(t, part.Run))
	}
	t.Cleanup(func() {
		for _, stop := range stops {
			stop()
		}
		if t.Failed() {
			t.Log(w.log.String())
		}
	})
	wait.For(t, "the server", func() bool { return server.Ready(t.Context()) == nil })
	return w
}

func (w *users) add(t *testing.T, o postgres.Organization, email, role string) postgres.User {
	t.Helper()
	user, err := w.db.AddUser(t.Context(), postgres.NewUser{
		Email: email, PasswordHash: auth.HashPassword(password), OrganizationID: o.ID, Role: role,
	})
	if err != nil {
		t.Fatal(err)
	}
	return user
}

func (w *users) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := w.db.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

func value[T any](t *testing.T, w *users, text string, args ...any) (v T) {
	t.Helper()
	if err := w.db.QueryRow(t.Context(), text, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// A browserless client keeps cookies, as a browser does, and follows no redirect.
type client struct {
	w       *users
	cookies map[string]string
	host    string // in place of the server's
	far     bool   // its requests come from pages of another site
}

func (w *users) client() *client { return &client{w: w, cookies: map[string]string{}} }

// An answer is a response.
type answer struct {
	status int
	header http.Header
	text   string
}

func (c *client) send(t *testing.T, method, path, kind, body string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, c.w.url+path,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	request.Header.Set("X-Answerscope", "1")
	request.Header.Set("Sec-Fetch-Site", map[bool]string{false: "same-origin", true: "cross-site"}[c.far])
	if c.host != "" {
		request.Host = c.host
		request.Header.Set("X-Forwarded-Host", c.host)
	}
	for name, value := range c.cookies {
		request.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range response.Cookies() {
		if c.cookies[cookie.Name] = cookie.Value; cookie.MaxAge < 0 {
			delete(c.cookies, cookie.Name)
		}
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

func (c *client) get(t *testing.T, path string) answer {
	t.Helper()
	return c.send(t, "GET", strings.TrimPrefix(path, c.w.url), "", "")
}

func (c *client) post(t *testing.T, path, json string) answer {
	t.Helper()
	return c.send(t, "POST", path, "application/json", json)
}

// submit sends a page's form.
func (c *client) submit(t *testing.T, path string, password string) answer {
	t.Helper()
	return c.send(t, "POST", strings.TrimPrefix(path, c.w.url), "application/x-www-form-urlencoded",
		url.Values{"password": {password}}.Encode())
}

func (c *client) signIn(t *testing.T, email, password string) answer {
	t.Helper()
	return c.post(t, "/app/api/session", `{"email":"`+email+`","password":"`+password+`"}`)
}

// as returns a client that has signed in.
func (w *users) as(t *testing.T, email string) *client {
	t.Helper()
	c := w.client()
	if a := c.signIn(t, email, password); a.status != http.StatusNoContent {
		t.Fatalf("sign in %s: %d %s", email, a.status, a.text)
	}
	return c
}

// whoAmI returns the address and role of a client's session, "" without one.
func (c *client) whoAmI(t *testing.T) string {
	t.Helper()
	a := c.get(t, "/app/api/session")
	if a.status != http.StatusOK {
		return ""
	}
	return between(t, a.text, `"email":"`, `"`) + " " + between(t, a.text, `"role":"`, `"`)
}

func between(t *testing.T, text, before, after string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, before)
	found, _, also := strings.Cut(rest, after)
	if !ok || !also {
		t.Fatalf("no %s…%s in %s", before, after, text)
	}
	return found
}

func (a answer) is(t *testing.T, what string, status int, texts ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: %d %s, want %d", what, a.status, a.text, status)
	}
	for _, text := range texts {
		if !strings.Contains(a.text, text) {
			t.Errorf("%s: %s lacks %s", what, a.text, text)
		}
	}
}

// Once, 3 KB of brotli that unpack to 4 GB ended the process, sent to /auth/v1/token by anybody.
func TestNoRouteUnpacksABody(t *testing.T) {
	t.Parallel()
	w := newUsers(t, nil)
	for _, route := range w.served.App.GetRoutes(true) {
		request, err := http.NewRequestWithContext(t.Context(), route.Method, w.url+route.Path,
			strings.NewReader("packed"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Encoding", "br")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("%s %s: %s", route.Method, route.Path, response.Status)
		}
	}
}
