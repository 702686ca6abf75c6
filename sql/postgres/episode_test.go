package postgres_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/postgres"
)

// finishJob adds a job of a brand whose runs have ended, and ends it. runs are such as "openai 4 done".
func (w *environment) finishJob(t *testing.T, brand postgres.Brand, runs ...string) {
	t.Helper()
	job := one[string](t, w.root, `INSERT INTO public.tracking_jobs (organization_id, brand_id, total, status, phase)
		VALUES ($1, $2, 1, 'active', 'landing') RETURNING id::text`, brand.OrganizationID, brand.ID)
	for i, text := range runs {
		var platform, state, class string
		var n int
		if _, err := fmt.Sscan(text, &platform, &n, &state, &class); n == 0 {
			t.Fatal(err)
		}
		w.run(t, fmt.Sprintf(
			`INSERT INTO public.tracking_runs (organization_id, job_id, prompt_id, platform, model, region, sample,
				state, error_class)
			SELECT '%s', '%s', gen_random_uuid(), '%s', '%d', '', 1, '%s', nullif('%s', '')
			FROM generate_series(1, %d)`,
			brand.OrganizationID, job, platform, i, state, class, n))
	}
	w.run(t, "UPDATE public.tracking_jobs SET status = 'completed', phase = 'done', finished_at = now() WHERE id = '"+
		job+"'")
}

// A platform that gave up over a fifth of at least five runs is told of once for the organization, and again when a job
// of any of its brands has enough runs that were answered.
func TestAPlatformIsDegradedOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	second := added(t, w.db, w.own.organization.ID, postgres.NewBrand{Name: "Second", Slug: "second"})
	told := func() []string {
		return list[string](t, w.root,
			`SELECT concat_ws(' ', type, data ->> 'platform', data ->> 'runs', data ->> 'gave_up',
				(SELECT string_agg(b ->> 'slug', ' ') FROM jsonb_array_elements(data -> 'brands') AS b))
			FROM public.events WHERE type LIKE 'platform.%' AND organization_id = $1 ORDER BY at`,
			w.own.organization.ID)
	}
	w.finishJob(t, w.own.brand, "openai 4 done", "openai 1 gave_up timeout", "gemini 4 gave_up auth",
		"claude 1 cancelled", "claude 9 done")
	if events := told(); len(events) > 0 {
		t.Errorf("a fifth, or four runs: %q", events)
	}
	w.finishJob(t, w.own.brand, "openai 3 done", "openai 1 gave_up timeout", "openai 1 gave_up auth")
	w.finishJob(t, second, "openai 9 gave_up auth", "openai 50 cancelled")
	w.finishJob(t, w.other.brand, "openai 6 done")
	w.finishJob(t, second, "openai 4 done")
	w.finishJob(t, second, "openai 4 done", "openai 1 gave_up timeout")
	w.finishJob(t, second, "openai 5 done")
	want := []string{
		`platform.degraded openai 5 {"auth": 1, "timeout": 1} acme`,
		`platform.recovered openai 5 {"timeout": 1} second`,
	}
	if events := told(); !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
	w.finishJob(t, second, "openai 9 gave_up auth")
	if events := told(); len(events) != 3 {
		t.Errorf("a second time: %q", events)
	}
}

// A skipped brand is told of once a reason and UTC day.
func TestASkippedBrandIsToldOnceADay(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	at := time.Date(2026, 11, 25, 23, 59, 0, 0, time.UTC)
	for _, c := range []struct {
		reason string
		at     time.Time
	}{{"no_key", at}, {"no_key", at}, {"budget", at}, {"no_key", at.Add(time.Minute)}} {
		if err := w.db.EmitSkipped(t.Context(), w.own.brand.ID, c.reason, []string{"openai"}, nil, c.at); err != nil {
			t.Fatal(err)
		}
	}
	keys := list[string](t, w.root,
		"SELECT replace(key, $1, 'BRAND') FROM public.events WHERE type = 'tracking.skipped' ORDER BY key",
		w.own.brand.ID.String())
	if got := strings.Join(keys, " "); got != "tracking.skipped/BRAND/budget/2026-11-25 "+
		"tracking.skipped/BRAND/no_key/2026-11-25 tracking.skipped/BRAND/no_key/2026-11-26" {
		t.Error(got)
	}
}

// Reports are due from Monday 7:00 to the end of Wednesday where the organization is, but not before the week has ended
// in UTC, and once.
func TestReportsAreDue(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "UPDATE public.brands SET is_active = false WHERE organization_id = '"+
		w.other.organization.ID.String()+"'")
	w.run(t, "DELETE FROM public.events")
	w.run(t, "SET session_replication_role = replica; UPDATE public.brands SET created_at = '2026-01-06'; "+
		"SET session_replication_role = origin")
	for _, c := range []struct{ zone, at, week string }{
		{"UTC", "2026-11-16 06:59", ""},
		{"UTC", "2026-11-16 07:00", "2026-11-09"},
		{"UTC", "2026-11-18 23:59", "2026-11-09"},
		{"UTC", "2026-11-19 00:01", ""},
		{"America/New_York", "2026-11-16 11:59", ""},
		{"America/New_York", "2026-11-16 12:00", "2026-11-09"},
		{"Pacific/Auckland", "2026-11-15 20:00", ""}, // Monday morning there
		{"Pacific/Auckland", "2026-11-16 01:00", "2026-11-09"},
		{"UTC", "2026-01-05 07:00", ""}, // a new brand: the week had begun before it
		{"UTC", "2027-01-04 07:00", "2026-12-28"},
	} {
		w.run(t, "UPDATE public.organizations SET time_zone = '"+c.zone+"'")
		at, err := time.Parse("2006-01-02 15:04", c.at)
		if err != nil {
			t.Fatal(err)
		}
		due, err := w.db.DueReports(t.Context(), at)
		week := ""
		if len(due) == 1 {
			week = due[0].Monday.Format(time.DateOnly)
		}
		if err != nil || week != c.week || len(due) > 1 {
			t.Errorf("%s at %s: %+v, %v", c.zone, c.at, due, err)
		}
	}
	at := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	event := postgres.Event{OrganizationID: w.own.organization.ID, BrandID: w.own.brand.ID, Type: "report.weekly",
		Data: map[string]int{"answers": 0}, Key: "report.weekly/" + w.own.brand.ID.String() + "/2026-W46"}
	for _, want := range []bool{true, false} {
		if added, err := w.db.Emit(t.Context(), event); err != nil || added != want {
			t.Fatalf("added: %t, %v", added, err)
		}
	}
	if n := one[int](t, w.root, "SELECT count(*) FROM public.events"); n != 1 {
		t.Errorf("%d events", n)
	}
	if due, err := w.db.DueReports(t.Context(), at); err != nil || len(due) > 0 {
		t.Errorf("due again: %+v, %v", due, err)
	}
	if due, err := w.db.DueReports(t.Context(), at.AddDate(0, 0, 7)); err != nil || len(due) != 1 || !due[0].LastEmpty {
		t.Errorf("a week later: %+v, %v", due, err)
	}
}
