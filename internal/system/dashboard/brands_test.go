package dashboard

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

type overviewRow struct {
	Name, Slug string
	Rate       *float64  `json:"mention_rate_pct"`
	Interval   *interval `json:"mention_rate_interval"`
	Count      float64   `json:"result_count"`
	Change     shownChange
	Leader     *struct {
		Name string
		Gap  struct{ Difference float64 }
	}
	Visits, Cost float64
	Late         bool
	Buckets      []bucketBody
}

type overviewList struct {
	Counts struct {
		Brands, Late int
		MovedDown    int `json:"moved_down"`
	}
	Brands []overviewRow
}

// Thirty brands are shown by one request, those that fell first, and sorted and filtered by the address.
func (d *dashboard) listsThirtyBrands(t *testing.T) {
	var before overviewList
	d.ask(t, "brands-overview", &before)
	send := func(method, filter, body string) {
		var status int
		d.page.Eval(t, fmt.Sprintf(`fetch("/app/api/rest/v1/brands%s", { method: %q, headers: { "X-Answerscope": `+
			`"1", "Content-Type": "application/json" }, body: %s }).then((r) => r.status)`, filter, method, body),
			&status)
		if status >= 300 {
			t.Fatalf("%s of brands: %d", method, status)
		}
	}
	var who struct{ OrganizationID string }
	d.ask(t, "whoami", &who)
	send("POST", "", fmt.Sprintf(`JSON.stringify(Array.from({ length: %d }, (_, i) => ({ organization_id: %q, name: `+
		`"Client " + i, slug: "client-" + i })))`, 30-len(before.Brands), who.OrganizationID))
	defer send("DELETE", "?slug=like.client-*", "undefined")
	var body overviewList
	// bodies are cached until an edit has reached the warehouse
	wait.For(t, "the list to have the brands", func() bool {
		d.ask(t, "brands-overview", &body)
		return len(body.Brands) == 30
	})
	if body.Counts.Brands != 30 || body.Brands[0].Change.Verdict != "moved_down" {
		t.Fatalf("the list is of %d brands, the first %+v", len(body.Brands), body.Brands[0])
	}
	d.loads(t, "/", "Brands")
	var requests []string
	d.page.Eval(t,
		`performance.getEntriesByType("resource").map((r) => r.name).filter((name) => name.includes("/app/api"))`,
		&requests)
	if len(requests) > 5 {
		t.Errorf("%d requests: %q", len(requests), requests)
	}
	d.listsBrands(t, body.Brands)
	if got, want := d.text(t, `document.querySelector(".headline h2").textContent`),
		fmt.Sprintf("%d of 30 brands moved down", body.Counts.MovedDown); !strings.HasPrefix(got, want) {
		t.Errorf("the headline is %q, want %q", got, want)
	}
	if got, want := d.saved(t, "Download CSV: Brands"),
		"text/csv;charset=utf-8: "+d.csv(t, "brands-overview?table=brands"); got != want {
		t.Errorf("saved are\n%.300s\nwant\n%.300s", got, want)
	}
	d.page.Eval(t, `void document.querySelector('table[aria-label="Brands"] tbody th a').focus()`, nil)
	for _, key := range []string{"ArrowDown", "ArrowDown", "ArrowUp"} {
		d.page.Press(t, key)
	}
	if at := d.text(t, `document.activeElement.textContent`); at != body.Brands[1].Name {
		t.Errorf("the arrows lead to %q, want %q", at, body.Brands[1].Name)
	}
	d.click(t, fmt.Sprintf("▼ Moved down %d", body.Counts.MovedDown))
	d.page.Await(t, fmt.Sprintf(`location.search == "?show=down" && `+
		`document.querySelectorAll('table[aria-label="Brands"] tbody tr').length == %d`, body.Counts.MovedDown))
	d.at(t, "/", "Brands")
	d.page.Eval(t, `void [...document.querySelectorAll("th button")].find((b) => `+
		`b.textContent.startsWith("Mention rate")).click()`, nil)
	d.page.Await(t, `location.search == "?sort_by=rate&order=desc"`)
	d.settled(t, "Brands")
	body = overviewList{} // else a row without an interval keeps that of the row before
	d.ask(t, "brands-overview?sort_by=rate", &body)
	d.listsBrands(t, body.Brands)
	d.hasNoFindings(t, "thirty brands", looks[1], looks[0])
	d.page.Show(t, 1280, 900, "light")
}

// A brandMark is a mark with the places of its value and the ends of its range on the axis.
type brandMark struct {
	mark
	Place, From, To *float64
}

// listsBrands compares the rows of the list with the API's body, and its marks with the places where they stand.
func (d *dashboard) listsBrands(t *testing.T, brands []overviewRow) {
	t.Helper()
	var rows [][]string
	d.page.Eval(t, `[...document.querySelectorAll('table[aria-label="Brands"] tbody tr')].map((tr) => `+
		`[...tr.cells].map((c) => c.textContent))`, &rows)
	var marks []brandMark
	d.page.Eval(t, `[...document.querySelectorAll('table[aria-label="Brands"] [data-key]')].map((e) => {
		const optional = (text) => text === undefined || text === null ? null : Number(text)
		const { key, x, value, low, high, n } = e.dataset
		const range = e.querySelector(".range")
		return { Key: key, X: x, Value: Number(value), Low: optional(low), High: optional(high), N: optional(n),
			Place: x == "rate" ? optional(e.querySelector("circle")?.getAttribute("cx")) : null,
			From: optional(range?.getAttribute("x1")), To: optional(range?.getAttribute("x2")) }
	})`, &marks)
	if len(rows) != len(brands) {
		t.Fatalf("%d rows of %d brands", len(rows), len(brands))
	}
	for i, b := range brands {
		want := []string{b.Name, "no answers", "", "", "none named", number(b.Visits), "", ""}
		if b.Rate != nil {
			want[1] = fmt.Sprintf("%.1f%%", *b.Rate)
		}
		if c := b.Change; c.Since != nil {
			want[2] = number(math.Abs(c.Since.Difference))
		} else if c.Difference != nil {
			want[2] = number(math.Abs(*c.Difference))
		}
		if b.Leader != nil {
			want[4] = b.Leader.Name
		}
		if b.Late {
			want[6] = "late"
		}
		for j, text := range want {
			if !strings.Contains(rows[i][j], text) {
				t.Errorf("row %d of %s has %q, want %q", i, b.Name, rows[i], want)
				break
			}
		}
		whole := bucketBody{Date: "rate", Rate: b.Rate, RateInterval: b.Interval, Count: b.Count}
		figures := append([]bucketBody{whole}, b.Buckets[max(0, len(b.Buckets)-1):]...)
		for _, w := range marksOf(b.Slug, figures, func(b bucketBody) (*float64, *interval) {
			return b.Rate, b.RateInterval
		}) {
			at := slices.IndexFunc(marks, func(m brandMark) bool { return m.Key == w.Key && m.X == w.X })
			if at < 0 {
				t.Errorf("no mark is %s", w)
				continue
			}
			m := marks[at]
			if m.Value != w.Value || !same(m.Low, w.Low) || !same(m.High, w.High) || !same(m.N, w.N) {
				t.Errorf("a mark is %s, want %s", m.mark, w)
			}
			for place, value := range map[*float64]*float64{m.Place: &w.Value, m.From: w.Low, m.To: w.High} {
				if place != nil && value != nil && math.Abs(*place-(1+*value*0.62)) > 0.5 {
					t.Errorf("%s stands at %g", w, *place)
				}
			}
		}
	}
}
