package queryapi_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/restfuzz"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/rest"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// Whatever the owner of an organization asks for at /rest/v1, no row of another one is read, named or changed, and the
// server is never at fault. A minute of it:
//
//	go test ./queryapi -run TestRandomRequestsStayInTheirOrganization -rapid.checks=55000
func TestRandomRequestsStayInTheirOrganization(t *testing.T) {
	t.Parallel()
	cfg := store.ControlPlane(t)
	db := store.OpenControlPlane(t, cfg)
	conn, err := pgx.Connect(t.Context(), cfg.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) })
	_, theirs := organizationOfTest(t, db, conn, "Hidden")
	user, ours := organizationOfTest(t, db, conn, "Open")
	address := serveOwnREST(t, cfg.DSN, user)
	schema := restfuzz.Read(t, cfg.DSN, "public")
	schema.Values = ours
	for _, id := range theirs {
		schema.Values = append(schema.Values, strings.ToUpper(id)) // what is written into a text stays in upper case
	}
	before := rowsWith(t, conn, schema, theirs)
	for table := range schema.Relations {
		if !slices.ContainsFunc(before, func(row string) bool { return strings.HasPrefix(row, table+"(") }) {
			t.Errorf("%s has no row of the other organization", table)
		}
	}
	statuses := map[int]int{}
	defer func() { t.Logf("answers: %v", statuses) }()
	rapid.Check(t, func(t *rapid.T) {
		r := schema.Request(t)
		r.Path = "/rest/v1" + r.Path
		answer, err := r.Send(t.Context(), address)
		statuses[answer.Status]++
		if err != nil || answer.Failed() {
			t.Fatalf("%s: %d %s %v", r, answer.Status, answer.Body, err)
		}
		for _, theirs := range append(theirs, "Hidden") {
			if strings.Contains(answer.Body, theirs) && !strings.Contains(r.String(), strings.ToUpper(theirs)) {
				t.Fatalf("%s: %s is in %s", r, theirs, answer.Body)
			}
		}
	})
	if after := rowsWith(t, conn, schema, theirs); !slices.Equal(before, after) {
		t.Errorf("rows of the other organization were\n%v and are\n%v", before, after)
	}
}

// serveOwnREST serves our own tables to one user, and returns the server's address.
func serveOwnREST(t *testing.T, dsn string, user postgres.User) string {
	t.Helper()
	claims, err := json.Marshal(map[string]any{"sub": user.ID, "email": user.Email, "role": "authenticated"})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := rest.OpenPool(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	api := rest.New(queryapi.TablesConfig(), pool, func(*fiber.Ctx) (rest.Caller, error) {
		return rest.Caller{Role: "authenticated", Claims: claims}, nil
	}, testkit.Log(t))
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, testkit.Log(t), prometheus.NewRegistry())
	api.Mount(server)
	stopped := []func(){testkit.Start(t, api.Run), testkit.Start(t, server.Run)}
	t.Cleanup(func() {
		for _, stop := range stopped {
			stop()
		}
		pool.Close()
	})
	wait.For(t, "the schema", func() bool { return api.Ready(t.Context()) == nil && server.Ready(t.Context()) == nil })
	return strings.TrimPrefix(server.URL(), "http://")
}

// organizationOfTest adds an organization with rows in every table. It returns the owner, and the ids of the rows that
// others belong to.
func organizationOfTest(t *testing.T, db *postgres.DB, conn *pgx.Conn, name string) (postgres.User, []string) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	o, err := db.AddOrganization(t.Context(), name, "")
	check(err)
	user, err := db.AddUser(t.Context(), postgres.NewUser{
		Email: "owner@" + name + ".example", OrganizationID: o.ID, Role: "owner",
	})
	check(err)
	brand, _, err := db.AddBrand(t.Context(), o.ID, postgres.NewBrand{
		Name: name + " brand", Slug: strings.ToLower(name), Aliases: []string{name + " alias"},
		Domains: []string{strings.ToLower(name) + ".example"},
		Competitors: []postgres.NewCompetitor{{Name: name + " rival",
			Domains: []string{"rival-of-" + strings.ToLower(name) + ".example"}}},
	})
	check(err)
	prompts, err := db.EnsurePrompts(t.Context(), brand.ID,
		[]postgres.NewPrompt{{Text: name + "?", Topic: name + " topic"}})
	check(err)
	_, _, err = db.StoreResults(t.Context(), []postgres.Result{{
		ID: prompts[0].ID, PromptID: prompts[0].ID, BrandID: brand.ID, OrganizationID: o.ID,
		Platform: "openai", Sample: 1,
		Response: name, AnsweredAt: time.Now(), Revision: 1, ExtractVersion: 1, Sentiment: "neutral",
	}}, nil, time.Now())
	check(err)
	key := postgres.NewKey{OrganizationID: o.ID, UserID: user.ID, Name: name, Prefix: "svc_abcd"}
	copy(key.Hash[:], name)
	_, err = db.AddKey(t.Context(), key)
	check(err)
	for _, text := range []string{
		"INSERT INTO public.brand_platforms (brand_id, platform) VALUES ($1, 'chatgpt')",
		"INSERT INTO public.suggestions (brand_id, kind, text) SELECT id, 'prompt', name FROM public.brands " +
			"WHERE id = $1",
		"INSERT INTO public.content_briefs (brand_id, title) SELECT id, name FROM public.brands WHERE id = $1",
		"INSERT INTO public.annotations (brand_id, day, text) SELECT id, '2026-11-06', name FROM public.brands " +
			"WHERE id = $1",
		"INSERT INTO public.invitations (organization_id, email, role) SELECT organization_id, slug || " +
			"'@example.com', 'viewer' FROM public.brands WHERE id = $1",
		"INSERT INTO public.tracking_jobs (organization_id, brand_id, total) SELECT organization_id, id, " +
			"1 FROM public.brands WHERE id = $1",
		`INSERT INTO public.tracking_runs (organization_id, job_id, prompt_id, platform, model, region, sample)
		 SELECT organization_id, id, gen_random_uuid(), 'chatgpt', '', '', 1 FROM public.tracking_jobs
		     WHERE brand_id = $1`,
		"INSERT INTO public.share_links (brand_id, title, screens) SELECT id, name, '{overview}' FROM public.brands " +
			"WHERE id = $1",
		"INSERT INTO public.subscriptions (organization_id, brand_id, address) SELECT organization_id, id, slug || " +
			"'@mail.example' FROM public.brands WHERE id = $1",
		"INSERT INTO public.webhook_endpoints (organization_id, brand_id, url) SELECT organization_id, id, " +
			"'https://hooks.example/' || name FROM public.brands WHERE id = $1",
		// and its delivery
		"SELECT private.emit(organization_id, id, 'brand.created', '{}') FROM public.brands WHERE id = $1",
	} {
		_, err := conn.Exec(t.Context(), text, brand.ID)
		check(err)
	}
	return user, []string{o.ID.String(), user.ID.String(), brand.ID.String(), prompts[0].ID.String()}
}

// rowsWith are the rows of all tables that hold one of some ids, sorted.
func rowsWith(t *testing.T, conn *pgx.Conn, schema *restfuzz.Schema, ids []string) []string {
	t.Helper()
	var all []string
	for _, table := range slices.Sorted(maps.Keys(schema.Relations)) {
		rows, err := conn.Query(t.Context(),
			"SELECT r::text FROM public."+pgx.Identifier{table}.Sanitize()+" AS r WHERE r::text LIKE ANY ($1)",
			likes(ids))
		if err != nil {
			t.Fatal(err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range found {
			all = append(all, table+row)
		}
	}
	slices.Sort(all)
	return all
}

func likes(ids []string) (patterns []string) {
	for _, id := range ids {
		patterns = append(patterns, "%"+id+"%")
	}
	return patterns
}
