package people

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/sql/postgres"
)

// The dashboard of a queryapi starts and shows jobs, keys of platforms and budgets, which another process answers, as
// who has the cookie; a queryapi without its address says so.
func TestTheDashboardBesideTheTrackingServer(t *testing.T) {
	t.Parallel()
	i := run.Installed(t, secretKeys)
	tracking := i.Server
	near := run.Serve(t, i.Env, "queryapi", "--tracking-url", tracking.URL+"/")
	alone := run.Serve(t, i.Env, "queryapi")
	birch, _ := i.Organize(t, "birch")
	cookies := map[string]string{}
	for role, of := range map[string]uuid.UUID{
		identity.Owner: i.Organization.ID, identity.Admin: i.Organization.ID, identity.Viewer: i.Organization.ID,
		"stranger": birch.ID,
	} {
		user, err := i.DB.AddUser(t.Context(), postgres.NewUser{
			Email: role + "@split.example", OrganizationID: of,
			Role: strings.Replace(role, "stranger", identity.Owner, 1),
		})
		if err != nil {
			t.Fatal(err)
		}
		cookies[role] = "answerscope=" + cookie(t, i, user)
	}
	const budgets, providers = "/app/api/tracking/budgets", "/app/api/providers"
	for role, want := range map[string]int{identity.Owner: 204, identity.Admin: 403, identity.Viewer: 403} {
		if status, body := run.AskAsPage(t, cookies[role], "PUT", near.URL+budgets,
			`{"platform":"openai","runsPerDay":7,"costPerMonth":"2.5"}`); status != want {
			t.Errorf("a budget set by the %s: %d %s", role, status, body)
		}
	}
	for body, want := range map[string]string{
		`{"platform":"nowhere"}`: "platform", `{"runsPerDay":1}`: "platform",
		`{"platform":"","runsPerDay":-1}`: "runs a day", `{"platform":"","costPerDay":"much"}`: "cost a day",
		`{"platform":"","runsPerDay":"1"}`: "runsPerDay: want a whole number",
		`{"platform":"","runsPerYear":1}`:  "runsPerYear",
	} {
		if status, answer := run.AskAsPage(t, cookies[identity.Owner], "PUT", near.URL+budgets, body); status != 400 ||
			!strings.HasPrefix(answer, `{"error":"`+want) {
			t.Errorf("the budget %s: %d %s", body, status, answer)
		}
	}
	if status, body := run.AskAsPage(t, cookies[identity.Viewer], "GET", near.URL+budgets, ""); status != 200 ||
		!strings.Contains(body,
			`"platform":"openai","runsPerDay":7,"runsPerMonth":null,"costPerDay":null,"costPerMonth":"2.5"`) {
		t.Errorf("the budgets: %d %s", status, body)
	}
	if status, body := run.AskAsPage(t, cookies["stranger"], "GET", near.URL+budgets, ""); status != 200 ||
		strings.Contains(body, "openai") {
		t.Errorf("another organization's budgets: %d %s", status, body)
	}
	if status, body := run.AskAsPage(t, cookies[identity.Owner], "PUT", near.URL+providers+"/openai",
		`{"key":"sk-of-our-own-0123456789wxyz"}`); status != 200 || !strings.Contains(body, `"key_ends_with":"wxyz"`) ||
		strings.Contains(body, "0123456789") {
		t.Errorf("a key is set: %d %s", status, body)
	}
	var here, there struct{ Providers []any }
	for at, list := range map[*run.Server]any{near: &here, tracking: &there} {
		if _, body := run.AskAsPage(t, cookies[identity.Viewer], "GET",
			at.URL+providers, ""); json.Unmarshal([]byte(body), list) != nil {
			t.Errorf("the platforms: %s", body)
		}
	}
	if len(here.Providers) < 8 || len(there.Providers) != len(here.Providers) {
		t.Errorf("%d platforms here, %d there", len(here.Providers), len(there.Providers))
	}
	if status, body := run.AskAsPage(t, "", "GET", near.URL+providers, ""); status != 401 {
		t.Errorf("without a cookie: %d %s", status, body)
	}
	brand := i.BrandToTrack(t, "Lumen", 1)
	start, err := http.NewRequestWithContext(t.Context(), "POST", near.URL+"/app/api/tracking/start",
		strings.NewReader(`{"brandId":"`+brand.ID.String()+`","platforms":["simulator"]}`))
	if err != nil {
		t.Fatal(err)
	}
	start.Header = http.Header{
		"Cookie": {cookies[identity.Owner]}, "X-Answerscope": {"1"}, "Sec-Fetch-Site": {"same-origin"},
		"Idempotency-Key": {"\xff"},
	}
	if status, _, body := run.Exchange(t, start); status != 400 ||
		!strings.HasPrefix(body, `{"error":"Idempotency-Key: `) {
		t.Errorf("a start with a key that is no UTF-8: %d %s", status, body)
	}
	for _, path := range []string{providers, budgets} {
		if status, body := run.AskAsPage(t, cookies[identity.Owner], "GET", alone.URL+path, ""); status != 404 ||
			!strings.Contains(body, "--tracking-url") {
			t.Errorf("%s of a queryapi alone: %d %s", path, status, body)
		}
	}
}
