package metrics

import (
	"encoding/json"
	"testing"
)

// A brand is late once its last answer, or the day on which its schedule began, is a period and six hours ago: those of
// the platform that is asked most often. A manual or disabled platform has no schedule.
func TestABrandIsLateWhenItMissesItsSchedule(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	for _, slug := range []string{"weekly", "daily", "hourly", "manual", "never"} {
		s.addBrand(t, brandFact{Name: slug, Slug: slug})
	}
	for slug, platforms := range map[string]map[string]string{
		"weekly": {"openai": "weekly"}, "daily": {"openai": "weekly", "gemini": "daily"}, "hourly": {"openai": "hourly"},
		"manual": {"openai": "manual"}, "never": {"openai": "daily"},
	} {
		since, next := "2026-01-01", any("2026-04-01T08:00:00Z")
		if slug == "never" {
			since, next = "2026-03-30T06:00:01Z", nil
		}
		for platform, frequency := range platforms {
			_, err := s.db.Exec(t.Context(), `
				INSERT INTO brand_platforms (brand_id, platform, check_frequency, created_at, next_check_at)
				VALUES ($1, $2, $3, $4::text::timestamptz, $5::text::timestamptz)`, s.id(slug), platform, frequency, since, next)
			if err != nil {
				t.Fatal(err)
			}
		}
		if slug != "never" {
			s.addFacts(t, answerFact{Brand: slug, On: "2026-03-30T05:59:59Z"}) // 30 hours and a second ago
		}
	}
	_, text := s.get(t, "acme", "/api/v1/brands-overview?sort_by=name")
	var body overviewBody
	if err := json.Unmarshal([]byte(text), &body); err != nil || body.Counts.Late != 2 {
		t.Errorf("%v, %d late: %s", err, body.Counts.Late, text)
	}
	for _, b := range body.Brands {
		wantLate, wantNext := b.Slug == "daily" || b.Slug == "hourly", b.Slug != "manual" && b.Slug != "never"
		if b.Late != wantLate || (b.NextRunAt != nil) != wantNext {
			t.Errorf("%s: late %v, next run at %v", b.Slug, b.Late, b.NextRunAt)
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
		{"a", "within_noise", new(-3.0), 0, new(10.0)}, {"b", "moved_up", new(1.0), 9, nil}, {"c", "moved_down", new(-1.0), -4, new(30.0)},
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
