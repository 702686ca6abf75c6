package metrics

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/answerscope/answerscope/pipeline/notify"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/sql/postgres"
)

// body asks an endpoint about days of Lumen.
func body[B any](t *testing.T, s *stage, endpoint string, days feed.Days, parameters string) (b B) {
	t.Helper()
	status, text := s.get(t, "acme", "/api/v1/"+endpoint+"?brand_id="+s.ids["lumen"]+"&date_from="+days.From+
		"&date_to="+days.To+parameters)
	if err := json.Unmarshal([]byte(text), &b); status != http.StatusOK || err != nil {
		t.Fatal(status, text, err)
	}
	return b
}

func figureOf(n int64, rate *float64, bounds *interval) feed.Figure {
	f := feed.Figure{Rate: rate, N: n}
	if bounds != nil {
		f.Low, f.High = bounds.Low, bounds.High
	}
	return f
}

// figuresOf are the rates of all answers and of each group, by its key.
func figuresOf(b summaryBody) map[string]feed.Figure {
	figures := map[string]feed.Figure{"": figureOf(b.Totals.ResultCount, b.Totals.MentionRatePct, b.Totals.MentionRate)}
	for _, g := range b.Groups {
		figures[g.Key] = figureOf(g.Totals.ResultCount, g.Totals.MentionRatePct, g.Totals.MentionRate)
	}
	return figures
}

// The figures of the weekly report are those that /api/v1 answers for its days: gemini lost its mentions in the week,
// openai was out for a day, Beam rose, and one topic has too little data.
func TestTheWeeklyReportHasTheFiguresOfTheAPI(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addRivals(t, []string{"Dusk", "Beam", "Mute"})
	var facts []answerFact
	for day := 1; day <= 70; day++ {
		for i := range 14 {
			f := answerFact{
				On: dayText(today.AddDate(0, 0, -day)), Prompt: promptTexts[i/2%len(promptTexts)],
				Platform: []string{"openai", "gemini"}[i%2], Text: "-",
			}
			f.Topic = []string{"lamps", "desks", "rare"}[min(i/6, 1+day/68)]
			if (day*7+i*3)%5 < 3 && (i%2 == 0 || day > 9) {
				f.Text = "Lumen"
			}
			if (day*3+i)%7 < 2 {
				f.Text += " Dusk"
			}
			if (day*3+i)%4 == 0 || day < 10 {
				f.Text += " Beam"
			}
			f.Cites = []string{"https://old.example/"}
			if day < 9 && i < day {
				f.Cites = append(f.Cites, "https://new.example/"+f.Prompt, "https://new.example/")
			}
			if day == 5 && i%2 == 0 && i < 10 {
				f = answerFact{On: f.On, Prompt: f.Prompt, Topic: f.Topic, Platform: f.Platform, GivenUp: "timeout"}
			}
			facts = append(facts, f)
		}
	}
	s.addFacts(t, append(facts,
		answerFact{On: "2026-03-27", Topic: "lamps", Platform: "gemini", NotShown: true, Times: 3})...)
	s.land(t, s.visitSink(t, 10), s.visits(t, visitFact{On: "2026-03-24", Times: 3}, visitFact{On: "2026-03-17"}))
	brand, err := s.db.Brand(t.Context(), s.id("acme"), s.id("lumen"))
	if err != nil {
		t.Fatal(err)
	}
	monday := time.Date(2026, 3, 23, 0, 0, 0, 0, time.UTC)
	r, err := notify.NewReporter(s.db, s.warehouse, func() time.Time {
		return today
	}, slog.New(slog.DiscardHandler)).Report(t.Context(), brand, monday)
	if err != nil {
		t.Fatal(err)
	}
	if r.Week != "2026-W13" || r.Window != (feed.Days{From: "2026-03-23", To: "2026-03-29"}) ||
		r.Before != (feed.Days{From: "2026-02-23", To: "2026-03-22"}) {
		t.Fatalf("%+v", r)
	}

	const judged = "&metric=mention_rate&group_by=platform,topic,competitor"
	changes := body[Changes](t, s, "visibility-changes", r.Window, judged)
	compared := body[comparisonBody](t, s, "competitor-comparison", r.Window, "")
	before := body[comparisonBody](t, s, "competitor-comparison", r.Before, "")
	sides := map[string][2]map[string]feed.Figure{"competitor": {{}, {}}}
	for i, b := range []comparisonBody{compared, before} {
		for _, c := range b.Competitors {
			sides["competitor"][i][c.ID] = figureOf(c.ResultCount, c.MentionRatePct, c.MentionRate)
		}
	}
	var overviews []feed.Overview
	for _, g := range body[summaryBody](t, s, "visibility-summary", r.Window, "&group_by=platform").Groups {
		if n := g.Totals.NotShown; n > 0 {
			overviews = append(overviews,
				feed.Overview{Platform: g.Key, Shown: g.Totals.ResultCount, Captures: g.Totals.ResultCount + n,
					Low: g.Totals.ShownRate.Low, High: g.Totals.ShownRate.High})
		}
	}
	if !reflect.DeepEqual(r.Overviews, overviews) || len(overviews) != 1 || overviews[0].Low == nil {
		t.Errorf("overviews %+v, the API has %+v", r.Overviews, overviews)
	}
	for _, by := range []string{"platform", "topic"} {
		sides[by] = [2]map[string]feed.Figure{figuresOf(
			body[summaryBody](t, s, "visibility-summary", r.Window, "&group_by="+by)),
			figuresOf(body[summaryBody](t, s, "visibility-summary", r.Before, "&group_by="+by))}
	}
	same := func(name string, got feed.Judged, by, key string, change Change) {
		t.Helper()
		want := feed.Judged{Figure: sides[by][0][key], From: sides[by][1][key], Verdict: change.Verdict}
		if change.Reach != nil {
			want.Reach = *change.Reach
		}
		if change.Reason != nil {
			want.Reason = *change.Reason
		}
		if change.Since != nil {
			want.Since = change.Since.Day
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the report has %+v, the API %+v", name, got, want)
		}
	}
	same("all", r.Overall, "platform", "", changes.Change)
	if r.Answers != sides["platform"][0][""].N || len(r.Platforms) != 2 {
		t.Errorf("%d answers on %d platforms", r.Answers, len(r.Platforms))
	}
	var moves []string
	for _, c := range changes.Changes {
		rows := slices.Concat(r.Platforms, r.Moves, r.NotCompared)
		for _, row := range rows {
			if row.Key == c.Key {
				same(row.Name, row.Judged, row.Dimension, row.Key, c.Change)
			}
		}
		at := slices.IndexFunc(rows, func(row feed.Row) bool { return row.Key == c.Key })
		if c.Verdict != "within_noise" && (at < 0 || rows[at].Name != *c.Name) {
			t.Errorf("%s %s is not in the report", c.Verdict, *c.Name)
		}
		if c.Since != nil && c.Unadjusted == nil {
			moves = append(moves, c.Key)
		}
	}
	keys := []string{}
	for _, row := range r.Moves {
		keys = append(keys, row.Key)
	}
	if !slices.Equal(keys, moves) || len(moves) == 0 {
		t.Errorf("moves %q, the API has %q", keys, moves)
	}
	if len(r.NotCompared) == 0 {
		t.Error("all can be compared")
	}

	named := slices.DeleteFunc(compared.Competitors, func(c competitorRow) bool { return c.TotalMentions == 0 })
	slices.SortStableFunc(named, func(a, b competitorRow) int {
		return cmp.Compare(*b.MentionRatePct, *a.MentionRatePct)
	})
	for i, c := range named {
		if i >= len(r.Competitors) || r.Competitors[i].Name != c.Name ||
			!reflect.DeepEqual(r.Competitors[i].Figure, sides["competitor"][0][c.ID]) {
			t.Errorf("competitors %+v, the API has %+v", r.Competitors, named)
		}
	}
	cited := body[citationsBody](t, s, "citations", r.Window, "").TopDomains
	at := slices.IndexFunc(cited, func(d citedDomain) bool { return d.Domain == "new.example" })
	if !slices.Equal(r.NewSources, []feed.Source{{Domain: "new.example", Answers: cited[at].ResultsCiting}}) {
		t.Errorf("new sources %+v, the API has %+v", r.NewSources, cited)
	}
	var degraded []feed.Outage
	for _, b := range body[trendBody](t, s, "visibility-trend", r.Window, "").Buckets {
		for _, platform := range b.DegradedPlatforms {
			degraded = append(degraded, feed.Outage{Platform: platform, Days: []string{b.Date}})
		}
	}
	if !reflect.DeepEqual(r.Failures.Degraded, degraded) || len(degraded) != 1 {
		t.Errorf("degraded %+v, the API has %+v", r.Failures.Degraded, degraded)
	}
	if visits := body[trafficBody](t, s, "ai-traffic", r.Window, "").
		TotalVisits; *r.Visits != (feed.Visits{Visits: visits, Before: 1}) || visits != 3 {
		t.Errorf("visits %+v, the API has %d", r.Visits, visits)
	}
	if text, err := json.Marshal(r); err != nil || len(text) > 15_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}

	// Without answers the report says so, and lists nothing.
	empty, err := notify.NewReporter(s.db, s.warehouse, time.Now, slog.New(slog.DiscardHandler)).Report(t.Context(),
		postgres.Brand{ID: brand.ID, OrganizationID: brand.OrganizationID}, monday.AddDate(-1, 0, 0))
	if err != nil || empty.Answers != 0 || empty.Visits != nil ||
		len(empty.Moves)+len(empty.Platforms)+len(empty.NotCompared) > 0 {
		t.Errorf("%+v, %v", empty, err)
	}
}
