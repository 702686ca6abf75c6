package dashboard

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/system/run"
)

// A file of a table of /api/v1 is what the API gives, all pages of it; that of another table has its columns, and a
// line for each row.
func (d *dashboard) downloadsCSV(t *testing.T) {
	const shown = "" // the columns of such a table are those shown
	today := time.Now().UTC()
	// three pages of answers
	days := "date_from=" + today.AddDate(0, 0, -4).Format(time.DateOnly) + "&date_to=" + today.Format(time.DateOnly)
	for path, files := range map[string]map[string]string{
		"/": {"Brands": "brands-overview?table=brands"},
		"/brands/fernwood": {"Visibility trend": "visibility-trend?table=buckets",
			"Platforms":         "visibility-summary?group_by=platform&table=groups",
			"Beside the leader": "competitor-comparison?table=competitors",
			"What moved": "visibility-changes?group_by=platform,topic,prompt,competitor&metric=mention_rate" +
				"&table=changes"},
		"/brands/fernwood/competitors": {"Visibility": "competitor-comparison?table=competitors",
			"Ranking":                   "competitor-comparison?table=competitors",
			"Visibility rate over time": "entity-trend?table=entities.buckets",
			"Share of voice":            "entity-trend?granularity=week&table=entities.buckets",
			"By platform":               "competitor-comparison?group_by=platform&table=groups.competitors",
			"Sentiment":                 "sentiment?table=competitors"},
		"/brands/fernwood/prompts": {"Prompts by platform": "prompt-matrix?limit=200&table=rows.cells",
			"Performance": "prompt-performance?sort_by=rate&compare=previous&metric=mention_rate&limit=100"},
		"/brands/fernwood/prompts?show=tracked": {"Tracked prompts": "text,is_active,created_at,topic"},
		"/brands/fernwood/answers?" + days:      {"Answers": "answers?limit=200&" + days},
		"/brands/fernwood/sources": {
			"Source types":                 "citations?granularity=week&table=buckets",
			"Domains and brands":           "source-matrix?limit=100&table=domains.entities",
			"Where the brand is not named": "citations?mentioned=false&limit=200&table=top_domains",
			"Domains":                      "citations?limit=200&table=top_domains",
			"Pages":                        "citations?limit=200&table=top_urls",
		},
		"/brands/fernwood/searches": { // simulated searches drop no word of their prompt
			"Searches": "fanout?limit=200&table=queries", "Added words": "fanout?limit=200&table=words.added",
			"Platforms": "fanout?limit=200&table=by_platform",
		},
		"/brands/fernwood/traffic": {"Pages": "ai-pages?limit=200", "Platforms": "ai-traffic?table=platform_breakdown",
			"Goals":     "ai-traffic?table=goals",
			"Countries": "ai-traffic?table=country_breakdown", "AI crawlers": "ai-crawlers?table=crawler_breakdown",
			"Visits per day":      "ai-traffic?granularity=day&table=buckets",
			"AI crawlers per day": "ai-crawlers?granularity=day&table=buckets"},
		"/brands/fernwood/shopping": {
			"Shopping cards": "shopping-cards?limit=200&" + d.window(t),
			"Product lists":  "shopping-summary?table=brands&" + d.window(t),
			"Prices":         "shopping-summary?table=brands.prices&" + d.window(t),
		},
		"/brands/fernwood/alerts":   {"Alerts": shown, "Before you switch it on": "alert-preview?table=moves"},
		"/brands/fernwood/settings": {"Competitors": "name,aliases,domains", "Share links": shown},
		"/settings":                 {"API Keys": shown},
		"/settings?tab=members":     {"Members": shown},
		"/settings?tab=audit":       {"Audit log": "at,action,subject,actor_id,detail"},
		"/settings?tab=providers":   {"Providers": shown},
		"/settings?tab=budgets":     {"Budgets": shown},
	} {
		d.page.Visit(t, d.URL+path)
		d.page.Await(t, fmt.Sprintf(`document.querySelectorAll('[aria-label^="Download CSV"]').length == %d && `+
			`!document.querySelector(".skeleton, .stale")`, len(files)))
		d.saves(t, files)
	}
}

// saves saves every table of a screen.
func (d *dashboard) saves(t *testing.T, files map[string]string) {
	t.Helper()
	for name, of := range files {
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

// saved clicks a button that saves a file, and returns the file's type and text.
func (d *dashboard) saved(t *testing.T, button string) string {
	t.Helper()
	d.page.Eval(t, `void ((click) => {
		window.saved = ""
		URL.createObjectURL = (blob) => { blob.text().then((text) => window.saved = blob.type + ": " + text);
			return "#" }
		HTMLAnchorElement.prototype.click = () => HTMLAnchorElement.prototype.click = click
	})(HTMLAnchorElement.prototype.click)`, nil)
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
