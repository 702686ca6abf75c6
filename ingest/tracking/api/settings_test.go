package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	environmentKey  = "key-of-the-environment"
	organizationKey = "sk-own-hunter2-0123456789wxyz"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// served is /api/providers and /api/tracking of two organizations.
type served struct {
	db         *postgres.DB
	own, other postgres.Organization
	// ask sends a request of a caller by name: owner, admin, member and viewer of own, stranger of other.
	ask func(caller, method, path, body string) (int, string)
}

func serve(t *testing.T) *served {
	t.Helper()
	db := store.OpenControlPlane(t, store.ControlPlane(t))
	ring, err := secret.ParseRing("a:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("a"), 32)))
	if err != nil {
		t.Fatal(err)
	}
	own, err := db.AddOrganization(t.Context(), "Own", "")
	if err != nil {
		t.Fatal(err)
	}
	other, err := db.AddOrganization(t.Context(), "Other", "")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	users := map[string]postgres.User{}
	for _, name := range []string{"owner", "admin", "member", "viewer", "stranger"} {
		organization, role := own.ID, name
		if name == "stranger" {
			organization, role = other.ID, "owner"
		}
		if users[name], err = db.AddUser(t.Context(),
			postgres.NewUser{Email: name + "@example.com", OrganizationID: organization, Role: role}); err != nil {
			t.Fatal(err)
		}
	}
	server := httpd.New(httpd.DefaultConfig(), listener, slog.New(slog.NewTextHandler(t.Output(), nil)),
		prometheus.NewRegistry())
	platforms := tracking.NewPlatforms(
		config.FromEnvironment([]string{"ANSWERSCOPE_PLATFORM_OPENAI_API_KEY=" + environmentKey,
			"ANSWERSCOPE_PLATFORM_OPENAI_LIMITS=in-flight=77"}), db, ring)
	authenticate := func(c *fiber.Ctx) error {
		u := users[c.Get("As")]
		c.SetUserContext(identity.NewContext(c.UserContext(),
			identity.Identity{UserID: u.ID, OrganizationID: u.OrganizationID, Role: u.Role}))
		return c.Next()
	}
	MountPlatforms(server.App.Group("/api/providers"), platforms, authenticate)
	New(db, nil, nil, time.Now).Mount(server, "/api/tracking", authenticate, authenticate, authenticate, authenticate)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &served{db, own, other, func(caller, method, path, body string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("As", caller)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}}
}

// Members read the list of their organization, only owners write, and no answer shows a key.
func TestMembersReadAndOwnersWrite(t *testing.T) {
	t.Parallel()
	ask := serve(t).ask
	body, limits := `{"key":"`+organizationKey+`"}`, `{"requests_per_minute":5000,"tokens_per_minute":0}`
	for _, c := range []struct {
		caller, method, path, body string
		status                     int
		want                       string
	}{
		{"viewer", "PUT", "/openai", body, 403, "want an owner"},
		{"member", "PUT", "/openai", body, 403, "want an owner"},
		{"admin", "DELETE", "/openai", "", 403, "want an owner"},
		{"owner", "PUT", "/elsewhere", body, 404, "is unknown: want one of openai"},
		{"owner", "PUT", "/simulator", body, 400, "needs no key"},
		{"owner", "PUT", "/openai", "{", 400, "want {"},
		{"owner", "PUT", "/openai", `{"key":""}`, 400, "the key of openai: want"},
		{"owner", "PUT", "/openai", body, 200, `"available":true,"key_from":"organization","key_ends_with":"wxyz"`},
		{"viewer", "GET", "", "", 200, `"platform":"openai","name":"OpenAI","available":true,` +
			`"key_from":"organization","key_ends_with":"wxyz"`},
		{"stranger", "GET", "", "", 200,
			`"platform":"openai","name":"OpenAI","available":true,"key_from":"environment","takes_region"`},
		{"stranger", "DELETE", "/openai", "", 404, "has no key of its own"},
		{"owner", "PUT", "/google-ai-mode", body, 400, "want a provider that captures it: serpapi, "},
		{"owner", "PUT", "/oxylabs", body, 422, "the key of oxylabs: want user:password"},
		{"owner", "PUT", "/serpapi", body, 200,
			`"platform":"serpapi","name":"SerpApi","available":true,"key_from":"organization"`},
		{"viewer", "GET", "", "", 200,
			`"per_thousand_requests":"25"},"providers":[{"provider":"serpapi","key_from":"organization"}]`},
		{"stranger", "GET", "", "", 200, `"platform":"bing-copilot","name":"Bing Copilot Search","available":false`},
		{"owner", "DELETE", "/openai", "", 204, ""},
		{"viewer", "GET", "", "", 200, `"available":true,"key_from":"environment","takes_region"`},
		{"viewer", "GET", "/openai/limits", "", 200,
			`{"requests_per_minute":null,"tokens_per_minute":null,"in_flight":null}`},
		{"member", "PUT", "/openai/limits", limits, 403, "want an owner"},
		{"admin", "PUT", "/openai/limits", limits, 403, "want an owner"},
		{"owner", "PUT", "/elsewhere/limits", limits, 404, "is unknown: want one of openai"},
		{"owner", "GET", "/elsewhere/limits", "", 404, "is unknown: want one of openai"},
		{"owner", "PUT", "/google-ai-mode/limits", limits, 400, "want a provider that captures it: serpapi, "},
		{"viewer", "GET", "/google-ai-mode/limits", "", 400, "want a provider that captures it: serpapi, "},
		{"owner", "PUT", "/openai/limits", "{", 422, "want {"},
		{"owner", "PUT", "/openai/limits", `{"requests":5}`, 422, "requests: there is no such field: want {"},
		{"owner", "PUT", "/openai/limits", `{"in_flight":"many"}`, 422, "in_flight: want a whole number, got string"},
		{"owner", "PUT", "/openai/limits", `{"in_flight":1e30}`, 422, "in_flight: want a whole number"},
		{"owner", "PUT", "/openai/limits", `{"in_flight":0}`, 422, "limits: want requests=1 to 1000000"},
		{"owner", "PUT", "/openai/limits", `{"requests_per_minute":-5}`, 422, "limits: want requests=1 to 1000000"},
		{"owner", "PUT", "/openai/limits", `{"tokens_per_minute":1000000001}`, 422,
			"limits: want requests=1 to 1000000"},
		// The environment's account is not the organization's, which may only lower its limits.
		{"owner", "PUT", "/openai/limits", `{"requests_per_minute":50,"in_flight":78}`, 200,
			`"limits":{"requests_per_minute":50,"tokens_per_minute":500000,"in_flight":77},` +
				`"limits_from":{"requests_per_minute":"organization","tokens_per_minute":"description",` +
				`"in_flight":"environment"}`},
		{"owner", "PUT", "/openai/limits", limits, 200,
			`"limits":{"requests_per_minute":500,"tokens_per_minute":500000,"in_flight":77}`},
		{"owner", "PUT", "/openai", body, 200, `"limits":{"requests_per_minute":5000,"tokens_per_minute":0,` +
			`"in_flight":77},"limits_from":{"requests_per_minute":"organization","tokens_per_minute":"organization",` +
			`"in_flight":"environment"}`},
		{"viewer", "GET", "/openai/limits", "", 200,
			`{"requests_per_minute":5000,"tokens_per_minute":0,"in_flight":null}`},
		{"stranger", "GET", "/openai/limits", "", 200,
			`{"requests_per_minute":null,"tokens_per_minute":null,"in_flight":null}`},
		{"stranger", "GET", "", "", 200, `"limits":{"requests_per_minute":500,"tokens_per_minute":500000,` +
			`"in_flight":77},"limits_from":{"requests_per_minute":"description","tokens_per_minute":"description",` +
			`"in_flight":"environment"}`},
		{"owner", "PUT", "/openai/limits", "{}", 200,
			`"limits":{"requests_per_minute":500,"tokens_per_minute":500000,"in_flight":77}`},
	} {
		status, text := ask(c.caller, c.method, "/api/providers"+c.path, c.body)
		if status != c.status || !strings.Contains(text, c.want) &&
			!strings.Contains(text, strings.ReplaceAll(c.want, `"`, `\"`)) {
			t.Errorf("%s %s %s: %d %s, want %d with %s", c.caller, c.method, c.path, status, text, c.status, c.want)
		}
		if strings.Contains(text, "hunter2") || strings.Contains(text, environmentKey) {
			t.Errorf("%s %s %s shows a key: %s", c.caller, c.method, c.path, text)
		}
	}
	_, text := ask("viewer", "GET", "/api/providers", "")
	var list struct {
		Providers []tracking.View
		Captures  []tracking.View `json:"capture_providers"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Providers) != 18 || len(list.Captures) != 5 ||
		list.Providers[0].Models[0].Price.Currency != "USD" || list.Providers[1].Reason == "" {
		t.Errorf("%v: %s", err, text)
	}
}
