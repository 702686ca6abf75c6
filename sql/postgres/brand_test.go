package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

func organization(t testing.TB, db *postgres.DB, name string) postgres.Organization {
	t.Helper()
	o, err := db.AddOrganization(t.Context(), name, "")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func acme() postgres.NewBrand {
	return postgres.NewBrand{
		Name: "Acme", Slug: "acme", Industry: "tools", Region: "us", Language: "en",
		Aliases: []string{"ACME Corp", "Acmé"},
		Domains: []string{"acme.com", "https://Shop.Acme.co.uk:8443/x?y", "acme.com"},
		Competitors: []postgres.NewCompetitor{
			{Name: "Zeta", Domains: []string{"zeta.io", "zeta.com"}},
			{Name: "Beta", Aliases: []string{"β"}},
		},
	}
}

func added(t testing.TB, db *postgres.DB, organization uuid.UUID, b postgres.NewBrand) postgres.Brand {
	t.Helper()
	made, ok, err := db.AddBrand(t.Context(), organization, b)
	if err != nil || !ok {
		t.Fatalf("add %s: added %v, %v", b.Name, ok, err)
	}
	return made
}

func TestABrandIsAddedWhole(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	o := organization(t, db, "House")
	b := added(t, db, o.ID, acme())
	if b.Name != "Acme" || b.Slug != "acme" || b.Industry != "tools" || b.OrganizationID != o.ID || !b.IsActive {
		t.Errorf("added %+v", b)
	}
	s, err := db.Snapshot(t.Context(), b.ID)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %s %q %q", s.Name, s.Slug, s.Aliases, s.Domains)
	if want := `Acme acme ["ACME Corp" "Acmé"] ["acme.com" "shop.acme.co.uk"]`; got != want {
		t.Errorf("snapshot %s, want %s", got, want)
	}
	got = ""
	for _, c := range s.Competitors {
		got += fmt.Sprintf("%s %q %q\n", c.Name, c.Aliases, c.Domains)
	}
	if want := "Zeta [] [\"zeta.io\" \"zeta.com\"]\nBeta [\"β\"] []\n"; got != want {
		t.Errorf("competitors\n%s, want\n%s", got, want)
	}
	if s.OrganizationID != o.ID || s.BrandID != b.ID || s.Revision < 1 {
		t.Errorf("snapshot %+v", s)
	}
}

func TestABrandThatIsThereIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	o := organization(t, db, "House")
	first := added(t, db, o.ID, acme())
	other := acme()
	other.Name = "Other"
	again, addedAgain, err := db.AddBrand(t.Context(), o.ID, other)
	if err != nil || addedAgain || again != first {
		t.Errorf("added again %v %+v, %v", addedAgain, again, err)
	}
	s, err := db.Snapshot(t.Context(), first.ID)
	if err != nil || len(s.Competitors) != 2 {
		t.Errorf("snapshot %+v, %v", s, err)
	}
}

func TestABrandIsAddedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	o := organization(t, db, "House")
	bad := acme()
	bad.Competitors = append(bad.Competitors, postgres.NewCompetitor{Name: "Zeta"})
	if _, _, err := db.AddBrand(t.Context(), o.ID, bad); !errors.Is(err, postgres.ErrConflict{What: "competitor"}) {
		t.Errorf("two competitors of one name: %v", err)
	}
	if all, err := db.Brands(t.Context(), o.ID); err != nil || len(all) > 0 {
		t.Errorf("left %v, %v", all, err)
	}
	if _, _, err := db.AddBrand(t.Context(), uuid.Must(uuid.NewV4()), acme()); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("brand of no organization: %v", err)
	}
}

func TestBrandsAreFoundWithinTheirOrganization(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	own, other := organization(t, db, "Own"), organization(t, db, "Other")
	for _, name := range []string{"apple", "Zebra", "Éclair", "Apple"} {
		added(t, db, own.ID, postgres.NewBrand{Name: name})
	}
	foreign := added(t, db, other.ID, acme())
	all, err := db.Brands(t.Context(), own.ID)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	if want := []string{"Apple", "Zebra", "apple", "Éclair"}; !slices.Equal(names, want) {
		t.Errorf("brands %q, want %q", names, want)
	}
	if _, err := db.Brand(t.Context(), own.ID, foreign.ID); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("foreign brand: %v", err)
	}
	if _, err := db.BrandBySlug(t.Context(), own.ID, foreign.Slug); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("foreign slug: %v", err)
	}
	if b, err := db.Brand(t.Context(), other.ID, foreign.ID); err != nil || b != foreign {
		t.Errorf("own brand: %+v, %v", b, err)
	}
	if _, err := db.Snapshot(t.Context(), uuid.Must(uuid.NewV4())); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("snapshot of nothing: %v", err)
	}
}
