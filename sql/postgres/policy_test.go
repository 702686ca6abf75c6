package postgres_test

import (
	"errors"
	"testing"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/answerscope/answerscope/sql/postgres"
)

// An environment is two organizations with rows in every table, and members of each role.
type environment struct {
	db    *postgres.DB
	root  *pgx.Conn // beyond every policy
	own   fixture
	other fixture
}

// fixture is an organization with rows in every table.
type fixture struct {
	organization postgres.Organization
	brand        postgres.Brand
	users        map[string]postgres.User // by role
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	db, dsn := migrated(t)
	w := &environment{db: db, root: connected(t, dsn)}
	w.own, w.other = w.fixture(t, "Own"), w.fixture(t, "Other")
	return w
}

func (w *environment) fixture(t *testing.T, name string) fixture {
	t.Helper()
	v := fixture{organization: organization(t, w.db, name), users: map[string]postgres.User{}}
	for _, role := range []string{"owner", "admin", "member", "viewer"} {
		user, err := w.db.AddUser(t.Context(), postgres.NewUser{
			Email: role + "@" + name + ".example", OrganizationID: v.organization.ID, Role: role,
		})
		if err != nil {
			t.Fatal(err)
		}
		v.users[role] = user
	}
	v.brand = added(t, w.db, v.organization.ID, acme())
	prompts, err := w.db.EnsurePrompts(t.Context(), v.brand.ID,
		[]postgres.NewPrompt{{Text: "best anvil?", Topic: "anvils"}})
	if err != nil {
		t.Fatal(err)
	}
	keep(t, w.db, result(v.brand, prompts[0], 1))
	key := postgres.NewKey{
		OrganizationID: v.organization.ID, UserID: v.users["member"].ID, Name: "key", Prefix: "svc_abcd",
	}
	copy(key.Hash[:], name)
	if _, err := w.db.AddKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"INSERT INTO public.brand_platforms (brand_id, platform) VALUES ($1, 'chatgpt')",
		"INSERT INTO public.suggestions (brand_id, kind, text) VALUES ($1, 'prompt', 'which anvil?')",
		"INSERT INTO public.content_briefs (brand_id, title) VALUES ($1, 'Anvils')",
		"INSERT INTO public.annotations (brand_id, day, text) VALUES ($1, '2026-11-06', 'new site')",
		"INSERT INTO public.share_links (brand_id, title, screens) VALUES ($1, 'client', '{overview}')",
		"INSERT INTO public.invitations (organization_id, email, role) SELECT organization_id, 'new@example.com', " +
			"'viewer' FROM public.brands WHERE id = $1",
		"INSERT INTO public.tracking_jobs (organization_id, brand_id, total) SELECT organization_id, id, " +
			"1 FROM public.brands WHERE id = $1",
		`INSERT INTO public.tracking_runs (organization_id, job_id, prompt_id, platform, model, region, sample)
		 SELECT organization_id, id, gen_random_uuid(), 'chatgpt', '', '', 1 FROM public.tracking_jobs
		     WHERE brand_id = $1`,
		`INSERT INTO public.webhook_endpoints (organization_id, brand_id, url)
		 SELECT organization_id, id, 'https://receiver.example/' FROM public.brands WHERE id = $1`,
		"SELECT private.emit(organization_id, id, 'report.weekly', '{}') FROM public.brands WHERE id = $1",
		`INSERT INTO public.subscriptions (organization_id, brand_id, user_id)
		 SELECT organization_id, $1, user_id FROM public.members WHERE organization_id = (SELECT organization_id
		     FROM public.brands WHERE id = $1)`,
		"INSERT INTO public.subscriptions (brand_id, address) VALUES ($1, 'client@receiver.example')",
	} {
		if _, err := w.root.Exec(t.Context(), text, v.brand.ID); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return v
}

// An outcome is what a client gets: how many rows, or why not.
type outcome struct {
	rows          int64
	code, message string
}

func (o outcome) refused() bool { return o.code != "" }

// as runs one statement with any settings that a client could have, and rolls it back.
func (w *environment) as(t *testing.T, role, claims, text string, args ...any) (got outcome) {
	t.Helper()
	rollback := errors.New("rollback")
	err := asCaller(t, w.db, role, claims, func(tx pgx.Tx) error {
		tag, err := tx.Exec(t.Context(), text, args...)
		refused, ok := errors.AsType[*pgconn.PgError](err)
		switch {
		case err == nil:
			got.rows = tag.RowsAffected()
		case ok:
			got = outcome{code: refused.Code, message: refused.Message}
		default:
			return err
		}
		return rollback
	})
	if !errors.Is(err, rollback) {
		t.Fatal(err)
	}
	return got
}

// user runs one statement as a user, and rolls it back.
func (w *environment) user(t *testing.T, u postgres.User, text string, args ...any) outcome {
	t.Helper()
	return w.as(t, "authenticated", claimsOf(u), text, args...)
}

// exposed are the tables that clients may name.
func (w *environment) exposed(t *testing.T) []string {
	t.Helper()
	tables := list[string](t, w.root, "SELECT relname::text FROM pg_class WHERE relnamespace = "+
		"'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1")
	if len(tables) < 9 {
		t.Fatalf("only %v are exposed", tables)
	}
	return tables
}

// owner is the column that says whose a table's rows are.
func owner(table string) string {
	if table == "organizations" {
		return "id"
	}
	return "organization_id"
}

// writable sets a column as it is, one that clients who may write the table may write.
func writable(table string) string {
	if table == "organizations" {
		return "name = name"
	}
	switch table { // the rest of the row stays
	case "annotations":
		return "text = text"
	case "subscriptions":
		return "drops_only = drops_only"
	case "webhook_endpoints":
		return "description = description"
	}
	return "id = id"
}

// but leaves the owner among the members, who stays.
func but(table string) string {
	if table == "members" {
		return " WHERE role <> 'owner'"
	}
	return ""
}

// count is how many rows of a table a fixture has.
func (w *environment) count(t *testing.T, table string, v fixture) int64 {
	t.Helper()
	n := one[int64](t, w.root, "SELECT count(*) FROM public."+table+" WHERE "+owner(table)+" = $1", v.organization.ID)
	if n == 0 {
		t.Fatalf("%s has no row in %s: nothing would be proved", v.organization.Name, table)
	}
	return n
}

// visible is how many rows of a table one of a fixture's users sees.
func (w *environment) visible(t *testing.T, table string, v fixture, u postgres.User) int64 {
	t.Helper()
	admin := u.Role == "admin" || u.Role == "owner"
	if admin {
		return w.count(t, table, v)
	}
	switch table {
	case "share_links":
		if u.Role == "viewer" {
			return 0
		}
	case "audit_log", "webhook_endpoints", "webhook_deliveries", "invitations":
		return 0
	case "api_keys", "subscriptions":
		return one[int64](t, w.root, "SELECT count(*) FROM public."+table+" WHERE user_id = $1", u.ID)
	case "events":
		return one[int64](t, w.root, "SELECT count(*) FROM public.events WHERE organization_id = $1 AND NOT admin_only",
			v.organization.ID)
	}
	return w.count(t, table, v)
}

func TestEveryTableIsGuarded(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	unguarded := list[string](t, w.root, `
		SELECT c.oid::regclass::text
		FROM pg_class AS c
		WHERE c.relnamespace IN ('public'::regnamespace, 'private'::regnamespace)
		  AND c.relkind IN ('r', 'p')
		  AND c.relname <> 'schema_migrations'
		  AND NOT (c.relrowsecurity AND c.relforcerowsecurity
		           AND EXISTS (SELECT FROM pg_policies AS p WHERE p.tablename = c.relname
		               AND 'answerscope_service' = ANY (p.roles) AND p.qual = 'true' AND p.with_check = 'true'))`)
	if len(unguarded) > 0 {
		t.Errorf("tables without row-level security: %v", unguarded)
	}
	for _, table := range w.exposed(t) {
		readers := list[string](t, w.root, "SELECT policyname::text FROM pg_policies WHERE schemaname = 'public' "+
			"AND tablename = $1 AND roles = '{authenticated}' AND cmd = 'SELECT'", table)
		if len(readers) != 1 {
			t.Errorf("%s is read by policies %v", table, readers)
		}
	}
}

func TestNobodyReadsAnothersRows(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	for _, table := range w.exposed(t) {
		for _, u := range w.other.users {
			if got, want := w.user(t, u, "SELECT * FROM public."+table),
				w.visible(t, table, w.other, u); got != (outcome{rows: want}) {
				t.Errorf("%s of Other sees %+v of %s, want its own %d", u.Role, got, table, want)
			}
			if got := w.user(t, u, "SELECT * FROM public."+table+" WHERE "+owner(table)+" = $1",
				w.own.organization.ID); got != (outcome{}) {
				t.Errorf("%s of Other sees %+v of Own in %s", u.Role, got, table)
			}
		}
	}
}

func TestNobodyWritesAnothersRows(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	u := w.other.users["owner"]
	for _, table := range w.exposed(t) {
		for _, text := range []string{
			"UPDATE public." + table + " SET " + writable(table), "DELETE FROM public." + table,
		} {
			got := w.user(t, u, text+" WHERE "+owner(table)+" = $1", w.own.organization.ID)
			if got.rows > 0 {
				t.Errorf("%s: %+v of Own", text, got)
			}
			if got := w.user(t, u, text); !got.refused() && got.rows > w.count(t, table, w.other) {
				t.Errorf("%s: %+v", text, got)
			}
		}
		row := one[map[string]any](t, w.root,
			"SELECT to_jsonb(r) FROM public."+table+" AS r WHERE "+owner(table)+" = $1 LIMIT 1", w.own.organization.ID)
		row["id"] = uuid.Must(uuid.NewV4())
		insert := "INSERT INTO public." + table + " SELECT * FROM jsonb_populate_record(NULL::public." + table + ", $1)"
		if got := w.user(t, u, insert, row); got.code != "42501" {
			t.Errorf("insert into %s for us: %+v", table, got)
		}
	}
}

// Foreign keys look past row-level security: without more, a client that guesses an id
// could hang a competitor on another's brand, and learn which ids there are.
func TestAnothersParentIsAsMissingAsNone(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	u := w.other.users["owner"]
	foreign := list[[]string](t, w.root, `
		SELECT ARRAY[k.conrelid::regclass::text, a.attname::text, k.confrelid::regclass::text]
		FROM pg_constraint AS k
		JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
		WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace AND k.confrelid <> 'private.users'::regclass`)
	if len(foreign) < 12 {
		t.Fatalf("only %v", foreign)
	}
	for _, f := range foreign {
		table, column, parent := f[0], f[1], f[2]
		key := owner(parent)
		row := one[map[string]any](t, w.root,
			"SELECT to_jsonb(r) FROM "+table+" AS r WHERE organization_id = $1 LIMIT 1", w.other.organization.ID)
		row["id"], row["name"] = uuid.Must(uuid.NewV4()), "new"
		insert := "INSERT INTO " + table + " SELECT * FROM jsonb_populate_record(NULL::" + table + ", $1)"
		if column == "organization_id" && table != "brands" && table != "members" && table != "api_keys" {
			continue // filled from the parent, whatever the writer says
		}
		row[column] = one[uuid.UUID](t, w.root, "SELECT id FROM "+parent+" WHERE "+key+" = $1 LIMIT 1",
			w.own.organization.ID)
		foreign := w.user(t, u, insert, row)
		row[column] = uuid.Must(uuid.NewV4())
		none := w.user(t, u, insert, row)
		if !foreign.refused() || foreign != none {
			t.Errorf("%s.%s: of Own %+v, none %+v", table, column, foreign, none)
		}
		update := "UPDATE " + table + " SET " + column + " = $1"
		foreign = w.user(t, u, update,
			one[uuid.UUID](t, w.root, "SELECT id FROM "+parent+" WHERE "+key+" = $1 LIMIT 1", w.own.organization.ID))
		none = w.user(t, u, update, uuid.Must(uuid.NewV4()))
		if !foreign.refused() || foreign != none {
			t.Errorf("moved %s.%s: of Own %+v, none %+v", table, column, foreign, none)
		}
	}
}

func TestAnOrganizationIsFilledFromTheParent(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	u := w.own.users["member"]
	for _, text := range []string{
		"INSERT INTO public.competitors (brand_id, name) VALUES ($1, 'New') RETURNING 1 / (organization_id = $2)::int",
		"INSERT INTO public.competitors (brand_id, name, organization_id) VALUES ($1, 'New', gen_random_uuid()) " +
			"RETURNING 1 / (organization_id = $2)::int",
		"INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, 'new.example') RETURNING 1 / " +
			"(organization_id = $2)::int",
		"INSERT INTO public.topics (brand_id, name) VALUES ($1, 'New') RETURNING 1 / (organization_id = $2)::int",
		"INSERT INTO public.prompt_sets (brand_id, name) VALUES ($1, 'New') RETURNING 1 / (organization_id = $2)::int",
		"INSERT INTO public.annotations (brand_id, day, text) VALUES ($1, '2026-11-06', 'new') RETURNING 1 / " +
			"(organization_id = $2)::int",
		"INSERT INTO public.annotations (day, text) VALUES ('2026-11-06', 'new') RETURNING 1 / (organization_id = " +
			"$2 AND $1::uuid IS NOT NULL)::int",
		"INSERT INTO public.prompts (prompt_set_id, text) SELECT id, 'new' FROM public.prompt_sets RETURNING 1 / " +
			"(brand_id = $1 AND organization_id = $2)::int",
	} {
		if got := w.user(t, u, text, w.own.brand.ID, w.own.organization.ID); got != (outcome{rows: 1}) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestStrangersSeeNothing(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	owner := w.own.users["owner"]
	for _, table := range w.exposed(t) {
		if got := w.as(t, "anon", `{"role":"anon"}`, "SELECT id FROM public."+table); got.code != "42501" {
			t.Errorf("anon reads %s: %+v", table, got)
		}
		for _, claims := range []string{
			"", "{}", `{"sub":null}`, `{"sub":"7"}`, `{"sub":"` + uuid.Must(uuid.NewV4()).String() + `"}`,
		} {
			if got := w.as(t, "authenticated", claims, "SELECT id FROM public."+table); got != (outcome{}) {
				t.Errorf("claims %q read %s: %+v", claims, table, got)
			}
		}
	}
	if _, err := w.root.Exec(t.Context(),
		"UPDATE private.users SET is_active = false WHERE id = $1", owner.ID); err != nil {
		t.Fatal(err)
	}
	if got := w.user(t, owner, "SELECT FROM public.brands"); got != (outcome{}) {
		t.Errorf("an inactive owner sees %+v", got)
	}
}
