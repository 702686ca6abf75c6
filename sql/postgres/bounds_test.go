package postgres_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Once, a member added 6,000 brands and 100,000 domains in three requests. The limit is of what clients add: here a
// fourth note, while the operator adds a fifth.
func TestClientsAddWithinLimits(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	tables := list[string](t, w.root, `
		SELECT tgrelid::regclass || ' ' || split_part(encode(tgargs, 'escape'), '\000', 1)
		FROM pg_trigger WHERE tgname = 'limit_added' ORDER BY tgrelid::regclass::text`)
	if want := []string{
		"annotations 10000", "brand_domains 5000", "brands 1000", "competitors 10000", "content_briefs 2000",
		"prompts 50000",
	}; !slices.Equal(tables, want) {
		t.Errorf("limits of %q, want %q", tables, want)
	}
	w.run(t, "DELETE FROM public.annotations", "DROP TRIGGER limit_added ON public.annotations",
		`CREATE TRIGGER limit_added AFTER INSERT ON public.annotations REFERENCING NEW TABLE AS added
			FOR EACH STATEMENT WHEN (current_user = 'authenticated')
			EXECUTE FUNCTION private.limit_added(3, 'organization_id', 'too many')`)
	add := func(notes int) error {
		return asUser(t, w.db, w.own.users["member"], func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO public.annotations (day, text)
				SELECT '2026-03-01', n::text FROM generate_series(1, $1::int) AS n`, notes)
			return err
		})
	}
	if err := add(3); err != nil {
		t.Error(err)
	}
	if err := add(1); err == nil || !strings.Contains(err.Error(), "too many (SQLSTATE 54000)") {
		t.Errorf("a fourth note: %v", err)
	}
	w.run(t, "INSERT INTO public.annotations (organization_id, day, text) SELECT organization_id, day, text "+
		"FROM public.annotations LIMIT 1")
}

// Once, a deleted brand's events with the texts of its briefs stayed for 90 days, and were still sent.
func TestADeletedBrandIsNotToldOfAnyMore(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	brand := "'" + w.own.brand.ID.String() + "'"
	w.endpoint(t, w.own, "description", "'x'")
	w.run(t, "INSERT INTO public.content_briefs (brand_id, title) VALUES ("+brand+", 'Secret plans')")
	const pending = "SELECT count(*) FROM public.webhook_deliveries WHERE event = 'content_brief.created'"
	if n := one[int](t, w.root, pending); n == 0 {
		t.Fatal("nothing is to be sent")
	}
	w.run(t, "DELETE FROM public.brands WHERE id = "+brand)
	if got := list[string](t, w.root, "SELECT type FROM public.events WHERE brand_id = "+brand); !slices.Equal(got,
		[]string{"brand.deleted"}) || one[int](t, w.root, pending) > 0 {
		t.Errorf("still there: %q", got)
	}
}

// An organization takes its users with it, its last owner, too, and nobody else's.
func TestARemovedOrganizationTakesItsUsers(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	if err := w.db.RemoveOrganization(t.Context(), w.own.organization.ID); err != nil {
		t.Fatal(err)
	}
	users := list[string](t, w.root, "SELECT email::text FROM private.users")
	for _, u := range w.own.users {
		if slices.Contains(users, u.Email) {
			t.Errorf("%s is there", u.Email)
		}
	}
	for _, u := range w.other.users {
		if !slices.Contains(users, u.Email) {
			t.Errorf("%s is gone", u.Email)
		}
	}
}

// The audit log has what leaves the house and what takes results along, and no text that somebody wrote: it only grows.
func TestTheAuditLogHasDeletionsAndNoTexts(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	own, brand := "'"+w.own.organization.ID.String()+"'", "'"+w.own.brand.ID.String()+"'"
	w.run(t, "INSERT INTO public.subscriptions (organization_id, address) VALUES ("+own+", 'out@side.example')",
		"DELETE FROM public.subscriptions WHERE address = 'out@side.example'",
		"INSERT INTO public.annotations (brand_id, day, text) VALUES ("+brand+", '2026-03-01', 'Secret plans')",
		"UPDATE public.annotations SET text = 'Secret plans!', day = '2026-03-02' WHERE text = 'Secret plans'",
		"DELETE FROM public.prompts WHERE brand_id = "+brand)
	log := strings.Join(list[string](t, w.root, "SELECT action || ' ' || subject || ' ' || detail "+
		"FROM public.audit_log WHERE organization_id = "+own), "\n")
	for _, want := range []string{
		"address subscribed out@side.example", "address removed out@side.example", "annotation added 2026-03-01",
		"annotation changed 2026-03-02", `"day": ["2026-03-01", "2026-03-02"]`, "prompts deleted ",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in\n%s", want, log)
		}
	}
	if strings.Contains(log, "Secret") {
		t.Errorf("it has a text:\n%s", log)
	}
	w.run(t, "DELETE FROM public.brands WHERE id = "+brand)
	if n := one[int](t, w.root, "SELECT count(*) FROM public.audit_log WHERE action = 'prompts deleted'"); n != 1 {
		t.Errorf("%d lines of deleted prompts, want one", n)
	}
}

// Once, 2,010 brands of one organization were computed before the first of another.
func TestBrandsOfOrganizationsTakeTurns(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "UPDATE public.brands SET is_active = true",
		"UPDATE public.tracking_jobs SET status = 'completed', phase = 'done'", "DELETE FROM public.brand_platforms",
		"DELETE FROM private.rereads",
		"INSERT INTO public.brands (organization_id, name) SELECT o.id, 'More ' || n FROM public.organizations AS o, "+
			"generate_series(1, 3) AS n")
	organizations := map[uuid.UUID]uuid.UUID{}
	for _, id := range list[uuid.UUID](t, w.root, "SELECT id FROM public.brands") {
		organizations[id] = one[uuid.UUID](t, w.root, "SELECT organization_id FROM public.brands WHERE id = $1", id)
	}
	turns := map[string][]uuid.UUID{}
	due, err := w.db.BrandsToAdvise(t.Context(), nil, postgres.AdviceVersions{Rules: 1, Extract: 1}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range due {
		turns["advice"] = append(turns["advice"], organizations[d.BrandID])
	}
	brands, err := w.db.BrandsToJudge(t.Context(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range brands {
		turns["verdicts"] = append(turns["verdicts"], organizations[b.ID])
	}
	for what, order := range turns {
		for i := 0; i < len(order); i += 2 {
			if len(order) != 8 || order[i] == order[i+1] {
				t.Fatalf("%s: %v, want the two organizations in turns", what, order)
			}
		}
	}
	if len(turns) != 2 {
		t.Errorf("only %v", turns)
	}
}
