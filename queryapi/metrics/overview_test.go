package metrics

import (
	"encoding/json"
	"testing"

	"github.com/answerscope/answerscope/sql/postgres"
)

// A brand is late once its last answer, or the time when its schedule began, is a period of the schedule and six hours
// ago. A manual or disabled platform has no schedule, a shopping platform gives no answers. A brand without platforms
// has one if it was asked on the default ones.
func TestABrandIsLateWhenItMissesItsSchedule(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	for _, slug := range []string{
		"weekly", "daily", "hourly", "manual", "never", "shopping", "enabled", "default", "undecided",
	} {
		s.addBrand(t, brandFact{Name: slug, Slug: slug})
	}
	for slug, platforms := range map[string]map[string]string{
		"weekly": {"openai": "weekly"}, "daily": {"openai": "weekly", "gemini": "daily"},
		"hourly": {"openai": "hourly"},
		"manual": {"openai": "manual"}, "never": {"openai": "daily"},
		"shopping": {"chatgpt-shopping": "hourly"}, "enabled": {"openai": "weekly", "gemini": "hourly"},
	} {
		since, next := "2026-01-01", any("2026-04-01T08:00:00Z")
		if slug == "never" {
			since, next = "2026-03-30T06:00:01Z", nil
		}
		for platform, frequency := range platforms {
			_, err := s.db.Exec(t.Context(), `
				INSERT INTO brand_platforms (brand_id, platform, check_frequency, scheduled_at, next_check_at)
				VALUES ($1, $2, $3, $4::text::timestamptz, $5::text::timestamptz)`, s.id(slug), platform, frequency,
				since, next)
			if err != nil {
				t.Fatal(err)
			}
			if slug == "enabled" && platform == "gemini" { // now, which is after the service's now
				for _, enabled := range []bool{false, true} {
					if err := s.db.EditBrandPlatform(t.Context(), s.id(slug), platform, "",
						postgres.BrandPlatformEdit{IsEnabled: &enabled}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if slug != "never" {
			s.addFacts(t, answerFact{Brand: slug, On: "2026-03-30T05:59:59Z"}) // 30 hours and a second ago
		}
	}
	for slug, last := range map[string]any{"default": "2026-03-30T05:59:59Z", "undecided": nil} {
		_, err := s.db.Exec(t.Context(), `
			INSERT INTO private.default_checks (brand_id, last_checked_at, next_check_at, created_at)
			VALUES ($1, $2::text::timestamptz, '2026-04-01', '2026-03-30T05:59:59Z')`, s.id(slug), last)
		if err != nil {
			t.Fatal(err)
		}
	}
	_, text := s.get(t, "acme", "/api/v1/brands-overview?sort_by=name")
	var body overviewBody
	if err := json.Unmarshal([]byte(text), &body); err != nil || body.Counts.Late != 3 {
		t.Errorf("%v, %d late: %s", err, body.Counts.Late, text)
	}
	for _, b := range body.Brands {
		wantLate, wantNext := b.Slug == "daily" || b.Slug == "hourly" || b.Slug == "default",
			b.Slug != "manual" && b.Slug != "never" && b.Slug != "shopping" && b.Slug != "undecided"
		if b.Late != wantLate || (b.NextRunAt != nil) != wantNext {
			t.Errorf("%s: late %v, next run at %v", b.Slug, b.Late, b.NextRunAt)
		}
	}
}

// The month of a brand costs what its jobs of the month have cost: 0.1, the estimate of 0.2, and 1 of a run that was
// paid for without an answer. A job of February, a run that failed at nothing and another brand's job do not count.
func TestABrandCostsWhatItsJobsOfTheMonthCost(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen"})
	s.addBrand(t, brandFact{Name: "Amber", Slug: "amber"})
	for _, r := range []struct{ slug, at, state, cost string }{
		{"lumen", "2026-03-01T00:00:00Z", "done", "0.1"}, {"lumen", "2026-03-31T11:00:00Z", "answered", ""},
		{"lumen", "2026-03-31T11:00:00Z", "gave_up", "1"},
		{"lumen", "2026-03-31T11:00:00Z", "gave_up", ""},
		{"lumen", "2026-02-28T23:59:59Z", "done", "1"}, {"amber", "2026-03-02T00:00:00Z", "done", "2.5"},
	} {
		_, err := s.db.Exec(t.Context(), `
			WITH job AS (
				INSERT INTO tracking_jobs (organization_id, brand_id, total, created_at)
				VALUES ($1, $2, 1, $3::text::timestamptz) RETURNING id
			)
			INSERT INTO tracking_runs (organization_id, job_id, prompt_id, platform, model, region, sample, state,
				cost, estimate)
			SELECT $1, id, gen_random_uuid(), 'openai', '', '', 1, $4, nullif($5, '')::numeric, 0.2 FROM job`,
			s.id("acme"), s.id(r.slug), r.at, r.state, r.cost)
		if err != nil {
			t.Fatal(err)
		}
	}
	_, text := s.get(t, "acme", "/api/v1/brands-overview?sort_by=cost&platform=gemini&date_to=2026-01-31")
	var body overviewBody
	if err := json.Unmarshal([]byte(text), &body); err != nil || len(body.Brands) != 2 {
		t.Fatal(err, text)
	}
	for i, want := range []struct{ slug, cost string }{{"amber", "2.5"}, {"lumen", "1.3"}} {
		if b := body.Brands[i]; b.Slug != want.slug || string(b.CostUSD) != want.cost {
			t.Errorf("%s costs %s, want %v", b.Slug, b.CostUSD, want)
		}
	}
}

// By change the moves down come first, then the rest by the size of its difference; what has no figure is last either
// way.
func TestBrandsAreSortedByWhatNeedsAttention(t *testing.T) {
	t.Parallel()
	var brands []overviewBrand
	for _, b := range []struct {
		name, verdict string
		difference    *float64
		since         float64
		rate          *float64
	}{
		{"a", "within_noise", new(-3.0), 0, new(10.0)}, {"b", "moved_up", new(1.0), 9, nil},
		{"c", "moved_down", new(-1.0), -4, new(30.0)},
		{"d", "too_little_data", nil, 0, new(20.0)}, {"e", "moved_down", new(-2.0), -6, new(10.0)},
	} {
		row := overviewBrand{Name: b.name, Rate: b.rate}
		row.Change.Verdict, row.Change.Difference = b.verdict, b.difference
		if b.since != 0 {
			row.Change.Since = &changeSince{Difference: b.since}
		}
		brands = append(brands, row)
	}
	for _, c := range []struct {
		by         string
		descending bool
		want       string
	}{
		{"change", true, "ecbad"}, {"change", false, "abced"}, {"name", false, "abcde"}, {"name", true, "edcba"},
		{"rate", true, "cdaeb"}, {"rate", false, "aedcb"},
	} {
		sorted, got := append([]overviewBrand{}, brands...), ""
		sortBrands(sorted, c.by, c.descending)
		for _, b := range sorted {
			got += b.Name
		}
		if got != c.want {
			t.Errorf("by %s, descending %v: %s, want %s", c.by, c.descending, got, c.want)
		}
	}
}
