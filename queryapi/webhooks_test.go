package queryapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/testkit/store"
)

// Endpoints are changed at /rest/v1, and not made there, as all that has a secret: the refusal says where. A brand
// without an organization is the caller's, and a row without its brand is refused by that name.
func TestEndpointsAtTheTables(t *testing.T) {
	t.Parallel()
	cfg := store.ControlPlane(t)
	db := store.OpenControlPlane(t, cfg)
	conn, err := pgx.Connect(t.Context(), cfg.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) })
	user, _ := organizationOfTest(t, db, conn, "Acorn")
	url := "http://" + serveOwnREST(t, cfg.DSN, user) + "/rest/v1/"
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "webhook_endpoints", `{"url":"https://hooks.example.org"}`, 403,
			`{"code":"42501","details":null,"hint":"POST /api/webhooks adds endpoints","message":"permission denied ` +
				`for table webhook_endpoints"}`},
		{"POST", "api_keys", `{"name":"mine"}`, 403, `"hint":"POST /api/keys adds keys"`},
		{"POST", "share_links", `{"title":"mine"}`, 403, `"hint":"POST /api/shares adds links"`},
		{"POST", "invitations", `{"email":"bo@example.com","role":"viewer"}`, 403,
			`"hint":"POST /api/invitations invites addresses"`},
		{"POST", "subscriptions", `{"address":"bo@example.com"}`, 403,
			`"hint":"POST /api/subscriptions adds addresses"`},
		{"POST", "brands", `{"name":"Theirs","organization_id":"00000000-0000-0000-0000-000000000001"}`, 403,
			`"hint":null`},
		{"POST", "competitors", `{"name":"Amber"}`, 403, `"hint":"brand_id is missing"`},
		{"POST", "competitors", `{"name":"Amber","brand_id":"00000000-0000-0000-0000-000000000001"}`, 403,
			`"hint":null`},
		{"POST", "prompts", `{"text":"which anvil?"}`, 403, `"hint":"prompt_set_id is missing"`},
		{"POST", "webhook_deliveries", `{"event":"webhook.test"}`, 403, `"hint":null`},
		{"PATCH", "webhook_endpoints?id=neq.00000000-0000-0000-0000-000000000000",
			`{"url":"https://hooks.example.org"}`, 403, `"hint":null`},
		{"PATCH", "webhook_endpoints?id=neq.00000000-0000-0000-0000-000000000000",
			`{"events":["visibility.lost"]}`, 400, `"message":"events: want some of tracking.completed, `},
		{"PATCH", "webhook_endpoints?select=description,events,is_active&id=neq.00000000-0000-0000-0000-000000000000",
			`{"description":"n8n","events":["visibility.moved"],"is_active":false}`, 200,
			`[{"description":"n8n","events":["visibility.moved"],"is_active":false}]`},
		{"GET", "webhook_deliveries?select=event,status,webhook_endpoints(url)", ``, 200,
			`[{"event":"brand.created","status":"pending","webhook_endpoints":{"url": ` +
				`"https://hooks.example/Acorn brand"}}]`},
		{"GET", "events?select=type&type=eq.key.created", ``, 200, `[{"type":"key.created"}]`},
		{"DELETE", "webhook_endpoints?select=description&id=neq.00000000-0000-0000-0000-000000000000", ``, 200,
			`[{"description":"n8n"}]`},
		{"POST", "brands?select=name", `{"name":"Second"}`, 201, `[{"name":"Second"}]`},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, url+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Prefer", "return=representation")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != c.status || !strings.Contains(string(text), c.want) {
			t.Errorf("%s %s %s: %d %s, %v", c.method, c.path, c.body, response.StatusCode, text, err)
		}
	}
}
