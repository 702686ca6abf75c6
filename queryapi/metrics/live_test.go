package metrics

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// What people add, rename, move and delete shows in the API's lists and names, and in the views that an analyst calls. How
// long it took is logged: a second is what is promised, and what a test on a busy machine may only measure.
func TestEditsShowInTheAPIAndInTheViews(t *testing.T) {
	t.Parallel()
	st := newService(t).stage(t)
	st.addBrandAmong(t, brandFact{Name: "Lumen", Slug: "lumen"}, []string{"Glow"})
	st.addFacts(t, answerFact{On: "2026-03-02", Prompt: "a", Topic: "price", Text: "Lumen, Glow"}, answerFact{On: "2026-03-02", Prompt: "b", Topic: "use", Text: "Lumen"})
	var waits []time.Duration
	for round := range 5 {
		now := func(what string) string { return fmt.Sprintf("%s %d", what, round) }
		for _, c := range []struct {
			edit
			shows string // from then on, to both, unless it is of what the API does not list
			gone  string
		}{
			{edit{Do: "add", What: "competitor", Name: now("Rival")}, "competitor " + now("Rival"), ""},
			{edit{Do: "rename", What: "competitor", Name: now("Rival"), To: now("Nova")}, "competitor " + now("Nova"), "competitor " + now("Rival")},
			{edit{Do: "delete", What: "competitor", Name: now("Rival")}, "", "competitor " + now("Nova")},
			{edit{Do: "add", What: "prompt", Name: now("c")}, unasked + "prompt " + now("c"), ""},
			{edit{Do: "rename", What: "prompt", Name: "a", To: now("A")}, "prompt " + now("A"), ""},
			{edit{Do: "delete", What: "prompt", Name: now("c")}, "", unasked + "prompt " + now("c")},
			{edit{Do: "add", What: "topic", Name: now("new")}, unasked + "topic " + now("new"), ""},
			{edit{Do: "rename", What: "topic", Name: now("new"), To: now("newer")}, unasked + "topic " + now("newer"), unasked + "topic " + now("new")},
			{edit{Do: "move", What: "prompt", Name: "b", To: now("new")}, "topic " + now("newer"), ""},
			{edit{Do: "delete", What: "topic", Name: now("new")}, "", "topic " + now("newer")},
			{edit{Do: "rename", What: "brand", To: now("Lumina")}, "brand " + now("Lumina"), ""},
		} {
			waits = append(waits, st.shows(t, c.edit, c.shows, c.gone))
		}
	}
	slices.Sort(waits)
	t.Logf("%d edits showed after %v in the median, %v at the 99th of a hundred", len(waits), waits[len(waits)/2], waits[len(waits)*99/100])
}

// unasked stands before what has no answers, and is in the lists of an analyst alone.
const unasked = "unasked "

// shows edits, and tells how long it takes until both the API and the views say so.
func (s *stage) shows(t *testing.T, e edit, shows, gone string) time.Duration {
	t.Helper()
	s.edit(t, e)
	edited := time.Now()
	patience, look := time.NewTimer(30*time.Second), time.NewTicker(time.Millisecond)
	defer patience.Stop()
	defer look.Stop()
	says := func(seen []string) bool {
		return (shows == "" || slices.Contains(seen, shows)) && !slices.Contains(seen, gone)
	}
	for {
		api, views := s.seenByAPI(t), s.seenInViews(t)
		if (strings.HasPrefix(shows, unasked) || says(api)) && says(views) {
			return time.Since(edited)
		}
		select {
		case <-look.C:
		case <-patience.C:
			t.Fatalf("%+v: the API shows %q, the views %q", e, api, views)
		}
	}
}

// seenByAPI are the names and texts that the API lists.
func (s *stage) seenByAPI(t *testing.T) []string {
	t.Helper()
	const window = "&date_from=2026-03-02&date_to=2026-03-02"
	var body struct {
		Brands      []struct{ Name string }
		Brand       struct{ Name string }
		Competitors []struct{ Name string }
		Prompts     []struct {
			Text  string  `json:"prompt_text"`
			Topic *string `json:"topic_name"`
		}
	}
	var seen []string
	for _, target := range []string{"/api/v1/brands", "/api/v1/competitor-comparison?brand_id=$lumen" + window, "/api/v1/prompt-performance?brand_id=$lumen" + window} {
		_, text := s.get(t, "acme", s.withIDs(target))
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err, text)
		}
	}
	if len(body.Brands) == 1 && body.Brands[0].Name == body.Brand.Name {
		seen = append(seen, "brand "+body.Brand.Name)
	}
	for _, c := range body.Competitors {
		seen = append(seen, "competitor "+c.Name)
	}
	for _, p := range body.Prompts {
		seen = append(seen, "prompt "+p.Text)
		if p.Topic != nil {
			seen = append(seen, "topic "+*p.Topic)
		}
	}
	return seen
}

// seenInViews are the same names where an analyst reads them, and those of what nobody asked yet.
func (s *stage) seenInViews(t *testing.T) []string {
	t.Helper()
	filter := fmt.Sprintf("organization_id = '%s', brand_id = '%s', date_from = '2026-03-02', date_to = '2026-03-02', models = [], regions = [], topics = [], branded = []", s.ids["acme"], s.ids["lumen"])
	var seen []string
	err := s.warehouse.QueryRow(t.Context(), fmt.Sprintf(`
		SELECT groupArray(seen) FROM (
			SELECT 'brand ' || name AS seen FROM dimension_brands FINAL WHERE id = '%[1]s' AND NOT deleted
			UNION ALL SELECT 'competitor ' || name FROM entity_visibility(%[2]s) WHERE NOT is_brand
			UNION ALL SELECT 'prompt ' || prompt_text FROM prompt_performance(%[2]s, sort_by = 'mentions', order = 'asc', limit = 100)
			UNION ALL SELECT 'topic ' || assumeNotNull(topic_name) FROM prompt_performance(%[2]s, sort_by = 'mentions', order = 'asc', limit = 100) WHERE topic_name IS NOT NULL
			UNION ALL SELECT '%[3]sprompt ' || text FROM dimension_prompts FINAL WHERE brand_id = '%[1]s' AND NOT deleted
			UNION ALL SELECT '%[3]stopic ' || name FROM dimension_topics FINAL WHERE brand_id = '%[1]s' AND NOT deleted)`,
		s.ids["lumen"], filter, unasked)).Scan(&seen)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}
