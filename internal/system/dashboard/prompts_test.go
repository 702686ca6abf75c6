package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A namedShare is how often answers to a prompt name the brand, in a cell of the matrix.
type namedShare struct {
	Key      string
	N        float64
	Rate     float64
	Interval *interval
}

func (s namedShare) mark(key, x string) mark {
	m := mark{Key: key, X: x, Value: s.Rate, N: &s.N}
	if s.Interval != nil {
		m.Low, m.High = s.Interval.Low, s.Interval.High
	}
	return m
}

type matrixRow struct {
	ID    string `json:"prompt_id"`
	Text  string `json:"prompt_text"`
	Cells []namedShare
}

// The heat map has the API's cells, in its order. A cell leads to its answers, a prompt to its panel.
func (d *dashboard) drawsPrompts(t *testing.T) {
	var matrix struct{ Rows []matrixRow }
	d.ask(t, "prompt-matrix?limit=200&brand_id="+d.brand, &matrix)
	d.at(t, "/brands/fernwood/prompts", "Prompts")
	d.listsMovers(t)
	const chart = `figure[aria-label="Prompts by platform"]`
	const rows = `[...document.querySelectorAll('` + chart + ` tbody tr:not(.group)')]`
	d.page.Await(t, `document.querySelector('`+chart+` [aria-expanded=false]')`)
	d.page.Eval(t, `document.querySelectorAll('`+chart+` [aria-expanded=false]').forEach((g) => g.click())`, nil)
	d.page.Await(t, fmt.Sprintf(rows+".length == %d", len(matrix.Rows)))
	var names []string
	var drawn []drawnMark
	d.page.Eval(t, rows+`.map((tr) => tr.cells[0].textContent)`, &names)
	d.page.Eval(t, fmt.Sprintf(drawnMarks, "Prompts by platform"), &drawn)
	cells := 0
	for i, row := range matrix.Rows {
		if names[i] != row.Text {
			t.Fatalf("row %d is %q, want %q", i, names[i], row.Text)
		}
		for _, cell := range row.Cells {
			w := cell.mark(row.ID, cell.Key)
			equal := func(m drawnMark) bool {
				return m.Key == w.Key && m.X == w.X &&
					m.Value == w.Value && same(m.Low, w.Low) && same(m.High, w.High) &&
					same(m.N, w.N)
			}
			if cells++; !slices.ContainsFunc(drawn, equal) {
				t.Errorf("no cell is %s", w)
			}
		}
	}
	if len(drawn) != cells {
		t.Errorf("%d cells are drawn of %d", len(drawn), cells)
	}
	d.walksMarks(t, "Prompts by platform")
	d.opensPrompt(t, matrix.Rows[0])
	cell := matrix.Rows[0].Cells[0]
	const link = `document.querySelector('` + chart + ` [data-key=%q][data-x=%q]')`
	d.page.Eval(t, fmt.Sprintf(`void `+link+`.click()`, matrix.Rows[0].ID, cell.Key), nil)
	d.settled(t, "Answers")
	d.page.Await(t, fmt.Sprintf(`document.querySelector("main .card")?.innerText.includes("%s answer")`,
		number(cell.N)))
}

// listsMovers compares what is said of prompts that moved with their verdicts.
func (d *dashboard) listsMovers(t *testing.T) {
	for name, list := range map[string][2]string{"Lost": {"asc", "moved_down"}, "Won": {"desc", "moved_up"}} {
		var body struct {
			Prompts []struct {
				ID     string `json:"prompt_id"`
				Change struct{ Verdict string }
			}
		}
		const question = "prompt-performance?sort_by=change&limit=5&metric=mention_rate"
		d.ask(t, question+"&order="+list[0]+"&brand_id="+d.brand, &body)
		var want, shown []string
		for _, p := range body.Prompts {
			if p.Change.Verdict == list[1] {
				want = append(want, p.ID)
			}
		}
		const keys = `[...document.querySelectorAll('ol[aria-label=%q] li')].map((li) => li.dataset.key)`
		d.page.Eval(t, fmt.Sprintf(keys, name), &shown)
		if strings.Join(shown, " ") != strings.Join(want, " ") {
			t.Errorf("%s shows %q, want %q", name, shown, want)
		}
	}
	finding := d.text(t, `document.querySelector("main .card h2").textContent`)
	if strings.HasPrefix(finding, "No prompt") == strings.Contains(finding, "→") {
		t.Errorf("the finding is %q", finding)
	}
}

// opensPrompt opens the panel of a prompt, which has the API's figures, and closes it.
func (d *dashboard) opensPrompt(t *testing.T, row matrixRow) {
	link := fmt.Sprintf(`figure[aria-label="Prompts by platform"] a[href*="prompt=%s"]`, row.ID)
	d.page.Eval(t, `void ((a) => { a.focus(); a.click() })(document.querySelector('`+link+`'))`, nil)
	d.page.Await(t, fmt.Sprintf(`document.querySelector("section.prompt-panel h2")?.textContent == %q`, row.Text))
	of := "prompt_id=" + row.ID + "&brand_id=" + d.brand
	var trend struct {
		Groups []struct {
			Key     string
			Buckets []struct {
				Date     string
				Count    float64   `json:"result_count"`
				Rate     float64   `json:"mention_rate_pct"`
				Interval *interval `json:"mention_rate_interval"`
			}
		}
	}
	d.ask(t, "visibility-trend?group_by=platform&granularity=week&"+of, &trend)
	var marks []mark
	for _, g := range trend.Groups {
		for _, b := range g.Buckets {
			marks = append(marks, namedShare{N: b.Count, Rate: b.Rate, Interval: b.Interval}.mark(g.Key, b.Date))
		}
	}
	d.showsMarks(t, "Rate by platform", "%", marks)
	var comparison comparisonFigures
	d.ask(t, "competitor-comparison?"+of, &comparison)
	marks = nil
	for _, entity := range comparison.rows() {
		if entity.Gap == nil || entity.Named > 0 {
			marks = append(marks, entity.mark("this window", *entity.Rate, entity.Interval))
		}
	}
	d.showsMarks(t, "Who is named", "%", marks)
	d.page.Eval(t, `void document.querySelector("section.prompt-panel").focus()`, nil)
	d.page.Press(t, "Escape")
	d.page.Await(t, `!document.querySelector("section.prompt-panel") && location.search == ""`)
	d.page.Await(t, `document.activeElement == document.querySelector('`+link+`')`)
}
