package queryapi_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/brief"
	"github.com/answerscope/answerscope/queryapi/rest"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A member makes the brief of a suggestion of the organization from its answers, and downloads it. A viewer, another
// organization and a suggestion that does not exist are refused as any row below a foreign brand.
func TestContentBriefs(t *testing.T) {
	t.Parallel()
	cfg := store.ControlPlane(t)
	db, conn := store.OpenControlPlane(t, cfg), store.OpenWarehouse(t, store.Warehouse(t))
	root, err := pgx.Connect(t.Context(), cfg.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close(t.Context()) })
	ours, _ := organizationOfTest(t, db, root, "Acorn")
	theirs, _ := organizationOfTest(t, db, root, "Birch")
	viewer, err := db.AddUser(t.Context(), postgres.NewUser{
		Email: "viewer@acorn.example", OrganizationID: ours.OrganizationID, Role: "viewer",
	})
	if err != nil {
		t.Fatal(err)
	}
	brands, err := db.Brands(t.Context(), ours.OrganizationID)
	if err != nil {
		t.Fatal(err)
	}
	a := warehouse.Answer(1, time.Now().UTC().AddDate(0, 0, -2).Truncate(time.Second))
	a.OrganizationID, a.BrandID, a.PromptText, a.Text = clickhouse.UUID(ours.OrganizationID),
		clickhouse.UUID(brands[0].ID), "Which nut?", "Everybody says that the Acorn rival is crunchy and cheap."
	a.CitationOwned = []bool{false}
	hidden := a // of the other organization, under the same brand and prompt
	hidden.OrganizationID, hidden.ID, hidden.Text = clickhouse.UUID(theirs.OrganizationID), clickhouse.UUID{9},
		"The Acorn rival is hidden from everybody but them."
	if err := clickhouse.Answers.Insert(t.Context(), conn, "answers", []clickhouse.AnswerRow{a, hidden}); err != nil {
		t.Fatal(err)
	}
	var id uuid.UUID
	evidence := `{"v":1,"open":"prompt_id=` + a.PromptID.String() +
		`&mentioned=false","answers":1,"brand_answers":0,"rival_answers":1,"rival":{"name":"Acorn rival"}}`
	if err := root.QueryRow(t.Context(), `INSERT INTO public.suggestions (brand_id, kind, key, origin, text, evidence)
		SELECT c.brand_id, 'gap', 'a key', 'computed', 'a gap', jsonb_set($2::jsonb, '{rival,id}', to_jsonb(c.id))
			FROM public.competitors AS c WHERE c.brand_id = $1 RETURNING id`,
		brands[0].ID, evidence).Scan(&id); err != nil {
		t.Fatal(err)
	}
	url := serveBriefs(t, cfg.DSN, db, conn, map[string]postgres.User{"ours": ours, "theirs": theirs, "viewer": viewer})
	ask := func(user, method, path, body string) (*http.Response, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-User", user)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response, string(text)
	}
	const call = "/rest/v1/rpc/create_content_brief"
	own := `{"p_suggestion_id":"` + id.String() + `"}`
	for _, c := range []struct {
		user, method, path, body string
		status                   int
		want                     string
	}{
		{"viewer", "POST", call, own, 403, "row-level security policy"},
		{"theirs", "POST", call, own, 403, "row-level security policy"},
		{"ours", "POST", call, `{"p_suggestion_id":"` + uuid.UUID{1}.String() + `"}`, 403, "row-level security policy"},
		{"ours", "POST", call, `{"p_suggestion_id":"x"}`, 400, "22P02"},
		{"ours", "POST", call, `{"p_suggestion":"x"}`, 404, "PGRST202"},
		{"ours", "GET", call + "?p_suggestion_id=" + id.String(), "", 405, "25006"},
		{"ours", "POST", call + "?select=title,status,suggestion_id", own, 200,
			`{"title":"Which nut?","status":"draft","suggestion_id":"` + id.String() + `"}`},
	} {
		if response, text := ask(c.user, c.method, c.path, c.body); response.StatusCode != c.status ||
			!strings.Contains(text, c.want) {
			t.Errorf("%s %s %s %s: %d %s, want %d %s", c.user, c.method, c.path, c.body,
				response.StatusCode, text, c.status, c.want)
		}
	}
	idle := brief.Maker{DB: db, Now: time.Now} // without a warehouse: it reads nothing for those who may make no brief
	for _, user := range []postgres.User{viewer, theirs} {
		caller, err := callerOf(user)
		prepared, prepareErr := idle.Prepare(t.Context(), caller, func(string) string { return id.String() })
		if prepared != "" || errors.Join(err, prepareErr) != nil {
			t.Errorf("%s: prepared %q, %v", user.Email, prepared, errors.Join(err, prepareErr))
		}
	}
	response, text := ask("ours", "POST", call, "["+own+"]")
	var made struct {
		ID, BrandID, Title, Body string
		Evidence                 struct{ Answers int }
	}
	if err := json.Unmarshal([]byte(text), &made); err != nil || response.StatusCode != 200 ||
		made.Evidence.Answers != 1 ||
		!strings.Contains(made.Body, "“Everybody says that the Acorn rival is crunchy and cheap.” "+
			"([openai](<https://answers.example/brands/acorn/answers/"+a.ID.String()+">))") ||
		strings.Contains(text, "hidden") {
		t.Errorf("%d %s, %v", response.StatusCode, text, err)
	}
	for user, want := range map[string]int{"ours": 200, "viewer": 200, "theirs": 404} {
		response, text := ask(user, "GET", "/app/api/briefs/"+made.ID+".md", "")
		if response.StatusCode != want || want == 200 &&
			(text != made.Body || response.Header.Get("Content-Type") != "text/markdown; charset=utf-8" ||
				response.Header.Get("Content-Disposition") != `attachment; filename="which-nut.md"`) {
			t.Errorf("%s downloads: %d %v %s", user, response.StatusCode, response.Header, text)
		}
	}
	for _, file := range []string{made.ID, "x.md", made.ID + ".txt"} {
		if response, text := ask("ours", "GET", "/app/api/briefs/"+file, ""); response.StatusCode != 400 ||
			!strings.Contains(text, "such as") {
			t.Errorf("%s: %d %s", file, response.StatusCode, text)
		}
	}
}

func callerOf(user postgres.User) (rest.Caller, error) {
	claims, err := json.Marshal(map[string]any{"sub": user.ID, "email": user.Email, "role": "authenticated"})
	return rest.Caller{Role: "authenticated", Claims: claims, Organization: user.OrganizationID}, err
}

// serveBriefs serves /rest/v1 and downloads of briefs to the user whom a header names.
func serveBriefs(t *testing.T, dsn string, db *postgres.DB, conn *clickhouse.Conn,
	users map[string]postgres.User) string {
	t.Helper()
	pool, err := rest.OpenPool(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg, maker := queryapi.TablesConfig(), brief.Maker{
		DB: db, Warehouse: conn, PublicURL: "https://answers.example/", Now: time.Now,
	}
	cfg.Preparers = map[string]rest.Preparer{"create_content_brief": maker.Prepare}
	api := rest.New(cfg, pool, func(c *fiber.Ctx) (rest.Caller, error) {
		return callerOf(users[c.Get("X-User")])
	}, testkit.Log(t))
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, testkit.Log(t), prometheus.NewRegistry())
	api.Mount(server)
	brief.Mount(server.Mount(httpd.Surface{Prefix: "/app/api/briefs", Error: auth.PlainRefusal}), db,
		func(c *fiber.Ctx) error {
			user := users[c.Get("X-User")]
			c.SetUserContext(identity.NewContext(c.UserContext(),
				identity.Identity{UserID: user.ID, OrganizationID: user.OrganizationID}))
			return c.Next()
		})
	stopped := []func(){testkit.Start(t, api.Run), testkit.Start(t, server.Run)}
	t.Cleanup(func() {
		for _, stop := range stopped {
			stop()
		}
		pool.Close()
	})
	wait.For(t, "the schema", func() bool { return api.Ready(t.Context()) == nil && server.Ready(t.Context()) == nil })
	return server.URL()
}
