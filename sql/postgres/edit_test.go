package postgres_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/sql/postgres"
)

func TestRevisionRisesWithWhatAnswersAreJudgedBy(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	brand := w.own.brand.ID
	revisionOf := func(id uuid.UUID) int64 {
		return one[int64](t, w.root, "SELECT revision::bigint FROM public.brands WHERE id = $1", id)
	}
	others := revisionOf(w.other.brand.ID)
	for _, c := range []struct {
		text  string
		rises bool
	}{
		{"UPDATE public.brands SET name = 'Acme Inc' WHERE id = $1", true},
		{"UPDATE public.brands SET aliases = aliases || '{Roadrunner}' WHERE id = $1", true},
		{"UPDATE public.brands SET aliases = '{}' WHERE id = $1", true},
		{"UPDATE public.brands SET aliases = aliases WHERE id = $1", false},
		{"UPDATE public.brands SET slug = 'acme-inc', industry = 'x', region = 'x', language = 'x', " +
			"is_active = false WHERE id = $1", false},
		{"UPDATE public.brands SET revision = 99 WHERE id = $1", false},
		{"UPDATE public.brands SET name = 'Acme', revision = -1 WHERE id = $1", true},
		{"INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, 'a.example'), ($1, 'b.example')", true},
		{"UPDATE public.brand_domains SET domain = 'c.example' WHERE brand_id = $1 AND domain = 'a.example'", true},
		{"UPDATE public.brand_domains SET is_primary = false, country = 'at' WHERE brand_id = $1", false},
		{"UPDATE public.brand_domains SET domain = domain WHERE brand_id = $1", false},
		{"DELETE FROM public.brand_domains WHERE brand_id = $1 AND domain LIKE '_.example'", true},
		{"DELETE FROM public.brand_domains WHERE brand_id = $1 AND false", false},
		{"INSERT INTO public.competitors (brand_id, name) VALUES ($1, 'New')", true},
		{"INSERT INTO public.competitors (brand_id, name) VALUES ($1, 'New') ON CONFLICT DO NOTHING", false},
		{"INSERT INTO public.competitors (brand_id, name, aliases) VALUES ($1, 'New', '{N}') ON CONFLICT (brand_id, " +
			"name) DO UPDATE SET aliases = excluded.aliases", true},
		{"UPDATE public.competitors SET name = 'Newer' WHERE brand_id = $1 AND name = 'New'", true},
		{"UPDATE public.competitors SET aliases = '{Neu}' WHERE brand_id = $1 AND name = 'Newer'", true},
		{"UPDATE public.competitors SET domain = 'new.example' WHERE brand_id = $1 AND name = 'Newer'", true},
		{"UPDATE public.competitors SET domains = '{new.example,newer.example}' WHERE brand_id = $1 AND name = 'Newer'",
			true},
		{"UPDATE public.competitors SET name = name WHERE brand_id = $1", false},
		{"DELETE FROM public.competitors WHERE brand_id = $1 AND name = 'Newer'", true},
		{"INSERT INTO public.topics (brand_id, name) VALUES ($1, 'New')", false},
		{"UPDATE public.prompts SET text = 'other' WHERE brand_id = $1", false},
	} {
		before := revisionOf(brand)
		err := asUser(t, w.db, w.own.users["member"], func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), c.text, brand)
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if after := revisionOf(brand); (after > before) != c.rises || after < before {
			t.Errorf("%s: revision %d, then %d", c.text, before, after)
		}
	}
	if now := revisionOf(w.other.brand.ID); now != others {
		t.Errorf("another brand's revision was %d, is %d", others, now)
	}
}

func TestSlugsAreMadeFromNames(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	o := organization(t, db, "House")
	for _, c := range []struct{ name, slug string }{
		{"Acme", "acme"}, {"Acme", "acme-2"}, {"ACME!", "acme-3"}, {"Acme 2", "acme-2-2"},
		{"Ünïcödé", "unicode"}, {"De’Longhi", "delonghi"},
		{"Łódź Straße", "lodz-strasse"}, {"İstanbul", "istanbul"}, {"Ærø", "aero"},
		{"日本語", "brand-77710aed"}, {"日本語", "brand-77710aed-2"}, {"资生堂 Shiseido", "shiseido"}, {"!!!", "brand-e84c538e"},
		{"  A & B  ", "a-b"}, {"Ｆｕｌｌ", "full"}, {"-", "brand-3973e022"},
		{strings.Repeat("long ", 30), "long-long-long-long-long-long-long-long-long-long-long-long"},
	} {
		b, _, err := db.AddBrand(t.Context(), o.ID, postgres.NewBrand{Name: c.name})
		if err != nil {
			t.Errorf("%q: %v", c.name, err)
			continue
		}
		if b.Slug != c.slug {
			t.Errorf("%q has slug %s, want %s", c.name, b.Slug, c.slug)
		}
	}
	if other := added(t, db, organization(t, db, "House").ID, postgres.NewBrand{Name: "Acme"}); other.Slug != "acme" {
		t.Errorf("another organization's slug is %s", other.Slug)
	}
	if slugs := list[string](t, root,
		"SELECT slug FROM public.organizations ORDER BY 1"); !slices.Equal(slugs, []string{"house", "house-2"}) {
		t.Errorf("organizations %v", slugs)
	}
	for _, slug := range []string{"a b", "a/b", "a?b", "a#b", "a%b", "a\nb", strings.Repeat("x", 101)} {
		if _, err := root.Exec(t.Context(),
			"INSERT INTO public.brands (organization_id, name, slug) VALUES ($1, 'x', $2)", o.ID, slug); err == nil {
			t.Errorf("slug %q was taken", slug)
		}
	}
}

func TestBrandsOfOneNameAtOnceGetTheirOwnSlugs(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	o := organization(t, db, "House")
	slugs := make(chan string, 6)
	for range cap(slugs) {
		go func() {
			b, _, err := db.AddBrand(t.Context(), o.ID, postgres.NewBrand{Name: "Acme"})
			if err != nil {
				b.Slug = err.Error()
			}
			slugs <- b.Slug
		}()
	}
	var got []string
	for range cap(slugs) {
		got = append(got, <-slugs)
	}
	slices.Sort(got)
	if want := []string{"acme", "acme-2", "acme-3", "acme-4", "acme-5", "acme-6"}; !slices.Equal(got, want) {
		t.Errorf("slugs %v", got)
	}
}

func TestACompetitorsDomainIsTheFirstOfItsDomains(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	show := "id = (SELECT id FROM public.competitors ORDER BY created_at DESC LIMIT 1)"
	step := func(text string, want string) {
		t.Helper()
		if _, err := w.root.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := one[string](t, w.root,
			"SELECT coalesce(domain, 'null') || ' of ' || domains::text FROM public.competitors WHERE "+
				show); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	insert := func(columns, values string) string {
		return fmt.Sprintf("DELETE FROM public.competitors WHERE name = 'N'; INSERT INTO public.competitors "+
			"(brand_id, name, %s) VALUES ('%s', 'N', %s)", columns, w.own.brand.ID, values)
	}
	step(insert("aliases", "'{}'"), "null of {}")
	step(insert("domain", "'https://A.example/'"), "a.example of {a.example}")
	step(insert("domains", "'{b.example,A.example,b.example}'"), "b.example of {b.example,a.example}")
	step(insert("domain, domains", "'a.example', '{b.example,a.example}'"), "a.example of {a.example,b.example}")
	step(insert("domain, domains", "'', '{}'"), "null of {}")
	step(insert("domain, domains", "NULL, '{b.example}'"), "b.example of {b.example}")
	step("UPDATE public.competitors SET domain = 'c.example' WHERE "+show, "c.example of {c.example}")
	step("UPDATE public.competitors SET domains = '{d.example,c.example}' WHERE "+show,
		"d.example of {d.example,c.example}")
	step("UPDATE public.competitors SET domain = 'x.example', domains = '{e.example,f.example}' WHERE "+show,
		"e.example of {e.example,f.example}")
	step("UPDATE public.competitors SET domain = NULL WHERE "+show, "f.example of {f.example}")
	step("UPDATE public.competitors SET domains = '{}' WHERE "+show, "null of {}")
	step("UPDATE public.competitors SET name = 'N' WHERE "+show, "null of {}")
}

// A competitor has the lowest slot that was free when it was added, also beside others of its statement or moment, and
// keeps it.
func TestACompetitorKeepsItsSlot(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	second := added(t, w.db, w.own.organization.ID, postgres.NewBrand{Name: "Second"})
	exec := func(text string) {
		t.Helper()
		if _, err := w.root.Exec(t.Context(), text, second.ID); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	want := func(slots string) {
		t.Helper()
		text := "SELECT string_agg(name || coalesce(slot::text, '-'), ' ' ORDER BY name) FROM public.competitors " +
			"WHERE brand_id = $1"
		if got := one[string](t, w.root, text, second.ID); got != slots {
			t.Errorf("slots %s, want %s", got, slots)
		}
	}
	exec("INSERT INTO public.competitors (brand_id, name, slot) SELECT $1, name, " +
		"8 FROM unnest('{a,b,c,d}'::text[]) AS name")
	want("a1 b2 c3 d4")
	exec("DELETE FROM public.competitors WHERE brand_id = $1 AND name = 'b'")
	exec("INSERT INTO public.competitors (brand_id, name) VALUES ($1, 'e')")
	exec("UPDATE public.competitors SET slot = 7, aliases = '{f}' WHERE brand_id = $1 AND name = 'e'")
	exec("INSERT INTO public.competitors (brand_id, name, slot) VALUES ($1, 'e', 6) ON CONFLICT (brand_id, " +
		"name) DO UPDATE SET slot = excluded.slot")
	want("a1 c3 d4 e2")
	var adding errgroup.Group
	for _, name := range []string{"v", "w", "x", "y", "z"} {
		adding.Go(func() error {
			return w.db.AddCompetitor(t.Context(), second.ID, postgres.NewCompetitor{Name: name})
		})
	}
	if err := adding.Wait(); err != nil {
		t.Fatal(err)
	}
	slots, err := w.db.CompetitorSlots(t.Context(), w.own.organization.ID, second.ID)
	if err != nil || len(slots) != 8 {
		t.Errorf("%d slots, %v; want 8 of 9 competitors", len(slots), err)
	}
	if foreign, err := w.db.CompetitorSlots(t.Context(), w.other.organization.ID, second.ID); err != nil ||
		len(foreign) != 0 {
		t.Errorf("another organization sees %v, %v", foreign, err)
	}
}

func TestRowsStayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	second := added(t, w.db, w.own.organization.ID, postgres.NewBrand{Name: "Second"})
	for _, table := range []string{
		"brand_domains", "competitors", "topics", "prompt_sets", "prompts", "brand_platforms", "suggestions",
		"content_briefs", "annotations",
	} {
		if got := w.user(t, w.own.users["owner"],
			"UPDATE public."+table+" SET brand_id = $1 WHERE brand_id = $2", second.ID,
			w.own.brand.ID); got.code != "42501" {
			t.Errorf("%s moved to another brand: %+v", table, got)
		}
	}
	for _, table := range w.exposed(t) {
		if got := w.user(t, w.own.users["owner"],
			"UPDATE public."+table+" SET id = gen_random_uuid()"); got.code != "42501" {
			t.Errorf("%s got another id: %+v", table, got)
		}
	}
	set := one[string](t, w.root,
		"INSERT INTO public.prompt_sets (brand_id, name) VALUES ($1, 'Second') RETURNING id::text", second.ID)
	topic := one[string](t, w.root,
		"INSERT INTO public.topics (brand_id, name) VALUES ($1, 'Second') RETURNING id::text", second.ID)
	for _, text := range []string{
		"UPDATE public.prompts SET prompt_set_id = '" + set + "'",
		"UPDATE public.prompts SET topic_id = '" + topic + "'",
		"INSERT INTO public.prompts (prompt_set_id, brand_id, text) VALUES ('" + set + "', '" +
			w.own.brand.ID.String() + "', 'x')",
	} {
		if got := w.user(t, w.own.users["owner"], text); !got.refused() {
			t.Errorf("a prompt of two brands: %s: %+v", text, got)
		}
	}
}

// What every column, key and row must have. River's tables are its own.
func TestTheSchemaKeepsItsHabits(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	for habit, text := range map[string]string{
		"foreign keys without an index": `
			SELECT k.conname::text FROM pg_constraint AS k
			WHERE k.contype = 'f' AND k.connamespace IN ('public'::regnamespace, 'private'::regnamespace)
			  AND NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = k.conrelid AND i.indpred IS NULL
			      AND i.indkey[0] = k.conkey[1])`,
		"foreign keys without a readable name": `
			SELECT k.conname::text FROM pg_constraint AS k
			JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
			JOIN pg_class AS c ON c.oid = k.conrelid
			WHERE k.contype = 'f' AND k.connamespace IN ('public'::regnamespace, 'private'::regnamespace)
			  AND k.conname <> c.relname || '_' || a.attname || '_fkey'`,
		"texts without a check": `
			SELECT a.attrelid::regclass || '.' || a.attname FROM pg_attribute AS a
			JOIN pg_class AS c ON c.oid = a.attrelid
			WHERE c.relkind = 'r' AND c.relnamespace IN ('public'::regnamespace, 'private'::regnamespace)
				AND a.attnum > 0 AND c.relname !~ '^river_'
			  AND format_type(a.atttypid, NULL) IN ('text', 'text[]', 'private.citext', 'character varying')
			  AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype = 'c'
			      AND a.attnum = ANY (k.conkey))`,
		"tables without a comment": `
			SELECT c.oid::regclass::text FROM pg_class AS c
			WHERE c.relkind = 'r' AND c.relnamespace IN ('public'::regnamespace, 'private'::regnamespace)
			  AND c.relname <> 'schema_migrations' AND c.relname !~ '^river_' AND obj_description(c.oid,
			      'pg_class') IS NULL`,
		"tables with updated_at that nothing sets": `
			SELECT a.attrelid::regclass::text FROM pg_attribute AS a
			JOIN pg_class AS c ON c.oid = a.attrelid
			WHERE c.relkind = 'r' AND a.attname = 'updated_at' AND c.relname !~ '^river_'
				AND c.relnamespace IN ('public'::regnamespace, 'private'::regnamespace)
			  AND NOT EXISTS (SELECT FROM pg_trigger AS g WHERE g.tgrelid = c.oid
			      AND g.tgfoid = 'private.stamp'::regproc)`,
		"definer functions with a search path": `
			SELECT p.oid::regprocedure::text FROM pg_proc AS p
			WHERE p.prosecdef AND p.pronamespace = 'private'::regnamespace AND p.proconfig IS DISTINCT
				FROM '{"search_path=\"\""}'`,
		"policies that let every client pass": `
			SELECT policyname::text FROM pg_policies
			WHERE roles && '{anon,authenticated,authenticator,public}' AND 'true' IN (qual, with_check)`,
		"more than one foreign key between two tables": `
			SELECT min(k.conrelid::regclass::text) FROM pg_constraint AS k WHERE k.contype = 'f' GROUP BY k.conrelid,
				k.confrelid HAVING count(*) > 1`,
	} {
		if broken := list[string](t, w.root, text); len(broken) > 0 {
			t.Errorf("%s: %v", habit, broken)
		}
	}
}
