package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// What a member of each role may write; everything else in the list is refused or touches no row.
func TestRolesWriteWhatTheyMay(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	below := []string{
		"brands", "brand_domains", "competitors", "topics", "prompt_sets", "prompts", "brand_platforms", "suggestions",
		"content_briefs", "annotations", "subscriptions",
	}
	may := map[string][]string{
		"viewer": {"subscriptions"}, // their own
		"member": below,
		"admin":  append(slices.Clone(below), "organizations", "members", "webhook_endpoints"),
		"owner":  append(slices.Clone(below), "organizations", "members", "webhook_endpoints"),
	}
	for role, tables := range may {
		for _, table := range w.exposed(t) {
			got := w.user(t, w.own.users[role], "UPDATE public."+table+" SET "+writable(table))
			if wrote := got.rows > 0; wrote != slices.Contains(tables, table) {
				t.Errorf("%s updates %s: %+v", role, table, got)
			}
			got = w.user(t, w.own.users[role], "DELETE FROM public."+table+but(table))
			leaves := table == "members" && got.rows == 1 // by their own row
			deletes := slices.Contains(tables, table) && table != "organizations"
			if wrote := got.rows > 0 && !leaves; wrote != deletes || table == "members" && got.rows == 0 {
				t.Errorf("%s deletes %s: %+v", role, table, got)
			}
		}
		brand := w.user(t, w.own.users[role], "INSERT INTO public.brands (organization_id, name) VALUES ($1, 'New')",
			w.own.organization.ID)
		if brand.refused() != (role == "viewer") {
			t.Errorf("%s inserts a brand: %+v", role, brand)
		}
		topic := w.user(t, w.own.users[role], "INSERT INTO public.topics (brand_id, name) VALUES ($1, 'New')",
			w.own.brand.ID)
		if topic.refused() != (role == "viewer") {
			t.Errorf("%s inserts a topic: %+v", role, topic)
		}
	}
}

func TestNobodyRaisesARoleAboveTheirOwn(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	var newcomer uuid.UUID
	if err := w.root.QueryRow(t.Context(), "INSERT INTO private.users (email) VALUES ('new@example.com') RETURNING id").
		Scan(&newcomer); err != nil {
		t.Fatal(err)
	}
	second, err := w.db.AddUser(t.Context(), postgres.NewUser{
		Email: "second@own.example", OrganizationID: w.own.organization.ID, Role: "owner",
	})
	if err != nil {
		t.Fatal(err)
	}
	ranks := []string{"viewer", "member", "admin", "owner"}
	for mine, role := range ranks {
		u := w.own.users[role]
		for rank, other := range ranks {
			allowed := mine >= 2 && rank <= mine
			got := w.user(t, u, "INSERT INTO public.members (organization_id, user_id, role) VALUES ($1, $2, $3)",
				w.own.organization.ID, newcomer, other)
			if got.refused() == allowed {
				t.Errorf("%s adds a member as %s: %+v", role, other, got)
			}
			got = w.user(t, u, "UPDATE public.members SET role = 'viewer' WHERE role = $1 AND user_id <> $2", other,
				second.ID)
			if (got.rows == 1) != allowed {
				t.Errorf("%s demotes a member who is %s: %+v", role, other, got)
			}
			got = w.user(t, u, "UPDATE public.members SET role = $1 WHERE role = 'viewer'", other)
			if (got.rows == 1) != allowed {
				t.Errorf("%s makes a viewer %s: %+v", role, other, got)
			}
			got = w.user(t, u, "DELETE FROM public.members WHERE role = $1 AND user_id <> $2 RETURNING id", other,
				second.ID)
			if (got.rows == 1) != (allowed || rank == mine) { // their own row: everyone leaves
				t.Errorf("%s removes a member who is %s: %+v", role, other, got)
			}
		}
	}
}

func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	owner := w.own.users["owner"]
	for _, text := range []string{
		"UPDATE public.members SET role = 'admin' WHERE role = 'owner'",
		"DELETE FROM public.members WHERE role = 'owner'",
	} {
		if got := w.user(t, owner, text); got.code != "23514" || !strings.Contains(got.message, "last owner") {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if _, err := w.root.Exec(t.Context(), "DELETE FROM private.users WHERE id = $1", owner.ID); err == nil {
		t.Error("the last owner was deleted as a user")
	}
	second, err := w.db.AddUser(t.Context(), postgres.NewUser{
		Email: "second@own.example", OrganizationID: w.own.organization.ID, Role: "owner",
	})
	if err != nil {
		t.Fatal(err)
	}
	// Both leave at once: the one that waits for the other is refused.
	left := make(chan error)
	for _, u := range []postgres.User{owner, second} {
		go func() {
			left <- asUser(t, w.db, u, func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), "DELETE FROM public.members WHERE user_id = $1", u.ID)
				return err
			})
		}()
	}
	if a, b := <-left, <-left; (a == nil) == (b == nil) {
		t.Errorf("of two owners who leave at once: %v, %v; want one refused", a, b)
	}
	if _, err := w.root.Exec(t.Context(), "DELETE FROM public.organizations WHERE id = $1",
		w.own.organization.ID); err != nil {
		t.Errorf("an organization goes with its owner: %v", err)
	}
}
