package postgres_test

import (
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// An annotation has an author and a place in the audit log, is of one organization, and refuses what no chart can show.
func TestAnnotations(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	ann := w.own.users["member"]
	var id uuid.UUID
	err := asUser(t, w.db, ann, func(tx pgx.Tx) error {
		err := tx.QueryRow(t.Context(),
			`INSERT INTO public.annotations (day, text, created_by) VALUES ('2026-11-08', 'new site', $1)
			RETURNING id`, w.own.users["owner"].ID).Scan(&id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(t.Context(),
			"UPDATE public.annotations SET day_to = '2026-11-10', url = 'https://acme.example/new' WHERE id = $1", id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	author := one[uuid.UUID](t, w.root,
		"SELECT created_by FROM public.annotations WHERE id = $1 AND brand_id IS NULL AND organization_id = $2",
		id, w.own.organization.ID)
	if author != ann.ID {
		t.Errorf("written by %s, want %s", author, ann.ID)
	}
	log := list[string](t, w.root, `SELECT concat_ws('|', action, subject, detail) FROM public.audit_log
		WHERE actor_id = $1 AND organization_id = $2 ORDER BY at`, ann.ID, w.own.organization.ID)
	want := `annotation added|2026-11-08|{}
annotation changed|2026-11-08|{"url": null, "day_to": [null, "2026-11-10"]}`
	if got := strings.Join(log, "\n"); got != want {
		t.Errorf("the audit log has\n%s\nwant\n%s", got, want)
	}
	if _, err := w.root.Exec(t.Context(), "DELETE FROM private.users WHERE id = $1", ann.ID); err != nil {
		t.Error(err)
	}
	if left := one[bool](t, w.root, "SELECT created_by IS NULL FROM public.annotations WHERE id = $1", id); !left {
		t.Error("a deleted user still is the author")
	}

	owner := w.own.users["owner"]
	for _, text := range []string{
		"INSERT INTO public.annotations (organization_id, day, text) VALUES ($1, '2026-11-08', 'x')",
		"UPDATE public.annotations SET organization_id = $1",
		"UPDATE public.annotations SET created_by = gen_random_uuid() WHERE $1::uuid IS NOT NULL",
		"UPDATE public.annotations SET created_by = NULL WHERE $1::uuid IS NOT NULL",
	} {
		if got := w.user(t, owner, text, w.other.organization.ID); got.code != "42501" {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for set, constraint := range map[string]string{
		"text = ''": "text_form", "text = E'a\\nb'": "text_form", "text = repeat('語', 281)": "text_length",
		"url = 'javascript:alert(1)'": "url_is_http", "url = 'https://'": "url_is_http",
		"url = 'http://a b'":                              "url_is_http",
		"url = 'https://a.example/' || repeat('x', 2000)": "url_length",
		"day = 'infinity'":                                "day_is_finite", "day_to = 'infinity'": "day_to_order",
		"day_to = day - 1": "day_to_order",
	} {
		got := w.user(t, owner, "UPDATE public.annotations SET "+set)
		if got.code != "23514" || !strings.Contains(got.message, "annotations_"+constraint) {
			t.Errorf("%s: %+v", set, got)
		}
	}
	for _, set := range []string{
		"text = repeat('語', 280)", "url = 'http://a.example'", "url = 'HTTPS://a.example/x?y#z'", "day_to = day",
	} {
		if got := w.user(t, owner, "UPDATE public.annotations SET "+set); got.rows == 0 {
			t.Errorf("%s: %+v", set, got)
		}
	}
}
