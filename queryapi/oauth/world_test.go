package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/oauth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	password = "plum-orbit-tacit-91"
	public   = "https://answers.example"
	callback = "https://app.example/callback"
	verifier = "0123456789-0123456789-0123456789-0123456789"
)

// A world is the service for Acme, with a user of each role whose address begins with it, and /who that returns who
// asks. Documents are those of apps, by address; others are fetched.
type world struct {
	db        *postgres.DB
	url       string
	acme      postgres.Organization
	users     map[string]postgres.User
	cookies   map[string]string
	key       string
	documents map[string]string
	log       logbuffer.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		db: store.OpenControlPlane(t, store.ControlPlane(t)), users: map[string]postgres.User{},
		cookies: map[string]string{}, documents: map[string]string{},
	}
	var err error
	w.acme, err = w.db.AddOrganization(t.Context(), "Acme & Sons", "")
	for _, role := range []string{"admin", "member", "viewer"} {
		if err == nil {
			w.users[role], err = w.db.AddUser(t.Context(), postgres.NewUser{Email: role + "@acme.example",
				PasswordHash: auth.HashPassword(password), OrganizationID: w.acme.ID, Role: role})
		}
	}
	minted := auth.MintKey()
	w.key = minted.Text
	if err == nil {
		_, err = w.db.AddKey(t.Context(), postgres.NewKey{OrganizationID: w.acme.ID, UserID: w.users["viewer"].ID,
			Name: "k", Hash: minted.Hash, Prefix: minted.Prefix})
	}
	if err != nil {
		t.Fatal(err)
	}
	real, err := egress.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.url = w.serve(t, false, func(server *httpd.Server, gate *queryapi.Gate) {
		apps := oauth.New(public, func(ctx context.Context, address string) ([]byte, error) {
			if text, ok := w.documents[address]; ok {
				return []byte(text), nil
			}
			return real.Document(ctx, address)
		}, w.db, gate.Provider)
		apps.Mount(server)
		mountWho(server, apps, gate.Keys)
	})
	for role, user := range w.users {
		a := w.send(t, "POST", "/app/api/session", `{"email":"`+user.Email+`","password":"`+password+`"}`)
		w.cookies[role], _, _ = strings.Cut(a.header.Get("Set-Cookie"), ";")
		if a.status != http.StatusNoContent {
			t.Fatalf("sign in %s: %d %s", role, a.status, a.text)
		}
	}
	return w
}

// serve serves what readers see, without a warehouse, and what mount adds.
func (w *world) serve(t *testing.T, isOn bool, mount func(*httpd.Server, *queryapi.Gate)) (url string) {
	t.Helper()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	server := httpd.New(httpd.DefaultConfig(), listener, log, prometheus.NewRegistry())
	settings := config.Settings{PublicURL: public}
	settings.SecretKeys = config.NewSecret("k:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	deps := queryapi.Deps{DB: w.db, Warehouse: &clickhouse.Conn{}, Settings: settings, OAuth: isOn, Log: log}
	gate, err := queryapi.NewGate(t.Context(), deps)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queryapi.Mount(t.Context(), deps, gate, 0, server); err != nil {
		t.Fatal(err)
	}
	mount(server, gate)
	stop := testkit.Start(t, server.Run)
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Log(w.log.String())
		}
	})
	wait.For(t, "the server", func() bool { return server.Ready(t.Context()) == nil })
	return server.URL()
}

// mountWho adds routes that return their caller, for those who may read and for those who may start runs.
func mountWho(server *httpd.Server, apps *oauth.Issuer, keys *auth.KeyResolver) {
	surface := server.Mount(httpd.Surface{Prefix: "/who", Error: auth.PlainRefusal})
	answer := func(c *fiber.Ctx) error { return c.JSON(identity.FromContext(c.UserContext())) }
	surface.Post("", apps.Require(keys, auth.MetricsRead), answer)
	surface.Post("/track", apps.Require(keys, auth.TrackingWrite), answer)
	surface.Post("/forward", apps.Require(keys, auth.MetricsRead), func(c *fiber.Ctx) error {
		token, err := apps.ForwardToken(c.UserContext(), identity.FromContext(c.UserContext()))
		if err != nil {
			return err
		}
		return c.SendString(token)
	})
}

// An answer is a response.
type answer struct {
	status int
	header http.Header
	text   string
}

// field returns a text of a JSON object.
func (a answer) field(t *testing.T, name string) string {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal([]byte(a.text), &body); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.text, err)
	}
	text, _ := body[name].(string)
	return text
}

// location returns the parameters that the browser takes to the app.
func (a answer) location(t *testing.T) url.Values {
	t.Helper()
	to, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusSeeOther {
		t.Fatalf("%d %q: %s", a.status, to, a.text)
	}
	return to.Query()
}

// send sends a request as a page of this origin does; headers are given as "Name: value".
func (w *world) send(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	status, header, text := testkit.Send(t, method, w.url+path, body,
		append([]string{"X-Answerscope: 1", "Sec-Fetch-Site: same-origin"}, headers...)...)
	return answer{status, header, text}
}

const isForm = "Content-Type: application/x-www-form-urlencoded"

// register registers an app and returns its id.
func (w *world) register(t *testing.T, body string) string {
	t.Helper()
	a := w.send(t, "POST", "/register", body)
	if a.status != http.StatusCreated {
		t.Fatalf("register %s: %d %s", body, a.status, a.text)
	}
	return a.field(t, "client_id")
}

// request returns the path of a right request of an app, after changes, names and values in turn; "-" drops a name.
func request(client string, changes ...string) string {
	challenge := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {callback}, "state": {"s&t"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
		"resource": {public + "/mcp"}, "scope": {"metrics:read offline_access"},
	}
	for i := 0; i+1 < len(changes); i += 2 {
		if q.Set(changes[i], changes[i+1]); changes[i+1] == "-" {
			q.Del(changes[i])
		}
	}
	return "/authorize?" + q.Encode()
}

// visit opens a path as the browser of a user.
func (w *world) visit(t *testing.T, role, path string) answer {
	t.Helper()
	return w.send(t, "GET", path, "", "Cookie: "+w.cookies[role])
}

// consent presses a button of the page at a path.
func (w *world) consent(t *testing.T, role, path, form string, headers ...string) answer {
	t.Helper()
	return w.send(t, "POST", path, form, append([]string{"Cookie: " + w.cookies[role], isForm}, headers...)...)
}

// redeem sends the request for tokens by a code, after changes as of request.
func (w *world) redeem(t *testing.T, client, code string, changes ...string) answer {
	t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code},
		"redirect_uri": {callback}, "code_verifier": {verifier}}
	for i := 0; i+1 < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	return w.send(t, "POST", "/token", form.Encode(), isForm)
}

func (w *world) refresh(t *testing.T, client, token string) answer {
	t.Helper()
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {token}}
	return w.send(t, "POST", "/token", form.Encode(), isForm)
}

// connect connects an app by a user who presses Allow in a form, and returns the tokens.
func (w *world) connect(t *testing.T, role, client, form string) (access, refresh string) {
	t.Helper()
	a := w.redeem(t, client, w.consent(t, role, request(client), form).location(t).Get("code"))
	if a.status != http.StatusOK {
		t.Fatalf("redeem: %d %s", a.status, a.text)
	}
	return a.field(t, "access_token"), a.field(t, "refresh_token")
}

// who asks /who, or a path below it, with a credential.
func (w *world) who(t *testing.T, credential, below string) answer {
	t.Helper()
	return w.send(t, "POST", "/who"+below, "", "Authorization: Bearer "+credential)
}

func (w *world) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := w.db.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

// logged returns the actions of the audit log on apps, each with its subject and actor.
func (w *world) logged(t *testing.T) (lines []string) {
	t.Helper()
	rows, err := w.db.Query(t.Context(), `SELECT action || ' ' || subject || ' ' || coalesce(u.email::text, '-')
		FROM public.audit_log AS l LEFT JOIN private.users AS u ON u.id = l.actor_id
		WHERE action LIKE 'app %' ORDER BY at`)
	for err == nil && rows.Next() {
		var line string
		err = rows.Scan(&line)
		lines = append(lines, line)
	}
	if err = errors.Join(err, rows.Err()); err != nil {
		t.Fatal(err)
	}
	return lines
}
