package postgres_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// locked is the outbox, once its lock is free.
func locked(t *testing.T, db *postgres.DB) *postgres.Outbox {
	t.Helper()
	o, err := db.OpenOutbox(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	bound := time.NewTimer(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer bound.Stop()
	defer tick.Stop()
	for {
		switch locked, err := o.TryLock(t.Context()); {
		case err != nil:
			t.Fatal(err)
		case locked:
			return o
		}
		select {
		case <-tick.C:
		case <-bound.C:
			t.Fatal("the outbox stays locked")
		}
	}
}

// drain returns what the outbox has and empties it.
func drain(t *testing.T, db *postgres.DB) []postgres.Change {
	t.Helper()
	o := locked(t, db)
	defer o.Close()
	changes, err := o.Read(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Delete(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	if left, err := o.Read(t.Context(), 1000); err != nil || len(left) > 0 {
		t.Fatalf("left %v, %v", left, err)
	}
	return changes
}

// linesOf are changes, a line each.
func linesOf(t *testing.T, changes []postgres.Change) []string {
	t.Helper()
	var lines []string
	for _, c := range changes {
		row := c.Row
		line := fmt.Sprintf("%s %s", c.Kind, row.Name+row.Text)
		if c.Kind == "brand" {
			line = fmt.Sprintf("brand %s %s %s/%s/%s %q %q revision %d", row.Name, row.Slug, row.Industry, row.Region,
				row.Language, row.Aliases, row.Domains, row.Revision)
		}
		if c.Kind == "competitor" {
			line += fmt.Sprintf(" %q %q", row.Aliases, row.Domains)
		}
		if row.TopicID != nil {
			line += " with a topic"
		}
		if row.IsBranded != nil {
			line += fmt.Sprintf(" branded %v", *row.IsBranded)
		}
		if row.IsActive {
			line += " active"
		}
		if c.Deleted {
			line += " deleted"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestEveryChangeIsInTheOutbox(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	o := organization(t, db, "House")
	brand := added(t, db, o.ID,
		postgres.NewBrand{Name: "Acme", Industry: "tools", Region: "us", Language: "en",
			Domains: []string{"b.example", "a.example"},
			Competitors: []postgres.NewCompetitor{{Name: "Zeta", Aliases: []string{"Z"},
				Domains: []string{"z.example"}}}})
	expect := func(want ...string) []postgres.Change {
		t.Helper()
		changes := drain(t, db)
		got := linesOf(t, changes)
		if !slices.Equal(got, want) {
			t.Errorf("changes\n%q, want\n%q", got, want)
		}
		for _, c := range changes {
			if c.OrganizationID != o.ID || c.BrandID != brand.ID || c.At.IsZero() ||
				c.Kind == "brand" && c.RowID != brand.ID {
				t.Errorf("change %+v", c)
			}
		}
		return changes
	}
	do := func(text string) {
		t.Helper()
		if _, err := root.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	expect(
		`brand Acme acme tools/us/en [] [] revision 1 active`,
		`brand Acme acme tools/us/en [] ["b.example" "a.example"] revision 2 active`,
		`brand Acme acme tools/us/en [] ["b.example" "a.example"] revision 3 active`,
		`competitor Zeta ["Z"] ["z.example"]`)
	do("UPDATE public.brands SET industry = NULL, is_active = false")
	expect(`brand Acme acme /us/en [] ["b.example" "a.example"] revision 3`)
	do("UPDATE public.brand_domains SET is_primary = domain = 'a.example'")
	expect()
	do("DELETE FROM public.brand_domains WHERE domain = 'b.example'")
	expect(`brand Acme acme /us/en [] ["a.example"] revision 4`)
	do("UPDATE public.competitors SET aliases = '{}'")
	expect(`brand Acme acme /us/en [] ["a.example"] revision 5`, `competitor Zeta [] ["z.example"]`)
	do("UPDATE public.competitors SET name = 'Y' WHERE false")
	expect()
	if _, err := db.EnsurePrompts(t.Context(), brand.ID,
		[]postgres.NewPrompt{{Text: "why?", Topic: "reasons"}, {Text: "how?"}}); err != nil {
		t.Fatal(err)
	}
	expect(`topic reasons active`, `prompt why? with a topic active`, `prompt how? active`)
	do("UPDATE public.prompts SET is_branded = true, is_active = false WHERE text = 'why?'")
	expect(`prompt why? with a topic branded true`)
	do("UPDATE public.topics SET name = 'causes', is_active = false")
	expect(`topic causes`)
	do("DELETE FROM public.topics")
	expect(`topic causes deleted`, `prompt why? branded true`)
	do("DELETE FROM public.prompts WHERE text = 'how?'")
	expect(`prompt how? active deleted`)
	do("DELETE FROM public.competitors")
	expect(`brand Acme acme /us/en [] ["a.example"] revision 6`, `competitor Zeta [] ["z.example"] deleted`)
	do("BEGIN; UPDATE public.brands SET name = 'gone'; ROLLBACK")
	expect()
}

func TestADeletedBrandTakesAllWithItAndLeavesATombstone(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	brand := w.own.brand.ID
	second := added(t, w.db, w.own.organization.ID, postgres.NewBrand{Name: "Second"})
	before := drain(t, w.db)
	last := before[len(before)-1].ID
	// A topic, its prompt and the prompt's set go in one statement.
	err := asUser(t, w.db, w.own.users["member"], func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "DELETE FROM public.brands WHERE id = $1", brand)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	gone := map[uuid.UUID]postgres.Change{}
	kinds := map[string]int{}
	for _, c := range drain(t, w.db) {
		if c.ID <= last {
			t.Errorf("a later change has version %d, an earlier one %d", c.ID, last)
		}
		gone[c.RowID] = c // the highest version wins
	}
	for _, c := range gone {
		kinds[c.Kind]++
		if !c.Deleted || c.BrandID != brand || c.Row.Name+c.Row.Text == "" {
			t.Errorf("change %+v", c)
		}
	}
	if want := map[string]int{"brand": 1, "competitor": 2, "topic": 1,
		"prompt": 1}; fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("deletions of %v, want %v", kinds, want)
	}
	for _, table := range []string{"brand_domains", "competitors", "topics", "prompt_sets", "prompts"} {
		if n := one[int](t, w.root, "SELECT count(*)::int FROM public."+table+" WHERE brand_id = $1", brand); n > 0 {
			t.Errorf("%d %s are left", n, table)
		}
	}
	tombstones := func() []string {
		return list[string](t, w.root,
			"SELECT kind || ' ' || id || ' ' || organization_id FROM private.tombstones ORDER BY at, kind, id")
	}
	o := w.own.organization.ID
	want := []string{fmt.Sprintf("brand %s %s", brand, o)}
	if got := tombstones(); !slices.Equal(got, want) {
		t.Errorf("tombstones %v, want %v", got, want)
	}
	if _, err := w.root.Exec(t.Context(), "DELETE FROM public.organizations WHERE id = $1", o); err != nil {
		t.Fatal(err)
	}
	want = append(want, fmt.Sprintf("brand %s %s", second.ID, o), fmt.Sprintf("organization %s %s", o, o))
	if got := tombstones(); !slices.Equal(got, want) {
		t.Errorf("tombstones %v, want %v", got, want)
	}
}

// The mirror keeps the highest version of an id, so a row that is made again under its old id must come back.
func TestVersionsRiseAcrossADeletion(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	row := one[json.RawMessage](t, w.root,
		"SELECT to_jsonb(r) FROM public.competitors AS r WHERE brand_id = $1 LIMIT 1", w.own.brand.ID)
	drain(t, w.db)
	for _, text := range []string{
		"DELETE FROM public.competitors WHERE id = ($1::jsonb ->> 'id')::uuid",
		"INSERT INTO public.competitors SELECT * FROM jsonb_populate_record(NULL::public.competitors, $1)",
	} {
		if _, err := w.root.Exec(t.Context(), text, row); err != nil {
			t.Fatal(err)
		}
	}
	var last postgres.Change
	for _, c := range drain(t, w.db) {
		if c.Kind == "competitor" {
			if c.ID <= last.ID || c.Deleted == last.Deleted {
				t.Errorf("after %+v came %+v", last, c)
			}
			last = c
		}
	}
	if last.Deleted || last.ID == 0 {
		t.Errorf("last change %+v", last)
	}
}

func TestTheOutboxWakesItsReader(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	o := organization(t, db, "House")
	outbox := locked(t, db)
	if notified, err := outbox.Wait(t.Context(), 20*time.Millisecond); err != nil || notified {
		t.Errorf("notified %v of no change, %v", notified, err)
	}
	added(t, db, o.ID, acme())
	// The notification comes before the wait, on the connection whose wait has timed out.
	if notified, err := outbox.Wait(t.Context(), time.Minute); err != nil || !notified {
		t.Fatalf("notified %v of a change, %v", notified, err)
	}
	if changes, err := outbox.Read(t.Context(), 2); err != nil || len(changes) != 2 {
		t.Errorf("read %d changes, %v", len(changes), err)
	}

	second, err := db.OpenOutbox(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if locked, err := second.TryLock(t.Context()); err != nil || locked {
		t.Errorf("a second outbox beside the first: locked %v, %v", locked, err)
	}
	if err := outbox.Close(); err != nil {
		t.Fatal(err)
	}
	if err := locked(t, db).Close(); err != nil {
		t.Error(err)
	}
}
