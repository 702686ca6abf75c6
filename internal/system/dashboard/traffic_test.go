package dashboard

import (
	"fmt"
	"strings"
	"testing"
)

// A trafficBody is what the Traffic screen draws of ai-traffic.
type trafficBody struct {
	Visits     float64 `json:"total_visits"`
	Buckets    []trafficBucketBody
	Comparison struct {
		Window struct {
			DateFrom string `json:"date_from"`
			DateTo   string `json:"date_to"`
		}
		Visits  struct{ Before, Difference float64 }
		Buckets []trafficBucketBody
	}
}

type trafficBucketBody struct {
	Date, Platform          string
	Visits, Sessions, Goals float64
}

// What the Traffic screen draws is what the API answers: counts by day and platform with the total of the days before,
// the steps of pages, and crawlers by purpose.
func (d *dashboard) drawsTheTraffic(t *testing.T) {
	var now trafficBody
	d.ask(t, "ai-traffic?granularity=day&compare=previous&brand_id="+d.brand, &now)
	for metric, figure := range map[string]struct {
		name  string
		count func(trafficBucketBody) float64
	}{
		"visits":   {"Visits per day", func(b trafficBucketBody) float64 { return b.Visits }},
		"sessions": {"Landings per day", func(b trafficBucketBody) float64 { return b.Sessions }},
		"goals":    {"Goals per day", func(b trafficBucketBody) float64 { return b.Goals }},
	} {
		count := figure.count
		d.at(t, "/brands/fernwood/traffic?metric="+metric, "Traffic")
		var want []mark
		sum := 0.0
		for _, b := range now.Buckets {
			if sum += count(b); count(b) > 0 {
				want = append(want, mark{Key: b.Platform, X: b.Date, Value: count(b)})
			}
		}
		if metric == "visits" && sum != now.Visits {
			t.Errorf("the bars add up to %g visits, want %g", sum, now.Visits)
		}
		d.showsMarks(t, figure.name, "", want)
	}
	sum := 0.0
	for _, b := range now.Comparison.Buckets {
		sum += b.Visits
	}
	if from, to := now.Comparison.Window.DateFrom, now.Comparison.Buckets[0].Date; from != to {
		t.Errorf("the days before begin on %s, their buckets on %s", from, to)
	}
	if sum != now.Comparison.Visits.Before || now.Visits-sum != now.Comparison.Visits.Difference {
		t.Errorf("before were %g visits, the comparison has %+v", sum, now.Comparison.Visits)
	}

	var pages struct {
		Total float64
		Steps map[string]float64
	}
	d.ask(t, "ai-pages?brand_id="+d.brand, &pages)
	d.at(t, "/brands/fernwood/traffic", "Traffic")
	var want []mark
	for key, name := range map[string]string{
		"crawled": "Crawled", "cited": "Cited", "visited": "Visited", "converted": "With a goal",
	} {
		want = append(want, mark{Key: key, X: name, Value: pages.Steps[key]})
	}
	d.showsSteps(t, want)

	var crawlers struct {
		Total   float64 `json:"total_requests"`
		Buckets []struct {
			Date, Purpose        string
			Requests, Unverified float64
		}
	}
	d.ask(t, "ai-crawlers?granularity=day&brand_id="+d.brand, &crawlers)
	sum = 0
	for _, b := range crawlers.Buckets {
		sum += b.Requests
	}
	var shown float64
	d.page.Eval(t, `[...document.querySelectorAll('figure[aria-label="AI crawlers per day"] `+
		`[data-key]')].reduce((sum, e) => sum + Number(e.dataset.value), 0)`, &shown)
	if shown != sum || sum != crawlers.Total {
		t.Errorf("the bars add up to %g requests, the days to %g, want %g", shown, sum, crawlers.Total)
	}
	if text := d.text(t,
		`document.querySelector('table[aria-label="Pages"]').innerText`); strings.Contains(text, "robots.txt") {
		t.Error("robots.txt is a page like others")
	}
}

// showsSteps compares the bars of the funnel, which is a table itself, with the API's steps.
func (d *dashboard) showsSteps(t *testing.T, want []mark) {
	t.Helper()
	var drawn []drawnMark
	d.page.Eval(t, fmt.Sprintf(drawnMarks, "Way of a page"), &drawn)
	if len(drawn) != len(want) {
		t.Fatalf("%d steps, want %d", len(drawn), len(want))
	}
	for _, w := range want {
		for _, m := range drawn {
			if m.Key == w.Key && (m.Value != w.Value || m.Inverted-m.Value > m.Half || m.Value-m.Inverted > m.Half) {
				t.Errorf("step %s, drawn as long as %g, want %s", m.mark, m.Inverted, w)
			}
		}
	}
}

// What the Tracking screen draws of money and runs is what the API answers.
func (d *dashboard) drawsTheSpending(t *testing.T) {
	d.at(t, "/brands/fernwood/tracking", "Tracking")
	d.saves(t, map[string]string{
		"Schedule": "platform,model,check_frequency,is_enabled,last_checked_at,next_check_at",
		"Jobs":     "created_at,status,completed,total,cost,currency,failed_reason,result",
	})
	var trend struct {
		Buckets, Unanswered []struct {
			Date     string
			Answers  float64 `json:"result_count"`
			NotShown float64 `json:"not_shown"`
			GivenUp  float64 `json:"given_up_runs"`
		}
	}
	from := d.text(t, `new Date(Date.now() - 89 * 86400000).toISOString().slice(0, 10)`)
	to := d.text(t, `new Date().toISOString().slice(0, 10)`)
	d.ask(t, fmt.Sprintf("visibility-trend?date_from=%s&date_to=%s&brand_id=%s", from, to, d.brand), &trend)
	var want []mark
	notShown := 0.0
	for _, b := range append(trend.Buckets, trend.Unanswered...) {
		notShown += b.NotShown
		for key, n := range map[string]float64{"answered": b.Answers, "not_shown": b.NotShown, "given_up": b.GivenUp} {
			if n > 0 {
				want = append(want, mark{Key: key, X: b.Date, Value: n})
			}
		}
	}
	if notShown == 0 {
		t.Error("no run of the demo was without an overview")
	}
	d.showsMarks(t, "Runs per day", "", want)
	var spending struct {
		Month    struct{ Cost float64 }
		Forecast struct {
			Runs int
			Cost *float64
		}
	}
	d.page.Eval(t, `fetch("/app/api/tracking/spending?brand_id=`+d.brand+`").then((r) => r.json())`, &spending)
	shown := d.text(t, `document.querySelector('figure[aria-label="Cost per day"]').closest("section").innerText`)
	if !strings.Contains(shown, fmt.Sprintf("%.2f USD this month", spending.Month.Cost)) &&
		!strings.Contains(shown, "< 0.01 USD this month") {
		t.Errorf("%.300q does not say that the month cost %g", shown, spending.Month.Cost)
	}
	if nothing := strings.Contains(shown, "nothing is scheduled"); nothing != (spending.Forecast.Runs == 0) {
		t.Errorf("%d runs are scheduled: %.300q", spending.Forecast.Runs, shown)
	}
}
