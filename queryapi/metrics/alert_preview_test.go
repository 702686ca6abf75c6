package metrics

import (
	"encoding/json"
	"net/http"
	"testing"
)

// Of 120 days up to yesterday, the last has lost the mentions of openai for 30 days: that was told once, of all answers
// and of the platform, some days after it began. The drop of a second brand is 100 days old, which is no news of the
// last 90.
func TestAlertPreview(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addRivals(t, nil)
	s.addBrand(t, brandFact{Name: "Glow", Slug: "glow"})
	var facts []answerFact
	for day := 1; day <= 150; day++ {
		for i := range 12 {
			f := answerFact{
				On: dayText(today.AddDate(0, 0, -day)), Prompt: promptTexts[i/2],
				Platform: []string{"openai", "gemini"}[i%2], Text: "-",
			}
			glow := f
			glow.Brand = "glow"
			if (day*7+i*3)%5 < 4 && (i%2 > 0 || day > 30) {
				f.Text = "Lumen"
			}
			if (day*7+i*3)%5 < 4 && day > 100 {
				glow.Text = "Glow"
			}
			facts = append(facts, f, glow)
		}
	}
	s.addFacts(t, facts...)
	var body previewBody
	status, text := s.get(t, "acme", "/api/v1/alert-preview?brand_id="+s.ids["lumen"])
	if status != http.StatusOK || json.Unmarshal([]byte(text), &body) != nil {
		t.Fatal(status, text)
	}
	if body.Window != (windowBody{"2025-12-31", "2026-03-30"}) || body.Drops != body.Messages || len(body.Moves) != 2 {
		t.Fatal(text)
	}
	for i, m := range body.Moves {
		if (m.Platform != nil) != (i == 1) || m.Verdict != "moved_down" || *m.Since < "2026-02-28" ||
			*m.Since > "2026-03-01" || m.Day < "2026-03-02" || m.Day > "2026-03-10" || *m.Difference > -20 {
			t.Error(text)
		}
	}
	if status, text := s.get(t, "acme", "/api/v1/alert-preview?brand_id="+s.ids["glow"]); status != http.StatusOK ||
		json.Unmarshal([]byte(text), &body) != nil || body.Messages != 0 {
		t.Errorf("%d %s", status, text)
	}
	const refused = `{"error":"\"date_to\": want a parameter of this endpoint, the nearest is brand_id"}`
	if status, text := s.get(t, "acme",
		"/api/v1/alert-preview?date_to=2026-03-30&brand_id="+s.ids["glow"]); status != http.StatusBadRequest {
		t.Errorf("%d %s, want %s", status, text, refused)
	}
}
