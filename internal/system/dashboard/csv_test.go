package dashboard

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
)

// saves saves every table of a screen. The file of a table of /api/v1 is what the API gives, all pages of it; that of
// another table has its columns, and a line for each row. In `make test` most tables of /api/v1 only ask: what they get
// is the API's own text.
func (d *dashboard) saves(t *testing.T, files map[string]string) {
	t.Helper()
	for name, of := range files {
		if question, _, ok := strings.Cut(of, "?"); ok && !testkit.All && question != "answers" {
			d.asksForFile(t, name, of)
			continue
		}
		text, isCSV := strings.CutPrefix(d.saved(t, "Download CSV: "+name), "text/csv;charset=utf-8: ")
		if strings.Contains(of, "?") {
			if want := d.csv(t, of); text != want || !isCSV {
				t.Errorf("%s: %d bytes saved, want %d:\n%.300s\nwant\n%.300s", name, len(text), len(want), text, want)
			}
			continue
		}
		var shown [][]string
		d.page.Eval(t, fmt.Sprintf(`[...document.querySelector('table[aria-label=%q]').rows].map((tr) => `+
			`[...tr.cells].map((c) => c.textContent))`, name), &shown)
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		columns := strings.Split(of, ",")
		if of == "" {
			columns = slices.DeleteFunc(shown[0], func(header string) bool { return header == "Change" })
		}
		if err != nil || !isCSV || !slices.Equal(rows[0], columns) || len(rows) != len(shown) ||
			strings.Count(text, "\r\n") != len(rows) {
			t.Errorf("%s: of %d rows are saved %d, %v: %.300q", name, len(shown), len(rows), err, text)
		}
		for i := 1; i < len(rows) && of != "" && rows[0][0] != "at" && rows[0][0] != "created_at"; i++ {
			if rows[i][0] != shown[i][0] {
				t.Errorf("%s: row %d is of %q, want %q", name, i, rows[i][0], shown[i][0])
			}
		}
	}
}

// asksForFile compares what a table's button asks for with a question of /api/v1.
func (d *dashboard) asksForFile(t *testing.T, table, question string) {
	t.Helper()
	d.page.Eval(t, `void ((ask) => {
		window.asked = ""
		window.fetch = (url, options) => {
			window.fetch = ask
			window.asked = options.headers.Accept + " " + url
			return new Promise(() => {})
		}
	})(fetch)`, nil)
	d.click(t, "Download CSV: "+table)
	d.page.Await(t, "asked")
	if !strings.HasPrefix(question, "brands-overview") {
		question += "&brand_id=" + d.brand
	}
	want, err := url.Parse("/app/api/v1/" + question)
	if err != nil {
		t.Fatal(err)
	}
	asked := d.text(t, "asked")
	got, err := url.Parse(strings.TrimPrefix(asked, "text/csv "))
	if err != nil || !strings.HasPrefix(asked, "text/csv ") || got.Path != want.Path ||
		!reflect.DeepEqual(got.Query(), want.Query()) {
		t.Errorf("the file of %s is asked for by %q, want %s", table, asked, want)
	}
}

// saved clicks a button that saves a file, and returns the file's type and text.
func (d *dashboard) saved(t *testing.T, button string) string {
	t.Helper()
	d.page.Eval(t, `void ((make, click) => {
		window.saved = ""
		URL.createObjectURL = (blob) => {
			blob.text().then((text) => window.saved = blob.type + ": " + text)
			URL.createObjectURL = make
			return "#"
		}
		HTMLAnchorElement.prototype.click = () => HTMLAnchorElement.prototype.click = click
	})(URL.createObjectURL, HTMLAnchorElement.prototype.click)`, nil)
	d.click(t, button)
	d.page.Await(t, "window.saved")
	return d.text(t, "window.saved")
}

// csv reads all pages of a list of the API.
func (d *dashboard) csv(t *testing.T, question string) (all string) {
	t.Helper()
	next := "/api/v1/" + question
	if !strings.HasPrefix(question, "brands-overview") {
		next += "&brand_id=" + d.brand
	}
	for next != "" {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+next, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"Authorization": {"Bearer " + d.key}, "Accept": {"text/csv"}}
		status, header, text := run.Exchange(t, request)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", next, status, text)
		}
		if all != "" {
			_, text, _ = strings.Cut(text, "\r\n")
		}
		all += text
		next, _, _ = strings.Cut(strings.TrimPrefix(header.Get("Link"), "<"), ">")
	}
	return all
}

// window is the one that the API, and the page, take without dates.
func (d *dashboard) window(t *testing.T) (dates string) {
	t.Helper()
	var summary struct {
		Window struct {
			From string `json:"date_from"`
			To   string `json:"date_to"`
		}
	}
	d.ask(t, "visibility-summary?brand_id="+d.brand, &summary)
	return "date_from=" + summary.Window.From + "&date_to=" + summary.Window.To
}

// Shopping cards are filtered by the platforms and the window that have them.
func (d *dashboard) filtersCards(t *testing.T) {
	var found struct{ Cards []struct{ Platform string } }
	d.ask(t, "shopping-cards?limit=200&"+d.window(t)+"&brand_id="+d.brand, &found)
	d.at(t, "/brands/fernwood/shopping", "Shopping")
	d.opensFilter(t)
	d.pick(t, "Platform", found.Cards[0].Platform)
	d.page.Await(t, fmt.Sprintf(`location.search == "?platform=%s"`, found.Cards[0].Platform))
	d.settled(t, "Shopping")
	if rows := d.text(t,
		`(document.querySelector('table[aria-label="Shopping cards"]')?.rows.length ?? 0) + ""`); rows == "0" {
		t.Error("no card is of the platform of one")
	}
	d.click(t, "Overview")
	d.page.Await(t, `location.search == ""`) // its answers are of other platforms
	d.settled(t, "Overview")
}
