package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A comparedBody is an entity of a comparison.
type comparedBody struct {
	ID         string
	Competitor string `json:"competitor_id"`
	Name       string
	Rate       *float64  `json:"mention_rate_pct"`
	Interval   *interval `json:"mention_rate_interval"`
	Count      float64   `json:"result_count"`
	Named      float64   `json:"appearance_count"`
	Position   *float64  `json:"avg_position"`
	Voice      *float64  `json:"sov_pct"`
	Rank       int
	Slot       *int
	Gap        *struct {
		Difference float64
		Interval   interval
		Verdict    string
	}
}

type comparisonFigures struct {
	Key         string
	Brand       comparedBody
	Competitors []comparedBody
}

// rows are the brand, then its competitors.
func (c comparisonFigures) rows() []comparedBody {
	return append([]comparedBody{c.Brand}, c.Competitors...)
}

// mark is how a figure of the entity is drawn.
func (c comparedBody) mark(x string, figure float64, ends *interval) mark {
	m := mark{Key: c.ID + c.Competitor, X: x, Value: figure, N: &c.Count, Row: c.Name}
	if ends != nil {
		m.Low, m.High = ends.Low, ends.High
	}
	return m
}

// Each picture of the screen has the API's figures, of which the table behind it has the same.
func (d *dashboard) comparesCompetitors(t *testing.T) {
	to, err := time.Parse(time.DateOnly, d.window(t)[len(d.window(t))-10:])
	if err != nil {
		t.Fatal(err)
	}
	window := func(from, to time.Time) string {
		return "date_from=" + from.Format(time.DateOnly) + "&date_to=" + to.Format(time.DateOnly)
	}
	week := window(to.AddDate(0, 0, -6), to)
	ask := func(question string, body any) { d.ask(t, question+"&brand_id="+d.brand, body) }
	var now, before comparisonFigures
	ask("competitor-comparison?"+week, &now)
	ask("competitor-comparison?"+window(to.AddDate(0, 0, -13), to.AddDate(0, 0, -7)), &before)
	d.at(t, "/brands/fernwood/competitors?"+week, "Competitors")
	var marks []mark
	for _, row := range now.rows() {
		marks = append(marks, row.mark("this window", *row.Rate, row.Interval))
	}
	for _, row := range before.rows() {
		marks = append(marks, row.mark("the 7 days before", *row.Rate, row.Interval))
	}
	d.page.Await(t, `document.querySelectorAll('figure[aria-label="Ranking"] [data-x="the 7 days before"]').length > 1`)
	d.showsMarks(t, "Ranking", "%", marks)
	d.saysWhoIsAhead(t, now)

	var trend struct{ Entities []entityBody }
	ask("entity-trend?"+week, &trend)
	const chart = `figure[aria-label="Mention rate over time"]`
	keys := `[...new Set([...document.querySelectorAll('` + chart + ` [data-key]')].map((m) => m.dataset.key))].join()`
	shown := d.text(t, keys)
	if lines := strings.Count(shown, ",") + 1; lines != min(4, len(trend.Entities)) ||
		!strings.Contains(shown, d.brand) {
		t.Errorf("%d lines are drawn of %d", lines, len(trend.Entities))
	}
	marks = nil
	for _, e := range trend.Entities {
		if strings.Contains(shown, e.ID) {
			marks = append(marks, marksOf(e.ID, e.Buckets, rateOf)...)
		}
	}
	d.showsMarks(t, "Mention rate over time", "%", marks)
	d.click(t, "Each")
	d.page.Await(t, fmt.Sprintf("document.querySelectorAll('%s h3').length == %d", chart, len(trend.Entities)))

	ask("entity-trend?granularity=week&"+week, &trend)
	marks = nil
	for _, e := range trend.Entities {
		marks = append(marks, marksOf(e.ID, e.Buckets, voiceOf)...)
	}
	d.showsMarks(t, "Share of voice", "%", marks)
	d.comparesPlaces(t, week)

	d.at(t, "/brands/fernwood/competitors?metric=position&compare=none&"+week, "Competitors")
	marks = nil
	for _, row := range now.rows() {
		row.Count = row.Named
		marks = append(marks, row.mark("this window", *row.Position, nil))
	}
	d.showsMarks(t, "Ranking", "", marks)

	d.at(t, "/brands/fernwood/sources", "Sources")
	d.page.Eval(t, `void ((ask) => {
		window.heal = () => window.fetch = ask
		const alone = async (response) => new Response(JSON.stringify({ ...(await response.json()), competitors: [] }))
		window.fetch = (url, options) => url.includes("/competitor-comparison") ? ask(url, options).then(alone) :
			ask(url, options)
	})(window.fetch)`, nil)
	d.click(t, "Competitors")
	d.page.Await(t, `document.querySelector('main a[href*="/brands/fernwood/settings"].button')?.textContent == `+
		`"Add a competitor"`)
	d.page.Eval(t, "void heal()", nil)
}

// saysWhoIsAhead compares the order of the rows, and their verdicts, with the API's.
func (d *dashboard) saysWhoIsAhead(t *testing.T, comparison comparisonFigures) {
	rows := comparison.rows()
	slices.SortStableFunc(rows, func(a, b comparedBody) int { return a.Rank - b.Rank })
	var shown [][]string
	d.page.Eval(t, `[...document.querySelectorAll('table[aria-label="Ranking"] tbody tr')].map((tr) => `+
		`[tr.cells[0].textContent, tr.cells[3].textContent, tr.querySelector("svg").getAttribute("class")])`, &shown)
	var ahead []string
	for i, row := range rows {
		slot, verdict := 0, fmt.Sprintf("of %d", len(rows))
		if row.Gap != nil {
			slot, verdict = *row.Slot, strings.ToUpper(row.Gap.Verdict[:1])+row.Gap.Verdict[1:]
			if row.Gap.Verdict == "behind" {
				ahead = append(ahead, row.Name)
			}
		}
		class := fmt.Sprintf("slot-%d", slot)
		if i >= len(shown) || shown[i][0] != row.Name || !strings.Contains(shown[i][1], verdict) ||
			shown[i][2] != class {
			t.Errorf("row %d is not %s, %s, %s: %q", i, row.Name, verdict, class, shown)
		}
	}
	figures := d.rowsBehind(t, "Visibility")
	for _, row := range rows {
		cells := figures[row.Name]
		if len(cells) < 6 || !strings.HasPrefix(cells[0], percent(*row.Rate)+" ") || cells[5] != percent(*row.Voice) {
			t.Errorf("%s has %q", row.Name, cells)
		}
	}
	finding := d.text(t, `document.querySelector("main section.card h2").textContent`)
	if len(ahead) > 0 != strings.HasPrefix(finding, "Ahead of you: ") || len(ahead) > 0 &&
		!strings.Contains(finding, ahead[0]) {
		t.Errorf("the finding is %q, ahead are %q", finding, ahead)
	}
}

// comparesPlaces compares the cells by platform, of each figure, with the API's; a cell leads to the answers that it
// counts.
func (d *dashboard) comparesPlaces(t *testing.T, window string) {
	var body struct{ Groups []comparisonFigures }
	d.ask(t, "competitor-comparison?group_by=platform&"+window+"&brand_id="+d.brand, &body)
	cells := func() (marks []mark) {
		d.page.Await(t, `document.querySelector('figure[aria-label="By platform"] [data-key]')`)
		var drawn []drawnMark
		d.page.Eval(t, fmt.Sprintf(drawnMarks, "By platform"), &drawn)
		for _, m := range drawn {
			marks = append(marks, m.mark)
		}
		return marks
	}
	for name, value := range map[string]func(comparedBody) (*float64, *interval){
		"Rate": func(c comparedBody) (*float64, *interval) { return c.Rate, c.Interval },
		"Gap to you": func(c comparedBody) (*float64, *interval) {
			if c.Gap == nil {
				return nil, nil
			}
			return &c.Gap.Difference, &c.Gap.Interval
		},
		"Share of voice": func(c comparedBody) (*float64, *interval) { return c.Voice, nil },
	} {
		d.click(t, name)
		d.page.Await(t, fmt.Sprintf(`[...document.querySelectorAll('nav[aria-label="Cells"] `+
			`[aria-current]')].some((a) => a.textContent == %q)`, name))
		var want []mark
		for _, group := range body.Groups {
			for _, row := range group.rows() {
				if figure, ends := value(row); figure != nil {
					want = append(want, row.mark(group.Key, *figure, ends))
				}
			}
		}
		drawn := cells()
		if len(drawn) != len(want) || len(want) == 0 {
			t.Fatalf("%s has %d cells, want %d", name, len(drawn), len(want))
		}
		for _, w := range want {
			same := func(m mark) bool {
				return m.Key == w.Key && m.X == w.X &&
					m.Value == w.Value && same(m.Low, w.Low) && same(m.High, w.High) &&
					*m.N == *w.N
			}
			if !slices.ContainsFunc(drawn, same) {
				t.Errorf("%s: no cell is %s", name, w)
			}
		}
	}
	group := body.Groups[0]
	rival := group.Competitors[0]
	d.page.Eval(t, fmt.Sprintf(`void document.querySelector('figure[aria-label="By platform"] [data-key=%q]').click()`,
		rival.Competitor), nil)
	d.settled(t, "Answers")
	want := d.total(t, window+"&platform="+group.Key+"&competitor_id="+rival.Competitor)
	d.page.Await(t, fmt.Sprintf(`document.querySelector("main .card")?.innerText.includes("%s answer")`,
		number(float64(want))))
}
