package postgres_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Processes that add the panel at once, or again, add it once; an organization that has its slug keeps it.
func TestAPanelIsAddedOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	taken := organization(t, w.db, "Canary panel")
	var together sync.WaitGroup
	for range 4 {
		together.Go(func() {
			for range 2 {
				if err := w.db.AskPanel(t.Context(), nil, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	together.Wait()
	brands, err := w.db.Brands(t.Context(), postgres.PanelOrganization)
	if err != nil || len(brands) != 1 || brands[0].ID != postgres.Panel || brands[0].Slug != "canary-panel-1" {
		t.Fatalf("%+v, %v", brands, err)
	}
	prompts, err := w.db.PromptsToAsk(t.Context(), postgres.Panel, nil)
	if err != nil || len(prompts) != 10 {
		t.Errorf("%d prompts, %v", len(prompts), err)
	}
	for _, p := range prompts {
		if p.Samples != 3 || len(p.Models)+len(p.Platforms)+len(p.Regions) > 0 {
			t.Errorf("%+v", p)
		}
	}
	snapshot, err := w.db.Snapshot(t.Context(), postgres.Panel)
	var names []string
	for _, c := range snapshot.Competitors {
		names = append(names, c.Name)
	}
	if err != nil ||
		strings.Join(slices.Sorted(slices.Values(names)), ", ") !=
			"Apple, Bosch, Hyundai, LG, Mitsubishi, Panasonic, Samsung, Sony, Tesla, Toyota" {
		t.Errorf("%v, %v", names, err)
	}
	if slug := one[string](t, w.root, "SELECT slug FROM public.organizations WHERE id = $1",
		postgres.PanelOrganization); slug == taken.Slug || !strings.HasPrefix(slug, "canary-panel") {
		t.Errorf("slug %q beside %q", slug, taken.Slug)
	}
}

// What was removed is not added again.
func TestARemovedPanelStaysRemoved(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	if err := db.AskPanel(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.RemoveBrand(t.Context(), postgres.Panel); err != nil {
		t.Fatal(err)
	}
	if err := db.AskPanel(t.Context(), nil, nil); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("added again: %v", err)
	}
	if err := db.StopPanel(t.Context()); err != nil {
		t.Errorf("off: %v", err)
	}
}

// The panel follows the platforms and models of brands, as far as they can be asked; nobody's brand that is inactive or
// whose platform is off counts, and no other panel. Without platforms it is asked nowhere.
func TestAPanelIsAskedWhereBrandsAre(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	if err := w.db.AskPanel(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	second, _, err := w.db.AddBrand(t.Context(), postgres.PanelOrganization,
		postgres.NewBrand{Name: "Canary panel 2", Slug: "canary-panel-2"})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		brand           uuid.UUID
		platform, model string
	}{
		{w.own.brand.ID, "openai", "gpt-5.4-mini"}, {w.own.brand.ID, "openai", ""}, {w.other.brand.ID, "openai", ""},
		// chatgpt is theirs already
		{w.other.brand.ID, "simulator", ""}, {w.other.brand.ID, "gemini", "gemini-3.5-flash"},
		{second.ID, "xai", "of-another-panel"},
	} {
		if err := w.db.AddBrandPlatform(t.Context(), row.brand, row.platform, row.model, "weekly"); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, change       string
		available, withKey []string
		want               string
	}{
		{"nothing can be asked", "", nil, nil, ""},
		{"a default model for a platform of no brand", "", []string{"openai", "simulator", "xai"},
			[]string{"openai", "xai"}, "openai:, openai:gpt-5.4-mini, simulator:, xai:"},
		{"again", "", []string{"openai", "simulator", "xai"},
			[]string{"openai", "xai"}, "openai:, openai:gpt-5.4-mini, simulator:, xai:"},
		{"a key is gone", "", []string{"simulator"}, nil, "simulator:"},
		{"another platform, off for its brand",
			"UPDATE public.brand_platforms SET is_enabled = false WHERE platform = 'simulator' AND brand_id <> $1",
			[]string{"gemini", "simulator"}, []string{"gemini"}, "gemini:gemini-3.5-flash"},
		{"an inactive brand", "UPDATE public.brands SET is_active = false WHERE organization_id <> (SELECT " +
			"organization_id FROM public.brands WHERE id = $1)", []string{"gemini", "openai"},
			[]string{"gemini", "openai"}, "gemini:, openai:"},
		{"off", "", nil, nil, ""},
	} {
		if c.change != "" {
			if _, err := w.root.Exec(t.Context(), c.change, postgres.Panel); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.db.AskPanel(t.Context(), c.available, c.withKey); err != nil {
			t.Fatal(err)
		}
		rows := list[string](t, w.root, `SELECT platform || ':' || coalesce(model, '') FROM public.brand_platforms
			WHERE brand_id = $1 AND is_enabled AND check_frequency = 'daily' ORDER BY 1`, postgres.Panel)
		if got := strings.Join(rows, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// No user of another organization sees or changes the panel, by any table that clients may name.
func TestNobodySeesThePanel(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	if err := w.db.AskPanel(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.db.AskPanel(t.Context(), []string{"openai"}, []string{"openai"}); err != nil {
		t.Fatal(err)
	}
	filled := 0
	for _, table := range w.exposed(t) {
		if one[int64](t, w.root, "SELECT count(*) FROM public."+table+" WHERE "+owner(table)+" = $1",
			postgres.PanelOrganization) > 0 {
			filled++
		}
		for _, u := range w.own.users {
			for _, text := range []string{
				"SELECT FROM public." + table, "UPDATE public." + table + " SET " + writable(table),
				"DELETE FROM public." + table,
			} {
				if got := w.user(t, u, text+" WHERE "+owner(table)+" = $1", postgres.PanelOrganization); got.rows > 0 {
					t.Errorf("%s of Own: %s: %+v", u.Role, text, got)
				}
			}
		}
	}
	if filled < 6 {
		t.Errorf("the panel has rows in %d tables: organizations, brands, competitors, prompt_sets, "+
			"prompts and brand_platforms are expected", filled)
	}
}
