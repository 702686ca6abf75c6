package dashboard

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
)

// A bucketBody is a day or a week of a trend.
type bucketBody struct {
	Date          string
	Rate          *float64  `json:"mention_rate_pct"`
	RateInterval  *interval `json:"mention_rate_interval"`
	Score         *float64  `json:"ai_visibility_score"`
	ScoreInterval *interval `json:"interval"`
	Voice         *float64  `json:"sov_pct"`
	Count         float64   `json:"result_count"`
	Answers       float64
}

type interval struct{ Low, High *float64 }

type entityBody struct {
	ID, Name string
	IsBrand  bool `json:"is_brand"`
	Buckets  []bucketBody
}

// marksOf returns the marks of buckets: those of days that have the figure.
func marksOf(key string, buckets []bucketBody, figure func(bucketBody) (*float64, *interval)) (marks []mark) {
	for _, b := range buckets {
		value, ends := figure(b)
		if value == nil {
			continue
		}
		count := b.Count + b.Answers // a body has one of them
		m := mark{Key: key, X: b.Date, Value: *value, N: &count}
		if ends != nil {
			m.Low, m.High = ends.Low, ends.High
		}
		marks = append(marks, m)
	}
	return marks
}

func rateOf(b bucketBody) (*float64, *interval) { return b.Rate, b.RateInterval }

func scoreOf(b bucketBody) (*float64, *interval) { return b.Score, b.ScoreInterval }

func voiceOf(b bucketBody) (*float64, *interval) { return b.Voice, nil }

// What the overview draws is what the API answers: the trend with the window before and the leader, by each metric, the
// small trends by platform, and the places beside the leader.
func (d *dashboard) drawsTheOverview(t *testing.T) {
	const days = 30
	today := time.Now().UTC()
	before := fmt.Sprintf("date_from=%s&date_to=%s", today.AddDate(0, 0, 1-2*days).Format(time.DateOnly),
		today.AddDate(0, 0, -days).Format(time.DateOnly))
	var now, earlier struct{ Entities []entityBody }
	d.ask(t, "entity-trend?brand_id="+d.brand, &now)
	d.ask(t, "entity-trend?"+before+"&brand_id="+d.brand, &earlier)
	leader := d.besideTheLeader(t)
	for metric, figure := range map[string]func(bucketBody) (*float64, *interval){
		"rate": rateOf, "score": scoreOf, "voice": voiceOf,
	} {
		d.at(t, "/brands/fernwood?metric="+metric, "Overview")
		d.page.Await(t,
			`document.querySelectorAll('figure[aria-label="Visibility trend"] [data-key="before"]').length > 0`)
		var want []mark
		for _, e := range now.Entities {
			if e.IsBrand || e.ID == leader {
				want = append(want, marksOf(e.ID, e.Buckets, figure)...)
			}
		}
		for _, m := range marksOf("before", earlier.Entities[0].Buckets, figure) {
			day, err := time.Parse(time.DateOnly, m.X)
			if err != nil {
				t.Fatal(err)
			}
			m.X = day.AddDate(0, 0, days).Format(time.DateOnly)
			want = append(want, m)
		}
		unit := "%"
		if metric == "score" {
			unit = ""
		}
		d.showsMarks(t, "Visibility trend", unit, want)
	}
	d.choosesCompetitors(t, leader)
	d.drawsPlatforms(t)
	d.saysHowItDoes(t)
}

// besideTheLeader compares the dots with the first places of the comparison, and returns who leads.
func (d *dashboard) besideTheLeader(t *testing.T) (leader string) {
	t.Helper()
	type place struct {
		ID           string `json:"competitor_id"`
		Name         string
		Rank         int
		Rate         float64  `json:"mention_rate_pct"`
		RateInterval interval `json:"mention_rate_interval"`
		Count        float64  `json:"result_count"`
	}
	var body struct {
		Brand       place
		Competitors []place
	}
	d.ask(t, "competitor-comparison?brand_id="+d.brand, &body)
	d.at(t, "/brands/fernwood", "Overview")
	var want []mark
	for _, p := range append(body.Competitors, body.Brand) {
		m := mark{Key: p.ID, X: p.Name, Value: p.Rate, Low: p.RateInterval.Low, High: p.RateInterval.High, N: &p.Count}
		switch {
		case p.ID == "":
			m.Key = d.brand
		case leader == "" || p.Rank == 1:
			leader = p.ID
		}
		if p.Rank <= 5 {
			want = append(want, m)
		}
	}
	d.showsMarks(t, "Beside the leader", "%", want)
	return leader
}

// choosesCompetitors turns a competitor's line off, in the address, too.
func (d *dashboard) choosesCompetitors(t *testing.T, leader string) {
	t.Helper()
	d.at(t, "/brands/fernwood", "Overview")
	lines := fmt.Sprintf(`document.querySelectorAll('figure[aria-label="Visibility trend"] [data-key=%q]').length`,
		leader)
	d.page.Await(t, lines+" > 20")
	d.page.Eval(t, `void document.querySelector('.legend [aria-pressed=true]').click()`, nil)
	d.page.Await(t, lines+` == 0 && location.search == "?rivals=none" && `+
		`document.querySelector(".legend [role=status]").textContent.endsWith(" hidden")`)
	d.page.Eval(t, `void history.back()`, nil)
	d.page.Await(t, lines+" > 20")
}

// drawsPlatforms compares the small trends with the API's groups.
func (d *dashboard) drawsPlatforms(t *testing.T) {
	t.Helper()
	var body struct {
		Groups []struct {
			Key     string
			Buckets []bucketBody
		}
	}
	d.ask(t, "visibility-trend?group_by=platform&brand_id="+d.brand, &body)
	var want []mark
	for _, g := range body.Groups {
		want = append(want, marksOf(g.Key, g.Buckets, rateOf)...)
	}
	d.showsMarks(t, "By platform", "%", want)
	for _, chart := range []string{"Visibility trend", "By platform", "Beside the leader"} {
		d.walksMarks(t, chart)
	}
}

// saysHowItDoes reads the headline, and looks whether a phone shows it with the whole picture at once.
func (d *dashboard) saysHowItDoes(t *testing.T) {
	t.Helper()
	var summary struct {
		Totals struct {
			Rate  float64 `json:"mentionRatePct"`
			Count float64 `json:"resultCount"`
		}
	}
	d.ask(t, "visibility-summary?brand_id="+d.brand, &summary)
	headline := d.text(t, `document.querySelector(".headline h2").textContent`)
	start := fmt.Sprintf("Named in %s%% of %s answers. ", number(summary.Totals.Rate), number(summary.Totals.Count))
	if !strings.HasPrefix(headline, start) ||
		!regexp.MustCompile(`\d(st|nd|rd|th)\x{a0}of\x{a0}6; \S.* leads with [\d.]+%\.$`).MatchString(headline) {
		t.Errorf("the headline is %q", headline)
	}
	if strays := d.text(t, `[...document.querySelectorAll(".whys a")].map((a) => a.pathname).filter((path) => `+
		`path != "/brands/fernwood/answers").join()`); strays != "" {
		t.Errorf("what moved leads to %s", strays)
	}
	d.page.Show(t, 375, 900, "light")
	d.page.Await(t, `document.querySelector('figure[aria-label="Visibility trend"] svg').clientWidth < 350`)
	if foot := d.text(t, `Math.round(document.querySelector('figure[aria-label="Visibility trend"] `+
		`svg').getBoundingClientRect().bottom + scrollY) + ""`); len(foot) > 3 || foot > "640" {
		t.Errorf("on a phone the picture ends at %s px", foot)
	}
	d.page.Show(t, 1280, 900, "light")
}

// A note is added to a day by n on its point, stands as a flag, and is removed from the list.
func (d *dashboard) keepsNotes(t *testing.T) {
	d.at(t, "/brands/fernwood", "Overview")
	const flags = `document.querySelector(".flag-list")?.textContent`
	d.page.Await(t, `document.querySelector('figure[aria-label="Visibility trend"] a[tabindex="0"]')`)
	d.page.Eval(t, `void document.querySelector('figure[aria-label="Visibility trend"] a[tabindex="0"]').focus()`, nil)
	d.page.Press(t, "Home")
	d.page.Eval(t,
		`void document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true }))`, nil)
	d.page.Await(t, `document.querySelector("dialog[open]")`)
	d.hasNoFindings(t, "Add a note", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	d.fill(t, "Note", hostile)
	d.page.Press(t, "Enter")
	d.page.Await(t, fmt.Sprintf(`!document.querySelector("dialog") && %s?.includes(%q)`, flags, hostile))
	d.isItself(t, "Overview")
	d.keepsFlagsInThePlot(t)
	d.click(t, "Remove note: "+hostile)
	d.loses(t, "annotations")
	d.click(t, "Remove note")
	d.page.Await(t, `document.querySelector("dialog [role=alert]")`)
	d.click(t, "Remove note")
	d.page.Await(t, fmt.Sprintf(`!%s?.includes(%q)`, flags, hostile))
}

// keepsFlagsInThePlot looks where flags stand in a long window, which the axis spans, by days and by weeks.
func (d *dashboard) keepsFlagsInThePlot(t *testing.T) {
	t.Helper()
	from := time.Now().UTC().AddDate(0, 0, -150).Format(time.DateOnly)
	for _, granularity := range []string{"week", "day"}[:testkit.Draws(1, 2)] {
		d.at(t, "/brands/fernwood?compare=none&granularity="+granularity+"&date_from="+from+
			"&date_to="+time.Now().UTC().Format(time.DateOnly), "Overview")
		d.page.Await(t, `document.querySelector('figure[aria-label="Visibility trend"] .letter')`)
		var places struct{ First, Flags, Marks []float64 }
		d.page.Eval(t, `((figure) => {
			const rows = Object.groupBy(figure.querySelectorAll("[data-at] circle"), (c) =>
				c.parentElement.dataset.at.split(",")[0])
			return {
				First: [rows[0][0].cx.baseVal.value / figure.clientWidth],
				Marks: rows[0].map((c) => c.cx.baseVal.value),
				Flags: [...figure.querySelectorAll(".letter")].map((l) => l.x.baseVal[0].value),
			}
		})(document.querySelector('figure[aria-label="Visibility trend"]'))`, &places)
		if places.First[0] < 0.2 {
			t.Errorf("by %s the first answers stand at %g of the window", granularity, places.First[0])
		}
		for _, x := range places.Flags {
			if !slices.ContainsFunc(places.Marks, func(m float64) bool { return math.Abs(x-m) < 1 }) {
				t.Errorf("by %s a flag stands at %g, where no answers are: %g", granularity, x, places.Marks)
			}
		}
	}
}
