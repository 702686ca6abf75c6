package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A citedDomain is a domain of the API's lists.
type citedDomain struct {
	Domain string
	Usage  *float64 `json:"usage_pct"`
	Citing float64  `json:"results_citing"`
}

// Each picture of the screen has the API's figures.
func (d *dashboard) showsSources(t *testing.T) {
	window := d.window(t)
	d.at(t, "/brands/fernwood/sources?"+window, "Sources")
	d.showsSourceTypes(t, window)
	d.showsWhomDomainsName(t, window)
	d.showsWhereItIsNotNamed(t, window)
	d.showsPages(t, window)
}

func (d *dashboard) showsSourceTypes(t *testing.T, window string) {
	var body struct {
		Buckets []struct {
			Date, Category string
			Citations      float64
			Share          float64 `json:"citations_pct"`
			Answers        float64 `json:"citing_answers"`
		}
	}
	d.ask(t, "citations?granularity=week&"+window+"&brand_id="+d.brand, &body)
	var counts, shares []mark
	for _, b := range body.Buckets {
		counts = append(counts, mark{Key: b.Category, X: b.Date, Value: b.Citations, N: &b.Answers})
		shares = append(shares, mark{Key: b.Category, X: b.Date, Value: b.Share, N: &b.Answers})
	}
	d.showsMarks(t, "Source types", "", counts)
	d.click(t, "Share")
	d.page.Await(t, `location.search.includes("as=share")`)
	d.showsMarks(t, "Source types", "%", shares)
}

// showsWhomDomainsName compares the cells of the matrix, and which of them are outlined. A cell leads to its answers.
func (d *dashboard) showsWhomDomainsName(t *testing.T, window string) {
	var body struct {
		Domains []struct {
			Domain   string
			Answers  float64
			Entities []struct {
				ID, Name, Role string
				Named          int
				Rate           float64                       `json:"mention_rate_pct"`
				Interval       *struct{ Low, High *float64 } `json:"mention_rate_interval"`
				Gap            *struct{ Verdict string }
			}
		}
	}
	d.ask(t, "source-matrix?"+window+"&brand_id="+d.brand, &body)
	d.page.Await(t, `document.querySelector('figure[aria-label="Domains and brands"] [data-key]')`)
	var drawn []drawnMark
	d.page.Eval(t, fmt.Sprintf(drawnMarks, "Domains and brands"), &drawn)
	var outlined []string
	d.page.Eval(t, `[...document.querySelectorAll('figure[aria-label="Domains and brands"] .certain `+
		`[data-key]')].map((m) => m.dataset.key + " " + m.dataset.x)`, &outlined)
	cells, certain := 0, 0
	for _, domain := range body.Domains {
		for _, e := range domain.Entities[:min(9, len(domain.Entities))] {
			w := mark{
				Key: domain.Domain, X: e.Name, Value: e.Rate, N: &domain.Answers, Low: e.Interval.Low,
				High: e.Interval.High,
			}
			i := slices.IndexFunc(drawn, func(m drawnMark) bool { return m.Key == w.Key && m.X == w.X })
			if i < 0 || drawn[i].mark.String() != w.String() {
				t.Errorf("no cell is %s", w)
			}
			if e.Gap != nil && (e.Gap.Verdict == "ahead" || e.Gap.Verdict == "behind") {
				if certain++; !slices.Contains(outlined, w.Key+" "+w.X) {
					t.Errorf("%s is %s, but not outlined", w, e.Gap.Verdict)
				}
			}
			cells++
		}
	}
	if cells != len(drawn) || certain != len(outlined) {
		t.Errorf("%d cells, %d outlined, want %d and %d", len(drawn), len(outlined), cells, certain)
	}
	first := body.Domains[0]
	rival := first.Entities[1]
	d.page.Eval(t, fmt.Sprintf(`void document.querySelector('[data-key=%q][data-x=%q]').click()`, first.Domain,
		rival.Name), nil)
	d.settled(t, "Answers")
	text := `document.querySelector("main .card")?.innerText`
	d.page.Await(t, fmt.Sprintf(`%s.includes("%s answer")`, text, number(float64(rival.Named))))
}

func (d *dashboard) showsWhereItIsNotNamed(t *testing.T, window string) {
	var without, with struct {
		Domains []citedDomain `json:"top_domains"`
	}
	d.ask(t, "citations?mentioned=false&limit=200&"+window+"&brand_id="+d.brand, &without)
	d.ask(t, "citations?mentioned=true&limit=200&"+window+"&brand_id="+d.brand, &with)
	var marks []mark
	for _, domain := range without.Domains[:min(12, len(without.Domains))] {
		marks = append(marks, mark{
			Key: domain.Domain, X: "without the brand", Value: *domain.Usage, N: &domain.Citing, Row: domain.Domain,
		})
		for _, other := range with.Domains {
			if other.Domain == domain.Domain {
				marks = append(marks, mark{
					Key: domain.Domain, X: "with the brand", Value: *other.Usage, N: &other.Citing, Row: domain.Domain,
				})
			}
		}
	}
	d.at(t, "/brands/fernwood/sources?"+window, "Sources")
	d.page.Await(t, `document.querySelector('[data-x="with the brand"]')`)
	d.showsMarks(t, "Where the brand is not named", "%", marks)
}

// showsPages compares the pages, of each domain at most five, with those of the API, cited and consulted.
func (d *dashboard) showsPages(t *testing.T, window string) {
	for _, cited := range []string{"true", "false"} {
		var body struct {
			Domains []citedDomain                  `json:"top_domains"`
			URLs    []struct{ URL, Domain string } `json:"top_urls"`
		}
		d.ask(t, "citations?limit=200&cited="+cited+"&"+window+"&brand_id="+d.brand, &body)
		var want []string
		for _, domain := range body.Domains[:min(5, len(body.Domains))] {
			n := 0
			for _, page := range body.URLs {
				if page.Domain == domain.Domain && n < 5 {
					want = append(want, page.URL)
					n++
				}
			}
		}
		d.at(t, "/brands/fernwood/sources?"+window+"&cited="+cited, "Sources")
		if len(want) == 0 {
			continue // platforms of the demo that consult without citing are few
		}
		d.page.Await(t, `document.querySelector('table[aria-label="Pages"]')`)
		shown := d.text(t, `[...document.querySelectorAll('table[aria-label="Pages"] tbody tr:not(.group) `+
			`th')].map((th) => th.textContent.trim()).join()`)
		if shown != strings.Join(want, ",") {
			t.Errorf("cited=%s: pages %s, want %s", cited, shown, want)
		}
	}
}
