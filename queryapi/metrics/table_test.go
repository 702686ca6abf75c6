package metrics

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
)

const wantCSV = "Accept: text/csv"

// Every list of every endpoint is CSV: as many lines as the JSON has rows, each cell what the row has under its name.
func TestEveryListIsCSV(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.fill(t)
	s.addFacts(t, answerFact{
		On: "2026-03-30", Text: "Lumen, Glow", Cites: []string{"https://lumen.example/"},
		Products: []event.Product{{Title: "a"}},
	})
	for _, e := range endpoints {
		o, names := contractOf(t).operations[prefix+e.path], []string{}
		for _, list := range e.tables {
			names = append(names, list.name)
			var question []string
			if len(e.tables) > 1 {
				question = append(question, "table", list.name)
			}
			if strings.HasPrefix(list.name, "groups") {
				question = append(question, "group_by", "region")
			}
			if strings.HasPrefix(list.name, "buckets") && o.reads("granularity") {
				question = append(question, "granularity", "day")
			}
			target := s.target(o, "lumen", question...)
			_, body := s.get(t, "acme", target)
			r := s.ask(t, http.MethodGet, target, s.bearer("acme"), wantCSV)
			lines, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
			if err != nil || r.StatusCode != 200 || r.Header.Get("ETag") == "" ||
				!slices.Contains(r.Header.Values("Vary"), "Accept") &&
					!strings.Contains(r.Header.Get("Vary"), "Accept,") {
				t.Errorf("%s: %d %v %v", target, r.StatusCode, err, r.Header)
				continue
			}
			var want [][]string
			for _, row := range rowsAt(exactly(t, body), strings.Split(list.name, "."), "", nil) {
				want = append(want, row.cells(lines[0]))
			}
			if got := lines[1:]; !slices.EqualFunc(got, want, slices.Equal) ||
				strings.Count(r.body, "\r\n") < len(lines) {
				t.Errorf("%s\ngot  %q\nwant %q\nof %s", target, got, want, body)
			}
		}
		if slices.Contains(names, "groups") {
			r := s.ask(t, http.MethodGet, s.target(o, "lumen", "table", "groups"), s.bearer("acme"), wantCSV)
			if want := `{"error":"table: want group_by with groups, got no group_by"}`; r.StatusCode != 400 ||
				r.body != want {
				t.Errorf("%s: groups without group_by: %d %s", e.path, r.StatusCode, r.body)
			}
		}
		if several := len(e.tables) > 1; several && e.path != "/visibility-trend" {
			r := s.ask(t, http.MethodGet, s.target(o, "lumen"), s.bearer("acme"), wantCSV)
			shown := slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "groups") })
			if want := `{"error":"table: want one of ` +
				strings.Join(shown, ", ") + `, got nothing"}`; r.StatusCode != 400 || r.body != want {
				t.Errorf("%s without a table: %d %s", e.path, r.StatusCode, r.body)
			}
		}
	}
}

// A jsonRow is an object of a list, and below it the rows around it.
type jsonRow struct {
	value  any
	around map[string]any // groups_key
}

// rowsAt are the rows of the list at a path, below the rows of the list of that name.
func rowsAt(value any, path []string, name string, around map[string]any) (rows []jsonRow) {
	list, isList := value.([]any)
	switch {
	case isList && len(path) == 0:
		for _, one := range list {
			rows = append(rows, jsonRow{one, around})
		}
	case isList:
		for _, one := range list {
			above := map[string]any{}
			for field, value := range one.(map[string]any) {
				above[name+"_"+field] = value
			}
			rows = append(rows, rowsAt(one, path, name, above)...)
		}
	case len(path) > 0:
		rows = rowsAt(value.(map[string]any)[path[0]], path[1:], path[0], around)
	}
	return rows
}

func (r jsonRow) cells(header []string) (cells []string) {
	for _, name := range header {
		if value, ok := r.around[name]; ok {
			cells = append(cells, jsonCell(value))
		} else if fields, ok := r.value.(map[string]any); ok {
			cells = append(cells, jsonCell(fieldAt(fields, name)))
		} else {
			cells = append(cells, jsonCell(r.value))
		}
	}
	return cells
}

// fieldAt is a field by its name, or one of an object's: interval_low.
func fieldAt(fields map[string]any, name string) any {
	if value, ok := fields[name]; ok {
		return value
	}
	for member, value := range fields {
		if below, isObject := value.(map[string]any); isObject && strings.HasPrefix(name, member+"_") {
			if found := fieldAt(below, strings.TrimPrefix(name, member+"_")); found != nil {
				return found
			}
		}
	}
	return nil
}

func jsonCell(value any) string {
	switch of := value.(type) {
	case nil:
		return ""
	case []any:
		var texts []string
		for _, one := range of {
			texts = append(texts, fmt.Sprint(one))
		}
		return strings.Join(texts, ", ")
	case map[string]any:
		text, _ := json.Marshal(of)
		return string(text)
	}
	return fmt.Sprint(value)
}

// What a spreadsheet would take for a formula is a text, a quote is two, and a line break stays in its cell.
func TestCSVIsWhatAReaderTakesItFor(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addRivals(t, []string{"=1+1", "+49", "-x", "@sum", "a,b", `"q"`, "ü = 1", "x;=cmd|A0", "＝1+1", "\ufeff=1+1"})
	s.addFacts(t, answerFact{On: "2026-03-30", Prompt: "zwei\nZeilen\r", Text: "Lumen"},
		answerFact{On: "2026-03-30", Prompt: "=HYPERLINK(\"x\")", Text: "Lumen"})
	r := s.ask(t, http.MethodGet, "/api/v1/competitor-comparison?table=competitors&brand_id="+s.ids["lumen"],
		s.bearer("acme"), wantCSV)
	lines, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, line := range lines {
		names = append(names, line[1])
	}
	if want := []string{"name", `"q"`, "'+49", "'-x", "'=1+1", "'@sum", "a,b",
		"x;'=cmd|A0", "ü = 1", "'\ufeff=1+1", "'＝1+1"}; !slices.Equal(names, want) {
		t.Errorf("names are %q, want %q", names, want)
	}
	page := "/api/v1/prompt-performance?limit=1&model=gpt,a;b&brand_id=" + s.ids["lumen"]
	first := s.ask(t, http.MethodGet, page, s.bearer("acme"), wantCSV)
	next, _, _ := strings.Cut(strings.TrimPrefix(first.Header.Get("Link"), "<"), ">")
	second := s.ask(t, http.MethodGet, next, s.bearer("acme"), wantCSV)
	figures := `,,1,1,10,1,0,,75,,,,100,,,,false,1` + strings.Repeat(",", 22) + "\r\n" // no change
	texts := []string{
		s.ids["zwei\nZeilen\r"] + ",\"zwei\nZeilen\r\"" + figures,
		s.ids[`=HYPERLINK("x")`] + `,"'=HYPERLINK(""x"")"` + figures,
	}
	got := []string{afterHeader(first.body), afterHeader(second.body)}
	slices.Sort(texts)
	if slices.Sort(got); !slices.Equal(got, texts) || second.Header.Get("Link") != "" {
		t.Errorf("got %q, Link %q; want %q", got, second.Header.Get("Link"), texts)
	}
	var all promptsBody
	if _, body := s.get(t, "acme",
		page); json.Unmarshal([]byte(body), &struct{ Prompts *[]promptRow }{&all.Prompts}) != nil ||
		len(all.Prompts) != 1 {
		t.Errorf("JSON of the same: %s", body)
	}
}

// A spreadsheet drops white space before a formula, so a text that begins with it is a text too.
func TestNoCellBeginsWithATabOrALineBreak(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addRivals(t, nil)
	for _, text := range []string{"\t=1+1", "\r=1+1", "\n=1+1"} {
		s.addFacts(t, answerFact{On: "2026-03-30", Prompt: text, Text: "Lumen"})
	}
	r := s.ask(t, http.MethodGet, "/api/v1/prompt-performance?brand_id="+s.ids["lumen"], s.bearer("acme"), wantCSV)
	for _, text := range []string{`,'` + "\t'=1+1,", `,"'` + "\r=1+1\",", `,"'` + "\n=1+1\","} {
		if !strings.Contains(r.body, text) {
			t.Errorf("no cell %q in %q", text, r.body)
		}
	}
}

func afterHeader(text string) string {
	_, rest, _ := strings.Cut(text, "\r\n")
	return rest
}
