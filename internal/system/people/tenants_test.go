package people

import (
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A tenant is an organization with a row in every table, and a user and a key of each role. The word is in every name.
type tenant struct {
	word         string
	organization uuid.UUID
	brand        uuid.UUID
	users        map[string]postgres.User // by role
	keys         map[string]string        // by role
}

// roles are those of members, each of which may do what those before it may.
var roles = []string{"viewer", "member", "admin", "owner"}

// rent adds a tenant.
func rent(t *testing.T, i *run.Installation, root *pgx.Conn, word string) tenant {
	t.Helper()
	o, err := i.DB.AddOrganization(t.Context(), word, word)
	if err != nil {
		t.Fatal(err)
	}
	n := tenant{word: word, organization: o.ID, users: map[string]postgres.User{}, keys: map[string]string{}}
	for _, role := range roles {
		n.users[role] = addMember(t, i, n, role, role)
		n.keys[role] = keyOf(t, i, n.users[role])
	}
	brand, _, err := i.DB.AddBrand(t.Context(), o.ID, postgres.NewBrand{
		Name: word, Slug: word, Domains: []string{word + ".example"},
		Competitors: []postgres.NewCompetitor{{Name: word + " rival"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	n.brand = brand.ID
	prompts, err := i.DB.EnsurePrompts(t.Context(), brand.ID, []postgres.NewPrompt{{Text: word + "?", Topic: word}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = i.DB.StoreResults(t.Context(), []postgres.Result{{
		ID: uuid.Must(uuid.NewV4()), PromptID: prompts[0].ID, BrandID: brand.ID, OrganizationID: o.ID,
		Platform: "openai", Model: "m", Sample: 1,
		Response: word, AnsweredAt: time.Now(), Revision: 1, ExtractVersion: 1, Sentiment: "neutral",
	}}, nil, time.Now().AddDate(0, 0, -90))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		// so that the schedule leaves it as it is
		"INSERT INTO public.brand_platforms (brand_id, platform, check_frequency) VALUES ($1, 'chatgpt', 'manual')",
		"INSERT INTO public.suggestions (brand_id, kind, text) SELECT id, 'prompt', name FROM public.brands " +
			"WHERE id = $1",
		"INSERT INTO public.content_briefs (brand_id, title) SELECT id, name FROM public.brands WHERE id = $1",
		"INSERT INTO public.annotations (brand_id, day, text) SELECT id, '2026-11-06', name FROM public.brands " +
			"WHERE id = $1",
		"INSERT INTO public.invitations (organization_id, email, role) SELECT organization_id, name || " +
			"'@new.example', 'viewer' FROM public.brands WHERE id = $1",
		"INSERT INTO public.share_links (brand_id, title, screens) SELECT id, name, '{overview}' FROM public.brands " +
			"WHERE id = $1",
		"INSERT INTO public.tracking_jobs (organization_id, brand_id, total) SELECT organization_id, id, " +
			"1 FROM public.brands WHERE id = $1",
		`INSERT INTO public.tracking_runs (organization_id, job_id, prompt_id, platform, model, region, sample)
		 SELECT organization_id, id, gen_random_uuid(), 'chatgpt', '', '', 1 FROM public.tracking_jobs
		     WHERE brand_id = $1`,
		"INSERT INTO public.subscriptions (organization_id, brand_id, address) SELECT organization_id, id, name || " +
			"'@mail.example' FROM public.brands WHERE id = $1",
		"INSERT INTO public.webhook_endpoints (organization_id, brand_id, url, is_active) SELECT organization_id, " +
			"id, 'https://hooks.example/' || name, false FROM public.brands WHERE id = $1",
		`INSERT INTO public.webhook_deliveries (organization_id, endpoint_id, event_id, event)
		 SELECT e.organization_id, e.id, v.id, v.type FROM public.webhook_endpoints AS e
		     JOIN public.events AS v USING (brand_id) WHERE brand_id = $1 LIMIT 1`,
	} {
		if _, err := root.Exec(t.Context(), statement, n.brand); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return n
}

// addMember adds a user to a tenant.
func addMember(t *testing.T, i *run.Installation, n tenant, name, role string) postgres.User {
	t.Helper()
	user, err := i.DB.AddUser(t.Context(), postgres.NewUser{
		Email: name + "@" + n.word + ".example", OrganizationID: n.organization, Role: role,
	})
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// keyOf makes a key for a user.
func keyOf(t *testing.T, i *run.Installation, user postgres.User, scopes ...string) string {
	t.Helper()
	minted := auth.MintKey()
	_, err := i.DB.AddKey(t.Context(), postgres.NewKey{
		OrganizationID: user.OrganizationID, UserID: user.ID, Name: "of " + user.Email, Hash: minted.Hash,
		Prefix: minted.Prefix, Scopes: scopes,
	})
	if err != nil {
		t.Fatal(err)
	}
	return minted.Text
}

// exposed are the tables that clients of /rest/v1 may name.
func exposed(t *testing.T, root *pgx.Conn) []string {
	t.Helper()
	return column[string](t, root, "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace "+
		"AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1")
}

// ownerColumn says whose a table's rows are.
func ownerColumn(table string) string {
	if table == "organizations" {
		return "id"
	}
	return "organization_id"
}

// rows are those that a tenant has in a table, as JSON, but for when they were last used.
func (n tenant) rows(t *testing.T, root *pgx.Conn, table string) []map[string]any {
	t.Helper()
	list := column[map[string]any](t, root,
		"SELECT to_jsonb(r) - '{last_used_at,updated_at}'::text[] FROM public."+table+" AS r WHERE "+ownerColumn(table)+
			" = $1 ORDER BY id", n.organization)
	if len(list) == 0 {
		t.Fatalf("%s has no row in %s: nothing would be proved", n.word, table)
	}
	return list
}

// traces are what shows that an answer has something of a tenant: their ids and their word.
func (n tenant) traces(t *testing.T, root *pgx.Conn, tables []string) []string {
	t.Helper()
	traces := []string{n.word}
	for _, table := range tables {
		for _, row := range n.rows(t, root, table) {
			traces = append(traces, row["id"].(string))
		}
	}
	return traces
}

// traceIn is the first of the traces in an answer; "" for none.
func traceIn(body string, traces []string) string {
	for _, trace := range traces {
		if strings.Contains(strings.ToLower(body), trace) {
			return trace
		}
	}
	return ""
}

func column[T any](t *testing.T, conn *pgx.Conn, text string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), text, args...)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatal(err)
	}
	return list
}
