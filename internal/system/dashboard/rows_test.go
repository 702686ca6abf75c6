package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/platformname"
)

// A shownTable is a table of a screen, and the list of the API's body that it shows.
type shownTable struct {
	at, heading, name string
	body, list        string
	after             int            // rows that are not of the list
	cells             map[int]string // by column, fields of a row
	// the field that is the number of answers to which a row leads; "": it leads to one answer
	counts string
}

// Each row of a table is one of the API's, and leads to the answers that it counts.
func (d *dashboard) showsTheAPIsRows(t *testing.T) {
	for _, table := range []shownTable{
		{"", "Overview", "Platforms", "visibility-summary?group_by=platform", "groups", 0,
			map[int]string{0: "key", 1: "totals.mentionRatePct", 4: "totals.resultCount"}, "totals.resultCount"},
		{"", "Overview", "Visibility trend", "visibility-trend?", "buckets", 0,
			map[int]string{0: "date", 3: "result_count"}, ""},
		{"sources?mentioned=false", "Sources", "Domains", "citations?mentioned=false&limit=30", "top_domains", 0,
			map[int]string{0: "domain", 2: "total_citations", 3: "usage_pct"}, "results_citing"},
		{"traffic?step=visited", "Traffic", "Pages", "ai-pages?step=visited", "pages", 0,
			map[int]string{
				0: "page", 1: "crawls", 2: "citations", 3: "visits", 4: "sessions", 5: "goals",
			}, "citations"},
		{"shopping", "Shopping", "Shopping cards", "shopping-cards?", "cards", 0,
			map[int]string{0: "product_title", 2: "position"}, ""},
	} {
		t.Run(table.heading+" "+table.name, func(t *testing.T) { d.showsRows(t, table) })
	}
}

func (d *dashboard) showsRows(t *testing.T, table shownTable) {
	var body map[string]any
	d.ask(t, table.body+"&brand_id="+d.brand, &body)
	list, _ := body[table.list].([]any)
	d.at(t, "/brands/fernwood/"+table.at, table.heading)
	d.page.Await(t, fmt.Sprintf(`document.querySelector('table[aria-label=%q]')`, table.name))
	var rows [][]string
	d.page.Eval(t, fmt.Sprintf(`[...document.querySelectorAll('table[aria-label=%q] tbody `+
		`tr:not(.group)')].map((tr) => [...tr.cells].map((c) => c.textContent.trim()))`, table.name), &rows)
	if len(rows) != len(list)+table.after || len(list) == 0 {
		t.Fatalf("%d rows of %d", len(rows), len(list))
	}
	leads := -1
	for i, row := range list {
		shown := rows[i+table.after]
		for column, field := range table.cells {
			if want := asShown(row, field); shown[column] != want {
				t.Errorf("row %d has %q in column %d, want %s = %s", i, shown, column, field, want)
			}
		}
		if n, _ := at(row, table.counts).(float64); leads < 0 && n > 0 {
			leads = i
		}
	}
	if leads >= 0 {
		d.leadsTo(t, table.name, leads+table.after, int(at(list[leads], table.counts).(float64)))
	} else if table.counts != "" {
		t.Errorf("no row of %q counts answers", table.name)
	}
}

// leadsTo follows the link of a row to a list of so many answers.
func (d *dashboard) leadsTo(t *testing.T, table string, row, answers int) {
	t.Helper()
	d.page.Eval(t, fmt.Sprintf(
		`void [...document.querySelectorAll('table[aria-label=%q] tbody tr:not(.group) th a')][%d].click()`, table,
		row), nil)
	d.settled(t, "Answers")
	d.page.Await(t, `document.querySelector('table[aria-label="Answers"]')`)
	if text := d.text(t,
		`document.querySelector("main .card").innerText`); !strings.Contains(text, number(float64(answers))+" answer") {
		t.Errorf("row %d of %q leads to %.100q, want %d answers", row, table, text, answers)
	}
}

// total is how many answers the API finds.
func (d *dashboard) total(t *testing.T, filter string) int {
	t.Helper()
	var found struct{ Total int }
	d.ask(t, "answers?limit=1&"+filter+"&brand_id="+d.brand, &found)
	return found.Total
}

// at is a field of a row; dots lead into objects.
func at(row any, field string) any {
	for name := range strings.SplitSeq(field, ".") {
		of, _ := row.(map[string]any)
		row = of[name]
	}
	return row
}

// asShown is a field as the page writes it.
func asShown(row any, field string) string {
	switch value := at(row, field).(type) {
	case nil:
		return "–"
	case float64:
		if strings.HasSuffix(strings.ToLower(field), "pct") {
			return percent(value)
		}
		return number(value)
	default:
		text, _ := value.(string)
		if field == "key" {
			return platformname.Of(text)
		}
		return text
	}
}

// A question that failed says so where its figures would be, leads nowhere, and can be asked again.
func (d *dashboard) saysWhatFailed(t *testing.T) {
	d.at(t, "/brands/fernwood?date_from=foo", "Overview")
	d.page.Await(t, alert+`?.startsWith("Date from: want a day of the calendar")`)
	d.at(t, "/brands/fernwood/sources", "Sources")
	d.page.Eval(t, `void ((ask) => {
		window.heal = () => window.fetch = ask
		window.fetch = (url, options) => url.includes("/competitor-comparison") ?
			Promise.resolve(new Response("{}", { status: 503 })) : ask(url, options)
	})(window.fetch)`, nil)
	const links = `document.querySelectorAll('table[aria-label="Beside the leader"] tbody th a')`
	d.click(t, "Overview")
	d.page.Await(t, `document.querySelector("main [role=alert]")?.textContent.includes("Try again")`)
	d.settled(t, "Overview")
	if n := d.text(t, links+`.length + ""`); n != "0" {
		t.Errorf("%s competitors lead to answers, before they are known", n)
	}
	d.page.Eval(t, "void heal()", nil)
	d.click(t, "Try again")
	d.page.Await(t, `document.querySelector('figure[aria-label="Share of voice"]') && `+links+`.length > 0 && [...`+
		links+`].every((a) => a.search.includes("competitor_id=") || a.search.includes("mentioned=true"))`)
}
