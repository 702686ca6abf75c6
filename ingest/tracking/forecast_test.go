package tracking_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Three prompts are asked daily on alpha, weekly on beta, never on a paused platform: in the 30 days after Sunday,
// 1 November 2026 there are 30 daily checks and 5 weekly ones (2, 9, 16, 23, 30), so 3 × 35 = 105 runs. The cost of a
// day is that of the estimate, and the sum that of the days. A brand that is off is not asked.
func TestAForecastIsTheScheduleTimesTheEstimate(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	for _, statement := range []string{
		"INSERT INTO public.brand_platforms (brand_id, platform, check_frequency) VALUES ($1, 'alpha', 'daily')",
		"INSERT INTO public.brand_platforms (brand_id, platform, check_frequency) VALUES ($1, 'beta', 'weekly')",
		"INSERT INTO public.brand_platforms (brand_id, platform, model, check_frequency, is_enabled) VALUES ($1, " +
			"'alpha', 'alpha-small', 'hourly', false)",
		"INSERT INTO public.brand_platforms (brand_id, platform, model, check_frequency) VALUES ($1, 'beta', " +
			"'other', 'manual')",
	} {
		if _, err := e.db.Exec(t.Context(), statement, e.brand.ID); err != nil {
			t.Fatal(err)
		}
	}
	jobs, _ := e.jobs(t)
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	f, err := jobs.Forecast(t.Context(), e.brand, now)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Days) != 35 || f.Runs != 105 || f.Days[0].Date != "2026-11-02" || f.Days[34].Date != "2026-12-01" ||
		len(f.Refused) > 0 {
		t.Fatalf("forecast %+v", f)
	}
	var costs []string
	for _, d := range f.Days {
		draft, err := jobs.Draft(t.Context(), e.brand, tracking.Request{},
			[]tracking.Target{{Platform: d.Platform, Slot: now}}, now)
		if err != nil {
			t.Fatal(err)
		}
		want := draft.Estimate()
		switch {
		case want.Cost == nil:
			if d.Cost != nil || f.Cost != nil {
				t.Errorf("%+v: cost of an unknown price", d)
			}
		case d.Cost == nil || *d.Cost != want.Cost.Amount || d.Runs != want.Runs:
			t.Errorf("%+v, estimate %+v", d, want)
		default:
			costs = append(costs, d.Cost.String())
		}
	}
	if len(costs) == 35 && *f.Cost != sumCosts(costs...) {
		t.Errorf("the forecast costs %s, its days %s", *f.Cost, sumCosts(costs...))
	}
	e.exec(t, "UPDATE public.brands SET is_active = false WHERE id = $1", e.brand.ID)
	off, err := jobs.Forecast(t.Context(), e.brand, now)
	due, dueErr := e.db.ScheduledPlatforms(t.Context(), &e.brand.OrganizationID, nil, false, now.AddDate(1, 0, 0))
	if err != nil || dueErr != nil || off.Runs != 0 || len(due) != 0 {
		t.Errorf("of a brand that is off %+v is expected and %+v due: %v, %v", off, due, err, dueErr)
	}
	if got := sumCosts("0.1", "0.2", "0"); got != json.Number("0.3") {
		t.Errorf("0.1 + 0.2 = %s", got)
	}
}

// What a brand's jobs cost is on the day on which they were started, the same as the job says; the progress by platform
// adds up to its runs.
func TestSpendingIsThatOfTheJobs(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(24)...)
	jobs, _ := e.run(t)
	id, err := jobs.Start(t.Context(), e.brand, tracking.Request{Platforms: []string{"alpha"}}, tracking.Caller{})
	if err != nil {
		t.Fatal(err)
	}
	j, _ := e.finished(t, id)
	today := j.CreatedAt.UTC()
	days, err := e.db.TrackingSpending(t.Context(), e.brand.OrganizationID, today, today, e.brand.ID)
	if err != nil || len(days) != 1 || days[0].Platform != "alpha" || days[0].Runs != 24 || days[0].GivenUp != 0 {
		t.Fatalf("%+v, %v", days, err)
	}
	for _, zone := range []string{"Pacific/Kiritimati", "Pacific/Pago_Pago"} { // 14 hours before UTC, 11 after
		cfg := postgres.DefaultConfig()
		cfg.DSN = e.DSN + "&timezone=" + zone
		if there, err := store.OpenControlPlane(t, cfg).TrackingSpending(
			t.Context(), e.brand.OrganizationID, today, today, e.brand.ID); err != nil || !slices.Equal(there, days) {
			t.Errorf("a session in %s sees %+v, %v; want %+v", zone, there, err, days)
		}
	}
	var cost string
	if err := e.db.QueryRow(t.Context(), "SELECT cost::text FROM public.tracking_jobs WHERE id = $1",
		id).Scan(&cost); err != nil {
		t.Fatal(err)
	}
	if sumCosts(days[0].Cost) != sumCosts(cost) {
		t.Errorf("the day cost %s, the job %s", days[0].Cost, cost)
	}
	progress, err := e.db.TrackingProgress(t.Context(), e.brand.OrganizationID, id, time.Now())
	if err != nil || len(progress) != 1 || progress[0].Answered != 24 || progress[0].Waiting != 0 ||
		progress[0].RatePerMinute == nil || *progress[0].MinutesLeft != 0 {
		t.Errorf("progress %+v, %v", progress, err)
	}
	stranger := e.addBrand(t, "Other")
	if days, err := e.db.TrackingSpending(t.Context(), stranger.OrganizationID, today, today,
		e.brand.ID); err != nil || len(days) > 0 {
		t.Errorf("another organization sees %+v, %v", days, err)
	}
	if rows, err := e.db.TrackingProgress(t.Context(), stranger.OrganizationID, id, time.Now()); err != nil ||
		len(rows) > 0 {
		t.Errorf("another organization sees %+v, %v", rows, err)
	}
}

func sumCosts(costs ...string) json.Number {
	var days []postgres.TrackingDay
	for _, cost := range costs {
		days = append(days, postgres.TrackingDay{Cost: cost})
	}
	return json.Number(postgres.TotalCost(days))
}
