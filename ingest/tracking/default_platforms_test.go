package tracking_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A brand without platforms is asked once a day where there is a key: on demand at once, else from an hour after its
// first prompt on. Every brand that is not asked is listed with the reason. It was never asked, without a word.
func TestABrandWithoutPlatformsIsAskedDaily(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, "which lamp?")
	now := time.Now()
	inactive, silent := e.addBrand(t, "Inactive", "which lamp?"), e.addBrand(t, "Silent")
	manual := e.addBrand(t, "Manual", "which lamp?")
	e.exec(t, "UPDATE public.brands SET is_active = false WHERE id = $1", inactive.ID)
	if err := e.db.AddBrandPlatform(t.Context(), manual.ID, "alpha", "", "manual"); err != nil {
		t.Fatal(err)
	}
	jobs, _ := e.jobs(t)
	schedule := tracking.NewSchedule(
		e.db, jobs, func() time.Time { return now }, prometheus.NewRegistry(), testkit.Log(t))
	notDue := map[uuid.UUID]string{
		inactive.ID: "the brand is inactive", silent.ID: "it has no active prompt",
		manual.ID: "its platforms are paused or manual",
	}
	expect := func(what string, runs int, reason string) {
		t.Helper()
		if notDue[e.brand.ID] = reason; reason == "" {
			delete(notDue, e.brand.ID)
		}
		report, err := schedule.StartAll(t.Context(), nil, nil)
		if err != nil || report.BrandsDue != len(report.Jobs) || len(report.Jobs) != 4-len(notDue) ||
			len(report.Skipped) != len(notDue) {
			t.Errorf("%s: %+v, %v", what, report, err)
		}
		for _, s := range report.Skipped {
			if s.Reason != notDue[s.BrandID] {
				t.Errorf("%s: %+v, want %q", what, s, notDue[s.BrandID])
			}
		}
		if n := e.countRuns(t); n != runs {
			t.Errorf("%s: %d runs, want %d", what, n, runs)
		}
	}
	tick := func(what string, runs int) {
		t.Helper()
		if err := schedule.Tick(t.Context()); err != nil || e.countRuns(t) != runs {
			t.Errorf("%s: %d runs, want %d, %v", what, e.countRuns(t), runs, err)
		}
	}
	tick("before an hour has passed", 0)
	first, err := e.db.ScheduledPlatforms(t.Context(), nil, nil, false, now.Add(time.Hour+time.Minute))
	if err != nil || len(first) != 1 || first[0].BrandID != e.brand.ID {
		t.Errorf("due after an hour: %+v, %v", first, err)
	}
	jobs.DefaultPlatforms = []string{tracking.NoDefault}
	expect("no default", 0, "it has no platforms, and no default one has a key")
	jobs.DefaultPlatforms = []string{tracking.WithKey} // gamma has none
	expect("with a key", 3, "")
	expect("again", 3, postgres.ErrAsked.Error())
	now = now.AddDate(0, 0, 2)
	jobs.DefaultPlatforms = []string{"beta", "gamma"}
	tick("two days later", 4)
	tick("again", 4)
	schedules, err := e.db.BrandSchedules(t.Context(), e.brand.OrganizationID)
	if err != nil || len(schedules) != 1 || schedules[0].Hours != 24 || !schedules[0].NextCheckAt.After(now) {
		t.Errorf("schedules %+v, %v", schedules, err)
	}
	forecast, err := jobs.Forecast(t.Context(), e.brand, now)
	if err != nil || forecast.Runs != 30 || slices.ContainsFunc(forecast.Days, func(d tracking.ForecastDay) bool {
		return d.Platform != "beta"
	}) {
		t.Errorf("forecast %+v, %v", forecast, err)
	}
	e.exec(t, "INSERT INTO public.brand_platforms (brand_id, platform, check_frequency) VALUES ($1, 'alpha', 'manual')",
		e.brand.ID)
	expect("with a manual platform", 4, "its platforms are paused or manual")
}

func (e *environment) countRuns(t *testing.T) (n int) {
	t.Helper()
	if err := e.db.QueryRow(t.Context(), "SELECT count(*) FROM public.tracking_runs").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
