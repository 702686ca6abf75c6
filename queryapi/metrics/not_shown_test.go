package metrics

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// On two days half of the overviews are not shown. Every endpoint says of all of them what it says of the shown half,
// but for the counts of the other half; a day with only such has no figure, and a change of its provider is not lost.
func TestASurfaceThatIsNotShownChangesNoFigure(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.fill(t)
	const half = 12
	overview := func(day int, f answerFact) answerFact {
		f.On, f.Platform, f.Region = fmt.Sprintf("2026-03-%02d", day), "google-ai-overview", "de"
		f.Provider = "serpapi"
		return f
	}
	var shown, others []answerFact
	for _, day := range []int{29, 30} {
		for n := range half {
			prompt := fmt.Sprintf("overview %d", n%6)
			shown = append(shown,
				overview(day, answerFact{
					Prompt: prompt, Text: []string{"Lumen, Glow", "Glow", "Nothing."}[n%3],
					Cites: []string{"https://lumen.example/"},
				}))
			others = append(others, overview(day, answerFact{Prompt: prompt, NotShown: true}))
		}
	}
	s.addFacts(t, shown...)
	before := s.bodies(t)
	s.addFacts(t, others...)
	after := s.bodies(t)
	for target, body := range before {
		if got, want := counted(t, after[target]), counted(t, body); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", target, after[target], body)
		}
	}
	window := "/api/v1/visibility-%s?brand_id=" + s.ids["lumen"] +
		"&date_from=2026-03-29&date_to=2026-03-31&platform=google-ai-overview"
	s.wantIn(t, fmt.Sprintf(window, "summary"), `"resultCount":24,`,
		`"notShown":24,"shownRatePct":50,"shownRateInterval":{"low":36.4,"high":63.6}`)
	s.wantIn(t, fmt.Sprintf(window, "trend")+"&group_by=platform", `"result_count":12,`, `"not_shown":12,`,
		`"degraded_platforms":[]`)
	s.wantIn(t, "/api/v1/answers"+strings.TrimPrefix(fmt.Sprintf(window, ""), "/api/v1/visibility-")+"&shown=false",
		`"total":24,`, `"provider":"serpapi",`, `"shown":false,`)

	s.addFacts(t, overview(31, answerFact{Prompt: "overview 1", NotShown: true, Provider: "cloro"}))
	s.addFacts(t, answerFact{
		On: "2026-03-31", Platform: "google-ai-overview", Region: "de", Prompt: "overview 1", NotShown: true,
		Provider: "cloro",
	})
	s.wantIn(t, fmt.Sprintf(window, "trend"),
		`"unanswered":[{"date":"2026-03-31","model_changes":[{"platform":"google-ai-overview","model":"gpt",`+
			`"before":["via serpapi"],"now":["via cloro","via serpapi"]}],"given_up_runs":0,"not_shown":2,`+
			`"degraded_platforms":[]}]`)
	for _, table := range []string{"answer_daily", "entity_prompt_daily"} {
		var notShown int64
		err := s.warehouse.QueryRow(t.Context(), "SELECT sum(not_shown) FROM "+table+" WHERE toString(brand_id) = ?",
			s.ids["lumen"]).Scan(&notShown)
		if err != nil || notShown != 27 {
			t.Errorf("%s: %d not shown, %v; want 27, with that of fill", table, notShown, err)
		}
	}
}

// bodies are those of every endpoint of figures about Lumen.
func (s *stage) bodies(t *testing.T) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	for _, e := range endpoints {
		o := contractOf(t).operations[prefix+e.path]
		if e.withoutWarehouse || !o.reads("brand_id") && e.path != "/brands-overview" {
			continue
		}
		for _, by := range []string{"", "platform"} {
			var more []string
			if by != "" {
				if !o.reads("group_by") {
					continue
				}
				more = []string{"group_by", by}
			}
			target := s.target(o, "lumen", more...)
			status, body := s.get(t, "acme", target)
			if status == http.StatusOK {
				bodies[target] = body
			}
		}
	}
	if len(bodies) < 20 {
		t.Errorf("%d endpoints: %v", len(bodies), maps.Keys(bodies))
	}
	return bodies
}

// counted is a body without what it says of surfaces that had no answer.
func counted(t *testing.T, body string) any {
	t.Helper()
	var without func(any) any
	without = func(value any) any {
		switch value := value.(type) {
		case map[string]any:
			for _, field := range []string{
				"not_shown", "notShown", "shownRatePct", "shownRateInterval", "more_runs_per_day",
			} {
				delete(value, field)
			}
			for field := range value {
				value[field] = without(value[field])
			}
		case []any:
			for i := range value {
				value[i] = without(value[i])
			}
		}
		return value
	}
	return without(exactly(t, body))
}

func (s *stage) wantIn(t *testing.T, target string, parts ...string) {
	t.Helper()
	status, body := s.get(t, "acme", target)
	for _, part := range parts {
		if status != http.StatusOK || !strings.Contains(body, part) {
			t.Errorf("%s: %d, without %s: %s", target, status, part, body)
		}
	}
}
