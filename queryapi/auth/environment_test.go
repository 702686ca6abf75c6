package auth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const rightPassword = "plum-orbit-tacit-91"

// An environment is a service with one user, ann, whose proxies are on this machine.
type environment struct {
	db       *postgres.DB
	provider *Provider
	url      string
	ann      postgres.User
	log      logbuffer.Buffer
}

// ringOf has a key for each letter.
func ringOf(t *testing.T, letters string) secret.Ring {
	t.Helper()
	var keys []string
	for letter := range strings.SplitSeq(letters, "") {
		keys = append(keys, letter+":"+base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32))))
	}
	ring, err := secret.ParseRing(strings.Join(keys, ","))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	w := &environment{db: store.OpenControlPlane(t, store.ControlPlane(t))}
	w.ann = w.add(t, "ann@example.com")
	w.provider = NewProvider(w.config(), w.db, ringOf(t, "k"), newLog(w))
	w.url = w.serve(t, func(server *httpd.Server) {
		w.provider.Mount(server)
		tokens := w.provider.Tokens()
		NewKeyManager(w.db, time.Now).Mount(tokens.Mount(server).Group("/keys"), tokens.RequireToken)
	})
	return w
}

func newLog(w *environment) *slog.Logger { return slog.New(slog.NewTextHandler(&w.log, nil)) }

func (w *environment) config() Config {
	return Config{Proxies: httpd.Proxies{netip.MustParsePrefix("127.0.0.0/8")}}
}

// serve serves until the test ends.
func (w *environment) serve(t *testing.T, mount func(*httpd.Server)) (url string) {
	t.Helper()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, newLog(w), prometheus.NewRegistry())
	mount(server)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(w.log.String())
		}
	})
	return server.URL()
}

// add adds a user with the right password to an organization of their own.
func (w *environment) add(t *testing.T, email string) postgres.User {
	t.Helper()
	o, err := w.db.AddOrganization(t.Context(), "House of "+email, "")
	if err != nil {
		t.Fatal(err)
	}
	user, err := w.db.AddUser(t.Context(), postgres.NewUser{
		Email: email, PasswordHash: HashPassword(rightPassword), OrganizationID: o.ID, Role: "admin",
	})
	if err != nil {
		t.Fatal(err)
	}
	return user
}

func (w *environment) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := w.db.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

// An answer is what a client gets.
type answer struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// ask sends a request; headers are names and values in turn.
func (w *environment) ask(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json;charset=UTF-8")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: response.StatusCode, header: response.Header, text: string(text)}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &a.body); err != nil {
			t.Fatalf("%s %s: %d %s", method, path, a.status, text)
		}
	}
	return a
}

func (w *environment) with(t *testing.T, method, path, token string) answer {
	t.Helper()
	return w.ask(t, method, path, "", "Authorization", "Bearer "+token)
}

// session is what a client keeps.
type session struct{ access, refresh string }

func (w *environment) signIn(t *testing.T, email string) session {
	t.Helper()
	return sessionOf(t, w.ask(t, "POST", "/auth/v1/token?grant_type=password",
		`{"email":"`+email+`","password":"`+rightPassword+`","gotrue_meta_security":{}}`))
}

func (w *environment) refresh(t *testing.T, token string) answer {
	t.Helper()
	return w.ask(t, "POST", "/auth/v1/token?grant_type=refresh_token", `{"refresh_token":"`+token+`"}`)
}

func sessionOf(t *testing.T, a answer) session {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.text)
	}
	return session{a.body["access_token"].(string), a.body["refresh_token"].(string)}
}

// refused checks an error of /auth/v1.
func (a answer) refused(t *testing.T, what string, status int, code string) {
	t.Helper()
	message, _ := a.body["message"].(string)
	if a.status != status || a.body["code"] != code || len(a.body) != 2 || message == "" ||
		a.header.Get("X-Supabase-Api-Version") != "2024-01-01" {
		t.Errorf("%s: %d %s %v, want %d %s", what, a.status, a.text, a.header, status, code)
	}
}
