package metrics

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// What people add, rename, move and delete shows in the API's lists and names, and in the views that an analyst calls.
// `answerscope bench freshness` measures how soon.
func TestEditsShowInTheAPIAndInTheViews(t *testing.T) {
	t.Parallel()
	st := newServiceOn(t, openComplete(t)).stage(t)
	st.addBrandAmong(t, brandFact{Name: "Lumen", Slug: "lumen"}, []string{"Glow"})
	st.addFacts(t, answerFact{On: "2026-03-02", Prompt: "a", Topic: "price", Text: "Lumen, Glow"},
		answerFact{On: "2026-03-02", Prompt: "b", Topic: "use", Text: "Lumen"})
	for _, c := range []struct {
		edit
		shows string // from then on, to both, unless it is of what the API does not list
		gone  string
	}{
		{edit{Do: "add", What: "competitor", Name: "Rival"}, "competitor Rival", ""},
		{edit{Do: "rename", What: "competitor", Name: "Rival", To: "Nova"}, "competitor Nova", "competitor Rival"},
		{edit{Do: "delete", What: "competitor", Name: "Rival"}, "", "competitor Nova"},
		{edit{Do: "add", What: "prompt", Name: "c"}, unasked + "prompt c", ""},
		{edit{Do: "rename", What: "prompt", Name: "a", To: "A"}, "prompt A", "prompt a"},
		{edit{Do: "delete", What: "prompt", Name: "c"}, "", unasked + "prompt c"},
		{edit{Do: "add", What: "topic", Name: "new"}, unasked + "topic new", ""},
		{edit{Do: "rename", What: "topic", Name: "new", To: "newer"}, unasked + "topic newer", unasked + "topic new"},
		{edit{Do: "move", What: "prompt", Name: "b", To: "new"}, "topic newer", ""},
		{edit{Do: "delete", What: "topic", Name: "new"}, "", "topic newer"},
		{edit{Do: "rename", What: "brand", To: "Lumina"}, "brand Lumina", "brand Lumen"},
	} {
		st.edit(t, c.edit)
		shown := func(seen []string) bool {
			return (c.shows == "" || slices.Contains(seen, c.shows)) && !slices.Contains(seen, c.gone)
		}
		wait.For(t, fmt.Sprintf("%+v to show in the views", c.edit), func() bool { return shown(st.seenInViews(t)) })
		if api := st.seenByAPI(t); !strings.HasPrefix(c.shows, unasked) && !shown(api) {
			t.Errorf("%+v: the API shows %q", c.edit, api)
		}
	}
}

// unasked stands before what has no answers, and is in the lists of an analyst alone.
const unasked = "unasked "

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
	for _, target := range []string{
		"/api/v1/brands", "/api/v1/competitor-comparison?brand_id=$lumen" + window,
		"/api/v1/prompt-performance?brand_id=$lumen" + window,
	} {
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

// seenInViews are the same names where an analyst reads them, and those of what was not asked yet.
func (s *stage) seenInViews(t *testing.T) []string {
	t.Helper()
	filter := fmt.Sprintf("organization_id = '%s', brand_id = '%s', date_from = '2026-03-02', "+
		"date_to = '2026-03-02', platforms = [], models = [], regions = [], topics = [], branded = []", s.ids["acme"],
		s.ids["lumen"])
	var seen []string
	err := s.warehouse.QueryRow(t.Context(), fmt.Sprintf(`
		SELECT groupArray(seen) FROM (
			SELECT 'brand ' || name AS seen FROM dimension_brands FINAL WHERE id = '%[1]s' AND NOT deleted
			UNION ALL SELECT 'competitor ' || name FROM entity_visibility(%[2]s, prompts = [], group_by = '')
				WHERE NOT is_brand
			UNION ALL SELECT 'prompt ' || prompt_text FROM prompt_performance(%[2]s, sort_by = 'mentions',
				order = 'asc', limit = 100, after = 0, after_prompt = '', moved = [], changes = [])
			UNION ALL SELECT 'topic ' || assumeNotNull(topic_name) FROM prompt_performance(%[2]s,
				sort_by = 'mentions', order = 'asc', limit = 100, after = 0, after_prompt = '', moved = [],
					changes = []) WHERE topic_name IS NOT NULL
			UNION ALL SELECT '%[3]sprompt ' || text FROM dimension_prompts FINAL WHERE brand_id = '%[1]s'
				AND NOT deleted
			UNION ALL SELECT '%[3]stopic ' || name FROM dimension_topics FINAL WHERE brand_id = '%[1]s'
				AND NOT deleted)`,
		s.ids["lumen"], filter, unasked)).Scan(&seen)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}
