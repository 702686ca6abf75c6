package webhook_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/webhook"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

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

// An environment is a service with an admin in each of two organizations, and a brand each.
type environment struct {
	db     *postgres.DB
	pg     *pgx.Conn // superuser
	ring   secret.Ring
	admins [2]identity.Identity
	brands [2]postgres.Brand
	url    string
}

func newEnvironment(t *testing.T, ring secret.Ring) *environment {
	t.Helper()
	control := store.ControlPlane(t)
	e := &environment{db: store.OpenControlPlane(t, control), ring: ring}
	var err error
	if e.pg, err = pgx.Connect(t.Context(), control.DSN); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.pg.Close(t.Context()) })
	for i, name := range []string{"Acme", "Other"} {
		o, err := e.db.AddOrganization(t.Context(), name, "")
		if err != nil {
			t.Fatal(err)
		}
		user, err := e.db.AddUser(t.Context(), postgres.NewUser{
			Email: name + "@example.org", OrganizationID: o.ID, Role: identity.Admin,
		})
		if err != nil {
			t.Fatal(err)
		}
		if e.brands[i], _, err = e.db.AddBrand(t.Context(), o.ID,
			postgres.NewBrand{Name: name, Slug: "brand"}); err != nil {
			t.Fatal(err)
		}
		e.admins[i] = identity.Identity{UserID: user.ID, OrganizationID: o.ID, Role: identity.Admin}
	}
	e.url = e.serve(t)
	return e
}

// serve takes the caller's index and role from headers.
func (e *environment) serve(t *testing.T) string {
	t.Helper()
	client, err := egress.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	surface := server.Mount(httpd.Surface{Prefix: "/api", BodyLimit: 64 << 10, Error: auth.PlainRefusal})
	webhook.NewManager(e.db, e.ring, client, time.Now).Mount(surface.Group("/webhooks"), func(c *fiber.Ctx) error {
		caller := e.admins[len(c.Get("other"))]
		if role := c.Get("role"); role != "" {
			caller.Role = role
		}
		c.SetUserContext(identity.NewContext(c.UserContext(), caller))
		return c.Next()
	})
	go func() { _ = server.Run(t.Context()) }()
	return server.URL()
}

// post sends a body and decodes the response into the target, if there is one.
func (e *environment) post(t *testing.T, path, body string, target any, headers ...string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url+"/api/webhooks"+path,
		strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && target != nil && response.StatusCode < 300 {
		err = json.Unmarshal(answer, target)
	}
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(answer)
}

func (e *environment) add(t *testing.T, body string) webhook.Added {
	t.Helper()
	var added webhook.Added
	if status, text := e.post(t, "", body, &added); status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	return added
}

// secrets opens the secrets of an endpoint that sign, the newest first, and says which expire.
func (e *environment) secrets(t *testing.T, endpoint uuid.UUID) (plain []string) {
	t.Helper()
	rows, err := e.pg.Query(t.Context(), "SELECT sealed, CASE WHEN expires_at IS NULL THEN '' ELSE ' ' || "+
		"round(extract(epoch FROM expires_at - now()) / 3600) || ' h' END FROM private.webhook_secrets WHERE "+
		"endpoint_id = $1 AND coalesce(expires_at > now(), true) ORDER BY created_at DESC", endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var sealed, ends string
	if _, err := pgx.ForEachRow(rows, []any{&sealed, &ends}, func() error {
		text, err := e.ring.Open(sealed, endpoint.String())
		plain = append(plain, string(text)+ends)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return plain
}

func (e *environment) one(t *testing.T, target any, text string, args ...any) {
	t.Helper()
	if err := e.pg.QueryRow(t.Context(), text, args...).Scan(target); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func TestAnEndpointIsAdded(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, ringOf(t, "k"))
	added := e.add(t, `{"url":"https://hooks.example.org/a","events":["visibility.moved"],"brand_id":"`+
		e.brands[0].ID.String()+`","description":"n8n"}`)
	if added.URL != "https://hooks.example.org/a" || fmt.Sprint(added.Events) != "[visibility.moved]" ||
		!strings.HasPrefix(added.Secret, "whsec_") {
		t.Errorf("%+v", added)
	}
	if key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(added.Secret, "whsec_")); err != nil ||
		len(key) != 32 {
		t.Errorf("a secret of %d bytes, %v", len(key), err)
	}
	if got := e.secrets(t, added.ID); fmt.Sprint(got) != "["+added.Secret+"]" {
		t.Errorf("stored %v", got)
	}
	if stored, err := e.db.WebhookEndpoint(t.Context(), uuid.NullUUID{}, added.ID); err != nil ||
		*stored.Brand != "brand" || stored.Description != "n8n" || !stored.IsActive {
		t.Errorf("%+v, %v", stored, err)
	}
	slack := e.add(t, `{"url":"https://hooks.slack.com/services/T0/B0/secretwxyz","kind":"slack"}`)
	if slack.Secret != "" || slack.URL != "https://hooks.slack.com/…wxyz" || slack.Events == nil {
		t.Errorf("%+v", slack)
	}
	if got := e.secrets(t, slack.ID); fmt.Sprint(got) != "[https://hooks.slack.com/services/T0/B0/secretwxyz]" {
		t.Errorf("stored %v", got)
	}
	var logged string
	e.one(t, &logged,
		"SELECT string_agg(action || ' ' || subject, ', ' ORDER BY at) FROM public.audit_log WHERE actor_id = $1",
		e.admins[0].UserID)
	if logged != "webhook added hooks.example.org, webhook added hooks.slack.com" {
		t.Errorf("logged %q", logged)
	}
	var all sync.WaitGroup
	statuses := make(chan int, 20)
	for i := range cap(statuses) {
		all.Go(func() {
			status, text := e.post(t, "", fmt.Sprintf(`{"url":"https://hooks.example.org/%d"}`, i), nil)
			if status == http.StatusConflict && !strings.Contains(text, "at most 10 endpoints") {
				t.Error(text)
			}
			statuses <- status
		})
	}
	all.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	if count[http.StatusCreated] != 8 || count[http.StatusConflict] != 12 {
		t.Errorf("beside two: %v", count)
	}
}

func TestWhatIsWrongSaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, ringOf(t, "k"))
	theirs := e.add(t, `{"url":"https://hooks.example.org/"}`).ID.String()
	for _, c := range []struct {
		path, body string
		status     int
		want       string
		headers    []string
	}{
		{"", `{"url":"http://hooks.example.org/"}`, 400, "url: want https", nil},
		{"", `{"url":"https://127.0.0.1/"}`, 400, "url: want a public address", nil},
		{"", `{}`, 400, "url: want an address such as https://", nil},
		{"", `[]`, 400, "the body cannot be read", nil},
		{"", `{"url":"https://hooks.example.org/","colour":"red"}`, 400, "the body cannot be read", nil},
		{"", `{"url":"https://hooks.example.org/","kind":"teams"}`, 400, "kind: want webhook or slack", nil},
		{"", `{"url":"https://hooks.example.org/","events":["visibility.lost"]}`, 400,
			"events: want some of tracking.completed, ", nil},
		{"", `{"url":"https://hooks.example.org/","events":["\u0000"]}`, 400, "", nil},
		{"", `{"url":"https://hooks.example.org/","description":"` + strings.Repeat("é", 201) + `"}`, 400,
			"description: want at most 200 characters", nil},
		{"", `{"url":"https://hooks.example.org/","brand_id":"` + e.brands[1].ID.String() + `"}`, 404,
			"no such brand", nil},
		{"", `{"url":"https://hooks.example.org/"}`, 403, "not for a member: want the role admin or owner",
			[]string{"role", "member"}},
		{"", `{"url":"https://hooks.example.org/"}`, 403, "not for a viewer", []string{"role", "viewer"}},
		{"/" + theirs + "/rotate", `{"overlap_hours":169}`, 400, "overlap_hours: want 0 to 168", nil},
		{"/" + theirs + "/rotate", `{"overlap_hours":-1}`, 400, "overlap_hours: want 0 to 168", nil},
		{"/" + theirs + "/rotate", `{"overlap_hours":"a day"}`, 400, "the body cannot be read", nil},
		{"/" + theirs + "/rotate", ``, 404, "no such endpoint", []string{"other", "1"}},
		{"/" + theirs + "/test", ``, 404, "no such endpoint", []string{"other", "1"}},
		{"/" + theirs + "/test", ``, 403, "want the role admin", []string{"role", "member"}},
		{"/" + theirs + "/redeliver", `{"since":"` + time.Now().Add(-time.Hour).Format(time.RFC3339) + `"}`, 404,
			"no such endpoint", []string{"other", "1"}},
		{"/elsewhere/test", ``, 404, "no such endpoint", nil},
		{"/" + theirs + "/redeliver", `{}`, 400, "want either", nil},
		{"/" + theirs + "/redeliver", `{"since":"2026-01-01"}`, 400, "the body cannot be read", nil},
		{"/" + theirs + "/redeliver", `{"since":"` + time.Now().Add(-91*24*time.Hour).Format(time.RFC3339) + `"}`, 400,
			"since: want a time of the last 90 days", nil},
		{"/" + theirs + "/redeliver", `{"since":"` + time.Now().Add(time.Hour).Format(time.RFC3339) + `"}`, 400,
			"since: want a time of the last 90 days", nil},
		{"/" + theirs + "/redeliver",
			`{"since":"` + time.Now().Add(-time.Hour).Format(time.RFC3339) + `","until":"` +
				time.Now().Add(-2*time.Hour).Format(time.RFC3339) + `"}`, 400, "until: want a time after since", nil},
		{"/" + theirs + "/redeliver", `{"delivery_id":"` + theirs + `"}`, 404, "no such delivery", nil},
	} {
		if status, text := e.post(t, c.path, c.body, nil, c.headers...); status != c.status ||
			!strings.Contains(text, `"error":"`) || !strings.Contains(text, c.want) {
			t.Errorf("%s %.80s: %d %s, want %d %q", c.path, c.body, status, text, c.status, c.want)
		}
	}
	e.ring = secret.Ring{}
	e.url = e.serve(t)
	for _, path := range []string{"", "/" + theirs + "/rotate"} {
		if status, text := e.post(t, path, `{}`, nil); status != http.StatusServiceUnavailable ||
			!strings.Contains(text, "ANSWERSCOPE_SECRET_KEYS") {
			t.Errorf("without keys: %d %s", status, text)
		}
	}
}

// The previous secret signs until it expires; rotating again drops it at once.
func TestASecretIsRotated(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, ringOf(t, "k"))
	added := e.add(t, `{"url":"https://hooks.example.org/"}`)
	path := "/" + added.ID.String() + "/rotate"
	rotate := func(body string) (r webhook.Rotated) {
		t.Helper()
		if status, text := e.post(t, path, body, &r); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		return r
	}
	second := rotate("")
	if wait := time.Until(second.PreviousExpires); wait < 23*time.Hour || wait > 24*time.Hour {
		t.Errorf("the previous one expires in %s", wait)
	}
	if got := fmt.Sprint(e.secrets(t, added.ID)); got != "["+second.Secret+" "+added.Secret+" 24 h]" {
		t.Errorf("after one rotation %s", got)
	}
	third := rotate(`{"overlap_hours":168}`)
	if got := fmt.Sprint(e.secrets(t, added.ID)); got != "["+third.Secret+" "+second.Secret+" 168 h]" {
		t.Errorf("after two %s", got)
	}
	fourth := rotate(`{"overlap_hours":0}`)
	if got := fmt.Sprint(e.secrets(t, added.ID)); got != "["+fourth.Secret+"]" {
		t.Errorf("after three %s", got)
	}
	var logged int
	e.one(t, &logged, "SELECT count(*) FROM public.audit_log WHERE actor_id = $1 AND action = 'webhook secret "+
		"rotated' AND subject = 'hooks.example.org'", e.admins[0].UserID)
	if logged != 3 {
		t.Errorf("%d rotations are logged", logged)
	}
	after := ringOf(t, "nk")
	if n, err := e.db.Reseal(t.Context(), after.Reseal); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	e.ring = ringOf(t, "n")
	if got := fmt.Sprint(e.secrets(t, added.ID)); got != "["+fourth.Secret+"]" {
		t.Errorf("encrypted anew %s", got)
	}
	if n, err := e.db.Reseal(t.Context(), ringOf(t, "x").Reseal); n != 0 || err == nil {
		t.Errorf("without its key: %d, %v", n, err)
	}
	slack := e.add(t, `{"url":"https://hooks.slack.com/services/T0/B0/x","kind":"slack"}`)
	if status, text := e.post(t, "/"+slack.ID.String()+"/rotate", "", nil); status != http.StatusConflict ||
		!strings.Contains(text, "its URL") {
		t.Errorf("Slack: %d %s", status, text)
	}
}
