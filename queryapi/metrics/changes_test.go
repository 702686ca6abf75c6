package metrics

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// The statement of docs/sql.md gives an analyst what the API gives, where nothing is left out.
func TestTheStatementOfSQLGivesTheLevelsOfTheAPI(t *testing.T) {
	t.Parallel()
	s := newServiceOn(t, openComplete(t)).stage(t)
	s.addRivals(t, nil)
	var facts []answerFact
	for day := range 59 { // of February and March
		for i := range 10 {
			f := answerFact{
				On: dayText(today.AddDate(0, 0, -day)), Prompt: promptTexts[i/2],
				Platform: []string{"openai", "gemini"}[i%2], Text: "-",
			}
			if (day*7+i*3)%5 < 2+day/40 {
				f.Text, f.Cites = "Lumen", []string{"https://lumen.example/"}[:i%2]
			}
			if day%11 != i { // a gap now and then
				facts = append(facts, f)
			}
		}
	}
	s.addFacts(t, facts...)
	var body Changes
	target := "/api/v1/visibility-changes?date_from=2026-03-01&date_to=2026-03-31&compare_days=28&brand_id=" +
		s.ids["lumen"]
	if status, text := s.get(t, "acme", target); status != http.StatusOK ||
		json.Unmarshal([]byte(text), &body) != nil || body.Change.Difference == nil {
		t.Fatal(status, text)
	}
	text, err := os.ReadFile("../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	_, statement, _ := strings.Cut(string(text), "### What does a verdict compare?")
	_, statement, _ = strings.Cut(statement, "```sql\n")
	statement, _, _ = strings.Cut(statement, "```")
	var level, difference, before, after float64
	err = s.warehouse.QueryRow(t.Context(), statement, clickhouse.Named("organization_id", s.ids["acme"]),
		clickhouse.Named("brand_id", s.ids["lumen"])).
		Scan(&level, &difference, &before, &after)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%.1f %.1f %.1f", before, after, difference)
	if want := fmt.Sprintf("%.1f %.1f %.1f", *body.Change.Before, *body.Change.After,
		*body.Change.Difference); got != want {
		t.Errorf("SQL gives before, after and difference %s, the API %s", got, want)
	}
}

// The only list of the body may be named, as on endpoints with several.
func TestTheOnlyListOfChangesMayBeNamed(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addRivals(t, nil)
	s.addFacts(t, answerFact{On: "2026-03-30", Text: "Lumen"})
	target := "/api/v1/visibility-changes?group_by=platform&brand_id=" + s.ids["lumen"]
	r := s.ask(t, http.MethodGet, target+"&table=changes", s.bearer("acme"), wantCSV)
	if _, text := s.get(t, "acme", target+"&table=changes"); text == "" ||
		!strings.HasPrefix(r.body, "dimension,key,name,entity_id,entity_name,entity_role,verdict,reach,") ||
		!strings.Contains(r.body, "\r\nplatform,openai,openai,"+
			s.ids["lumen"]+",Lumen,brand,too_little_data,,no_runs,") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}
