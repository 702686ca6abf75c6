package auth_test

import (
	"context"
	"encoding/json"
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
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

// noon is when the users of a household make their keys.
var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// A household is /api/keys with users of each role in one organization, and an owner in another. Who asks is said in a
// header, since how it is proved is none of the handlers' business.
type household struct {
	*keyEnvironment
	url   string
	users map[string]postgres.User
}

func newHousehold(t *testing.T) *household {
	t.Helper()
	h := &household{keyEnvironment: newKeyEnvironment(t), users: map[string]postgres.User{}}
	other, err := h.db.AddOrganization(t.Context(), "Other", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		organization uuid.UUID
		role         string
	}{
		"owner": {h.user.OrganizationID, "owner"}, "admin": {h.user.OrganizationID, "admin"},
		"member": {h.user.OrganizationID, "member"},
		"viewer": {h.user.OrganizationID, "viewer"}, "stranger": {other.ID, "owner"},
	} {
		h.users[name], err = h.db.AddUser(t.Context(), postgres.NewUser{
			Email: name + "@example.com", OrganizationID: of.organization, Role: of.role,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, slog.New(slog.NewTextHandler(t.Output(), nil)),
		prometheus.NewRegistry())
	auth.NewKeyManager(h.db, func() time.Time { return noon }).Mount(server.App.Group("/api/keys"),
		func(c *fiber.Ctx) error {
			u := h.users[c.Get("From")]
			c.SetUserContext(identity.NewContext(c.UserContext(),
				identity.Identity{UserID: u.ID, Email: u.Email, OrganizationID: u.OrganizationID, Role: u.Role}))
			return c.Next()
		})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	h.url = server.URL()
	return h
}

func (h *household) ask(t *testing.T, from, method, path, body string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, h.url+"/api/keys"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("From", from)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(got)
}

// A shownKey is a key in an answer.
type shownKey struct {
	ID        uuid.UUID  `json:"id"`
	Key       string     `json:"key"`
	Name      string     `json:"name"`
	Prefix    string     `json:"prefix"`
	User      string     `json:"user"`
	Scopes    []string   `json:"scopes"`
	ExpiresAt *time.Time `json:"expires_at"`
	RevokedAt *time.Time `json:"revoked_at"`
}

func (h *household) create(t *testing.T, from, body string) shownKey {
	t.Helper()
	status, text := h.ask(t, from, "POST", "", body)
	return read[shownKey](t, status, 201, text)
}

func (h *household) list(t *testing.T, from string) []shownKey {
	t.Helper()
	status, text := h.ask(t, from, "GET", "", "")
	return read[struct {
		Keys []shownKey `json:"keys"`
	}](t, status, 200, text).Keys
}

func read[T any](t *testing.T, status, want int, text string) (body T) {
	t.Helper()
	if status != want {
		t.Fatalf("%d %s, want %d", status, text, want)
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestAKeyIsShownOnce(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	made := h.create(t, "member", `{"name":" reports ","scopes":["tracking:write","metrics:read","metrics:read"],`+
		`"expires_at":"2027-12-31T00:00:00+01:00"}`)
	want := shownKey{
		ID: made.ID, Key: made.Key, Name: "reports", Prefix: made.Key[:8],
		Scopes: []string{"metrics:read", "tracking:write"}, ExpiresAt: made.ExpiresAt,
	}
	if !reflect.DeepEqual(made, want) || !made.ExpiresAt.Equal(time.Date(2027, 12, 30, 23, 0, 0, 0, time.UTC)) {
		t.Errorf("made %+v", made)
	}
	if who, err := h.keys.Resolve(t.Context(), "Bearer "+made.Key); err != nil || who.UserID != h.users["member"].ID ||
		who.KeyID != made.ID {
		t.Errorf("it resolves to %+v, %v", who, err)
	}
	for _, from := range []string{"member", "owner"} {
		if status, text := h.ask(t, from, "GET", "", ""); status != 200 || strings.Contains(text, made.Key[8:]) ||
			!strings.Contains(text, `"last_used_at":null`) {
			t.Errorf("%s: %d %s", from, status, text)
		}
	}
	simple := h.create(t, "viewer", `{"name":"simple"}`)
	if !reflect.DeepEqual(simple.Scopes, []string{"metrics:read"}) || simple.ExpiresAt != nil {
		t.Errorf("made %+v", simple)
	}
	log, err := h.db.AuditLog(t.Context(), 1)
	if err != nil || log[0].Action != "key added" || log[0].Subject != simple.Prefix+"… simple" ||
		!strings.HasPrefix(log[0].Actor, h.users["viewer"].ID.String()+" through ") {
		t.Errorf("audit log: %+v, %v", log, err)
	}
}

// Users see and revoke their own keys, admins and owners everyone's, and nobody those of another organization.
func TestWhoseKeysAreWhose(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	everyone := []string{"admin", "member", "owner", "stranger", "viewer"}
	manages := map[string][]string{
		"viewer": {"viewer"}, "member": {"member"}, "stranger": {"stranger"},
		"admin": {"admin", "member", "owner", "viewer"}, "owner": {"admin", "member", "owner", "viewer"},
	}
	for _, by := range everyone {
		made := map[string]shownKey{}
		for _, from := range everyone {
			made[from] = h.create(t, from, `{"name":"`+by+`"}`)
		}
		for _, of := range everyone {
			may := slices.Contains(manages[by], of)
			listed := slices.ContainsFunc(h.list(t, by), func(k shownKey) bool {
				return k.ID == made[of].ID && k.User == of+"@example.com" && k.RevokedAt == nil
			})
			want := http.StatusNotFound
			if may {
				want = http.StatusNoContent
			}
			status, text := h.ask(t, by, "DELETE", "/"+made[of].ID.String(), "")
			_, err := h.keys.Resolve(t.Context(), "Bearer "+made[of].Key)
			if listed != may || status != want || (err != nil) != may {
				t.Errorf("%s and the key of %s: listed %t, revoked %d %s, resolved %v", by, of, listed, status, text,
					err)
			}
		}
	}
	log, err := h.db.AuditLog(t.Context(), 1)
	if err != nil || log[0].Action != "key revoked" ||
		!strings.HasPrefix(log[0].Actor, h.users["viewer"].ID.String()+" through ") {
		t.Errorf("audit log: %+v, %v", log, err)
	}
	again := h.create(t, "member", `{"name":"again"}`)
	for range 2 {
		if status, text := h.ask(t, "member", "DELETE", "/"+again.ID.String(), ""); status != 204 || text != "" {
			t.Errorf("%d %s", status, text)
		}
	}
	const missing = `{"error":"there is no such key, or it is not yours to revoke: want an id that GET ` +
		`/api/keys lists"}`
	for _, id := range []string{uuid.Must(uuid.NewV4()).String(), "svc_abcd", "%00"} {
		if status, text := h.ask(t, "owner", "DELETE", "/"+id, ""); status != 404 || text != missing {
			t.Errorf("%s: %d %s", id, status, text)
		}
	}
}

func TestABodyThatIsWrongIsExplained(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const (
		name    = "name: want a text of 1 to 512 bytes without control characters that says what the key is for"
		scopes  = "scopes: want a list of metrics:read, tracking:write"
		expires = "expires_at: want a time to come, such as 2027-11-23T12:00:00Z, or null for never"
		object  = `the body is no JSON object: want {"name": …}, and scopes and expires_at if the default does not suit`
	)
	for body, want := range map[string]string{
		"": object, "[]": object, `"name"`: object, `{"name":`: object, "null": name, "{}": name,
		`{"name":""}`: name, `{"name":" "}`: name, `{"name":1}`: name, `{"name":null}`: name,
		`{"name":"a\u0000b"}`: name, `{"name":"x\n2026-11-20 10:00:00"}`: name, `{"name":"a\u202eb"}`: name,
		`{"name":"` + strings.Repeat("é", 257) + `"}`: name,
		`{"name":"x","scopes":"metrics:read"}`:        scopes, `{"name":"x","scopes":["metrics"]}`: scopes,
		`{"name":"x","scopes":[""]}`: scopes, `{"name":"x","scopes":[1]}`: scopes,
		`{"name":"x","expires_at":"2027-12-31"}`: expires, `{"name":"x","expires_at":1}`: expires,
		`{"name":"x","expires_at":"2026-11-23T12:00:00Z"}`:    expires,
		`{"name":"x","expires_at":"9999999-01-01T00:00:00Z"}`: expires, `{"name":"x","expires_at":""}`: expires,
		`{"name":"x","scope":["metrics:read"],"Name":"y"}`: "Name: is no field: want name, scopes, expires_at; " +
			"scope: is no field: want name, scopes, expires_at",
		`{"scopes":1,"expires_at":1}`: expires + "; " + name + "; " + scopes,
	} {
		status, text := h.ask(t, "member", "POST", "", body)
		if got := read[map[string]string](t, status, 400, text); got["error"] != want || len(got) != 1 {
			t.Errorf("%s: %s, want %s", body, text, want)
		}
	}
	status, text := h.ask(t, "viewer", "POST", "", `{"name":"x","scopes":["metrics:read","tracking:write"]}`)
	if status != 403 ||
		text != `{"error":"the scope tracking:write is not for a viewer: want the role member or one above it"}` {
		t.Errorf("%d %s", status, text)
	}
	if keys := h.list(t, "owner"); len(keys) > 0 {
		t.Errorf("made all the same: %+v", keys)
	}
	if key := h.create(t, "owner",
		`{"name":"`+strings.Repeat("é", 256)+`","scopes":null,"expires_at":null}`); key.ExpiresAt != nil {
		t.Errorf("%+v", key)
	}
}
