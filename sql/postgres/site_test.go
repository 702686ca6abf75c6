package postgres_test

import (
	"slices"
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/postgres"
)

func openSites(t *testing.T, db *postgres.DB) *postgres.Sites {
	t.Helper()
	s, err := db.OpenSites(t.Context(), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// notified reports whether the reader was notified of a change that has been committed.
func (w *environment) notified(t *testing.T, s *postgres.Sites) bool {
	t.Helper()
	came, err := s.Wait(t.Context(), 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return came
}

// Each change of domains notifies and makes another version, by which a reader that missed the notification goes.
func TestEveryChangeOfDomainsNotifiesAndMakesAnotherVersion(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	s := openSites(t, w.db)
	version := func() string {
		t.Helper()
		v, err := s.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	last := version()
	id := w.own.brand.ID
	for _, change := range []struct {
		text              string
		args              []any
		notified, changes bool
	}{
		{"INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, 'new.example')", []any{id}, true, true},
		{"UPDATE public.brand_domains SET domain = 'newer.example' WHERE brand_id = $1 AND domain = 'new.example'",
			[]any{id}, true, true},
		{"UPDATE public.brand_domains SET country = 'DE' WHERE brand_id = $1", []any{id}, true, false},
		{"UPDATE public.brand_domains SET domain = 'none.example' WHERE domain = 'nowhere.example'", nil, false, false},
		{"DELETE FROM public.brand_domains WHERE brand_id = $1 AND domain = 'newer.example'", []any{id}, true, true},
		{"DELETE FROM public.brand_domains WHERE domain = 'nowhere.example'", nil, false, false},
		{"INSERT INTO public.brands (organization_id, name) VALUES ($1, 'Fresh')",
			[]any{w.own.organization.ID}, true, true},
		{"UPDATE public.brands SET industry = 'anvils' WHERE id = $1", []any{id}, false, false},
		{"DELETE FROM public.brands WHERE name = 'Fresh'", nil, true, true},
		{"DELETE FROM public.brands WHERE id = $1", []any{id}, true, true},
		{"DELETE FROM public.organizations WHERE id = $1", []any{w.other.organization.ID}, true, true},
	} {
		if _, err := w.db.Exec(t.Context(), change.text, change.args...); err != nil {
			t.Fatal(err)
		}
		notified := w.notified(t, s)
		for w.notified(t, s) { // more than once is as good
		}
		now := version()
		if notified != change.notified || (now != last) != change.changes {
			t.Errorf("%s: notified %v, another version %v", change.text, notified, now != last)
		}
		last = now
	}
	if rows, err := s.Read(t.Context()); err != nil || len(rows) != 0 {
		t.Errorf("of no brands %v, %v", rows, err)
	}
}

// A reader that was busy for a while is notified once of what came meanwhile.
func TestManyChangesNotifyOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	s := openSites(t, w.db)
	for range 50 {
		if _, err := w.db.Exec(t.Context(), "UPDATE public.brand_domains SET country = 'DE'"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Version(t.Context()); err != nil { // takes them from the wire
		t.Fatal(err)
	}
	if !w.notified(t, s) || w.notified(t, s) {
		t.Error("want one notification")
	}
	if _, err := s.Version(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSitesAreEveryBrandWithItsDomains(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	bare, _, err := w.db.AddBrand(t.Context(), w.own.organization.ID, postgres.NewBrand{Name: "Bare"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := openSites(t, w.db).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 || !slices.IsSortedFunc(rows, func(a, b postgres.Site) int {
		return slices.Compare(a.BrandID[:], b.BrandID[:])
	}) {
		t.Fatalf("%+v", rows)
	}
	for _, row := range rows {
		snapshot, err := w.db.Snapshot(t.Context(), row.BrandID)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(slices.Values(snapshot.Domains))
		if row.OrganizationID != snapshot.OrganizationID ||
			!slices.Equal(row.Domains, want) || (len(want) == 0) != (row.BrandID == bare.ID) {
			t.Errorf("%+v, want %v", row, want)
		}
	}
}

func TestOpenLaterNeedsNoServer(t *testing.T) {
	t.Parallel()
	cfg := postgres.DefaultConfig()
	cfg.DSN = "postgres://user@127.0.0.1:1/none"
	db, err := postgres.OpenLater(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(t.Context()); err == nil {
		t.Error("no server answers")
	}
	if _, err := db.OpenSites(t.Context(), 10*time.Second); err == nil {
		t.Error("sites were read without a server")
	}
}
