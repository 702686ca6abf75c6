package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestSchemaPrivateIsOutOfReach(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	names := list[string](t, w.root, "SELECT 'SELECT FROM private.' || relname FROM pg_class WHERE relnamespace = "+
		"'private'::regnamespace AND relkind IN ('r', 'S')")
	names = append(names, "SELECT private.org_id()", "SELECT private.user_id()",
		"SELECT private.domain_of('x.example')", "SELECT FROM pg_sequence_last_value('private.outbox_id_seq')",
		"CREATE TABLE public.mine ()", "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'")
	for _, text := range names {
		for _, role := range []string{"anon", "authenticated"} {
			claims := fmt.Sprintf(`{"sub":%q}`, w.own.users["owner"].ID)
			if got := w.as(t, role, claims, text); got.code != "42501" {
				t.Errorf("%s as %s: %+v", text, role, got)
			}
		}
	}
	open := list[string](t, w.root, `
		SELECT p.oid::regprocedure::text
		FROM pg_proc AS p
		CROSS JOIN aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
		WHERE p.pronamespace IN ('private'::regnamespace, 'public'::regnamespace)
		  AND a.grantee = 0
		  AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
		      AND d.deptype = 'e')`)
	if len(open) > 0 {
		t.Errorf("functions that everyone may call: %v", open)
	}
}

func TestNoClientReadsAKeysHashOrWritesAKey(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	for _, text := range []string{
		"SELECT hash FROM private.api_key_hashes", "INSERT INTO public.api_keys SELECT * FROM public.api_keys",
		"UPDATE public.api_keys SET revoked_at = NULL", "DELETE FROM public.api_keys",
	} {
		for _, role := range []string{"owner", "viewer"} {
			if got := w.user(t, w.own.users[role], text); got.code != "42501" {
				t.Errorf("%s as %s: %+v", text, role, got)
			}
		}
	}
}

// A time without end once stopped the schedule of all organizations.
func TestTimesAreTheServers(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	u := w.own.users["member"]
	for _, text := range []string{
		"INSERT INTO public.brands (organization_id, name, created_at, updated_at) VALUES ($2, 'New', 'infinity', " +
			"'infinity') RETURNING 1 / (created_at = now() AND updated_at = now() AND $1::uuid IS NOT NULL)::int",
		"INSERT INTO public.competitors (brand_id, name, created_at) VALUES ($1, 'New', 'infinity') RETURNING 1 / " +
			"(created_at = now() AND $2::uuid IS NOT NULL)::int",
		"INSERT INTO public.brand_platforms (brand_id, platform, last_checked_at) VALUES ($1, 'new', " +
			"'infinity') RETURNING 1 / (last_checked_at IS NULL AND $2::uuid IS NOT NULL)::int",
		"UPDATE public.brand_platforms SET last_checked_at = 'infinity', next_check_at = NULL WHERE brand_id = $1 " +
			"RETURNING 1 / (last_checked_at IS NULL AND $2::uuid IS NOT NULL)::int",
	} {
		if got := w.user(t, u, text, w.own.brand.ID, w.own.organization.ID); got != (outcome{rows: 1}) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// A slug is unique among all organizations, so that a client that could choose it would learn which there are.
func TestNoClientChoosesAnOrganizationsSlug(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	for _, text := range []string{
		"UPDATE public.organizations SET slug = 'other'", "UPDATE public.organizations SET slug = 'free'",
	} {
		if got := w.user(t, w.own.users["owner"], text); got.code != "42501" {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if got := w.user(t, w.own.users["owner"],
		"UPDATE public.organizations SET name = 'New', time_zone = 'Europe/Vienna'"); got != (outcome{rows: 1}) {
		t.Errorf("name and time zone: %+v", got)
	}
}

// An index on the organization and one look at the caller, whatever the table's size.
func TestPoliciesLookTheCallerUpOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	tx, err := w.root.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	if _, err := tx.Exec(t.Context(), "SELECT set_config('enable_seqscan', 'off', true), set_config('role', "+
		"'authenticated', true), set_config('request.jwt.claims', '{}', true)"); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(t.Context(), "EXPLAIN (COSTS OFF) SELECT * FROM public.competitors")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(lines, "\n")
	if !strings.Contains(plan, "Index Cond: (organization_id = (InitPlan 1).col1)") ||
		strings.Contains(plan, "InitPlan 2") {
		t.Errorf("plan\n%s", plan)
	}
}
