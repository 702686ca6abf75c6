package auth_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

// keyEnvironment is a database with one user, and the resolver of their keys.
type keyEnvironment struct {
	db   *postgres.DB
	keys *auth.KeyResolver
	user postgres.User
	log  *bytes.Buffer
}

func newKeyEnvironment(t *testing.T) *keyEnvironment {
	t.Helper()
	db := store.OpenControlPlane(t, store.ControlPlane(t))
	o, err := db.AddOrganization(t.Context(), "House", "")
	if err != nil {
		t.Fatal(err)
	}
	user, err := db.AddUser(t.Context(), postgres.NewUser{
		Email: "ann@example.com", OrganizationID: o.ID, Role: "member",
	})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	return &keyEnvironment{db, auth.NewKeyResolver(db, slog.New(slog.NewTextHandler(&log, nil))), user, &log}
}

func (w *keyEnvironment) key(t *testing.T, scopes ...string) (auth.APIKey, postgres.Key) {
	t.Helper()
	key := auth.MintKey()
	kept, err := w.db.AddKey(t.Context(), postgres.NewKey{
		OrganizationID: w.user.OrganizationID, UserID: w.user.ID, Name: "test", Hash: key.Hash, Prefix: key.Prefix,
		Scopes: scopes,
	})
	if err != nil {
		t.Fatal(err)
	}
	return key, kept
}

func (w *keyEnvironment) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := w.db.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

func TestAKeySpeaksForItsUser(t *testing.T) {
	w := newKeyEnvironment(t)
	key, kept := w.key(t)
	want := identity.Identity{
		UserID: w.user.ID, Email: "ann@example.com", OrganizationID: w.user.OrganizationID, Role: "member",
		KeyID: kept.ID, Scopes: []string{},
	}
	for _, header := range []string{"Bearer " + key.Text, "bearer " + key.Text, "BEARER  " + key.Text + " "} {
		if who, err := w.keys.Resolve(t.Context(), header); err != nil || !reflect.DeepEqual(who, want) {
			t.Errorf("Resolve(%.7s…) = %+v, %v", header, who, err)
		}
	}
}

// The answer does not show which keys there are or were.
func TestKeysThatDoNotWorkAreAllAlike(t *testing.T) {
	cases := map[string]func(t *testing.T, w *keyEnvironment) (header string){
		"missing":      func(*testing.T, *keyEnvironment) string { return "" },
		"no scheme":    func(t *testing.T, w *keyEnvironment) string { k, _ := w.key(t); return k.Text },
		"other scheme": func(t *testing.T, w *keyEnvironment) string { k, _ := w.key(t); return "Basic " + k.Text },
		"with dots": func(t *testing.T, w *keyEnvironment) string {
			k, _ := w.key(t)
			return "Bearer " + k.Text[:38] + ".."
		},
		"a typo": func(t *testing.T, w *keyEnvironment) string {
			k, _ := w.key(t)
			return "Bearer " + k.Text[:39] + "!"
		},
		"unknown": func(*testing.T, *keyEnvironment) string { return "Bearer " + auth.MintKey().Text },
		"revoked": func(t *testing.T, w *keyEnvironment) string {
			k, kept := w.key(t)
			if _, err := w.keys.Resolve(t.Context(), "Bearer "+k.Text); err != nil {
				t.Errorf("before: %v", err)
			}
			for range 2 {
				if err := w.db.RevokeKey(t.Context(), kept.ID); err != nil {
					t.Fatal(err)
				}
			}
			return "Bearer " + k.Text
		},
		"expired": func(t *testing.T, w *keyEnvironment) string {
			k, kept := w.key(t)
			w.exec(t, "UPDATE public.api_keys SET expires_at = now() - INTERVAL '1 second' WHERE id = $1", kept.ID)
			return "Bearer " + k.Text
		},
		"inactive user": func(t *testing.T, w *keyEnvironment) string {
			k, _ := w.key(t)
			w.exec(t, "UPDATE private.users SET is_active = false")
			return "Bearer " + k.Text
		},
		"user who left": func(t *testing.T, w *keyEnvironment) string {
			k, _ := w.key(t)
			w.exec(t, "DELETE FROM public.members")
			return "Bearer " + k.Text
		},
	}
	const want = "missing or invalid API key; send Authorization: Bearer svc_…"
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			w := newKeyEnvironment(t)
			who, err := w.keys.Resolve(t.Context(), prepare(t, w))
			if kind, public := problem.Of(err); kind != problem.Unauthenticated || public != want ||
				!reflect.DeepEqual(who, identity.Identity{}) {
				t.Errorf("Resolve() = %+v, %v (%s)", who, err, kind)
			}
		})
	}
}

func TestADatabaseThatIsAwayIsNoWrongKey(t *testing.T) {
	w := newKeyEnvironment(t)
	key, _ := w.key(t)
	w.db.Close()
	_, err := w.keys.Resolve(t.Context(), "Bearer "+key.Text)
	if kind, _ := problem.Of(err); kind != problem.Internal {
		t.Errorf("Resolve() = %v (%s)", err, kind)
	}
}

func TestUsesAreNotedOncePerMinute(t *testing.T) {
	w := newKeyEnvironment(t)
	key, stored := w.key(t)
	later, storedLater := w.key(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.keys.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run() = %v", err)
		}
	}()
	use := func(key auth.APIKey) {
		t.Helper()
		if _, err := w.keys.Resolve(t.Context(), "Bearer "+key.Text); err != nil {
			t.Fatal(err)
		}
	}
	use(key)
	first := w.lastUsed(t, stored.ID, time.Time{})
	use(key)
	use(later)
	w.lastUsed(t, storedLater.ID, time.Time{}) // uses are noted in their order
	if again := w.lastUsed(t, stored.ID, time.Time{}); !again.Equal(first) {
		t.Errorf("noted again at %v, %v after", again, again.Sub(first))
	}
	w.exec(t, "UPDATE public.api_keys SET last_used_at = now() - INTERVAL '61 seconds'")
	use(key)
	w.lastUsed(t, stored.ID, first)
}

// lastUsed waits until a use of a key after the given time is noted.
func (w *keyEnvironment) lastUsed(t *testing.T, id uuid.UUID, after time.Time) (last time.Time) {
	t.Helper()
	wait.For(t, "a use to be noted", func() bool {
		all, err := w.db.ListKeys(t.Context(), w.user.OrganizationID)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(k postgres.Key) bool { return k.ID == id })
		if used := all[i].LastUsedAt; used != nil {
			last = *used
		}
		return last.After(after)
	})
	return last
}

func TestRequireAnswers401(t *testing.T) {
	w := newKeyEnvironment(t)
	key, kept := w.key(t)
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	server.App.Get("/who", w.keys.Require(auth.MetricsRead), func(c *fiber.Ctx) error {
		return c.SendString(identity.FromContext(c.UserContext()).Email)
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	defer func() { cancel(); <-done }()

	ask := func(header string, status int, authenticate, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			"http://"+listener.Addr().String()+"/who", nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			req.Header.Set("Authorization", header)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != status || string(got) != body || resp.Header.Get("WWW-Authenticate") != authenticate {
			t.Errorf("%d %s %q, want %d %s %q", resp.StatusCode, got,
				resp.Header.Get("WWW-Authenticate"), status, body, authenticate)
		}
	}
	const refusal = `{"error":"missing or invalid API key; send Authorization: Bearer svc_…"}`
	ask("", 401, "Bearer", refusal)
	ask("Bearer eyJhbGciOiJIUzI1NiJ9.e30.x", 401, "Bearer",
		`{"error":"no access token is taken here: send Authorization: Bearer and an API key, svc_…"}`)
	ask("Bearer "+key.Text, 200, "", "ann@example.com")
	reading, _ := w.key(t, auth.TrackingWrite, auth.MetricsRead)
	ask("Bearer "+reading.Text, 200, "", "ann@example.com")
	tracking, _ := w.key(t, auth.TrackingWrite)
	ask("Bearer "+tracking.Text, 403, "", "{\"error\":\"the key lacks the scope metrics:read: "+
		"want one that `answerscope key create --scope metrics:read` makes\"}")
	if err := w.db.RevokeKey(t.Context(), kept.ID); err != nil {
		t.Fatal(err)
	}
	ask("Bearer "+key.Text, 401, "Bearer", refusal)
	if strings.Contains(w.log.String(), key.Text) {
		t.Error("the log holds a key")
	}
}
