package tracking_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/postgres"
)

// The canary panel is asked once a day, 3 samples of 10 prompts on each platform and model in use, by whichever process
// has the schedule, as often as it starts. Turned off, it is asked no more.
func TestTheCanaryPanelIsAskedOnceADay(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, "which lamp?")
	if err := e.db.AddBrandPlatform(t.Context(), e.brand.ID, "alpha", "alpha-large", "weekly"); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(24 * time.Hour)
	// starts restarts the schedule, and returns the questions of the jobs that it starts for the panel.
	starts := func(canary func(*tracking.Schedule) error) map[string]int {
		t.Helper()
		jobs, _ := e.jobs(t)
		schedule := tracking.NewSchedule(e.db, jobs, func() time.Time { return now }, prometheus.NewRegistry(),
			testkit.Log(t))
		for range 2 {
			if err := canary(schedule); err != nil {
				t.Fatal(err)
			}
		}
		report, err := schedule.StartAll(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		questions := map[string]int{}
		for _, started := range report.Jobs {
			if started.BrandID != postgres.Panel {
				continue
			}
			rows, err := e.db.Query(t.Context(), "SELECT platform || ' ' || model FROM public.tracking_runs WHERE "+
				"job_id = $1", started.JobID)
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				var question string
				if err := rows.Scan(&question); err != nil {
					t.Fatal(err)
				}
				questions[question]++
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
		}
		return questions
	}
	ask := func(s *tracking.Schedule) error { return s.AskCanary(t.Context()) }
	stop := func(s *tracking.Schedule) error { return e.db.StopPanel(t.Context()) }
	expect := func(what string, got map[string]int, want map[string]int) {
		t.Helper()
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		for question, n := range want {
			if got[question] != n {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
	}

	expect("never on", starts(stop), nil)
	if n, err := e.db.OrganizationCount(t.Context(), &postgres.PanelOrganization); n != 0 || err != nil {
		t.Errorf("never on: %d organizations of the panel, %v", n, err)
	}
	// beta and delta have a key and no brand; gamma has no key.
	all := map[string]int{"alpha alpha-large": 30, "beta beta-small": 30, "delta delta-small": 30}
	expect("on", starts(ask), all)
	expect("on, after a restart", starts(ask), nil)
	now = now.AddDate(0, 0, 1)
	expect("on the next day", starts(ask), all)
	e.MissingKey = "beta"
	now = now.AddDate(0, 0, 1)
	expect("with a key less", starts(ask), map[string]int{"alpha alpha-large": 30, "delta delta-small": 30})
	now = now.AddDate(0, 0, 1)
	expect("off", starts(stop), nil)
	now = now.AddDate(0, 0, 1)
	expect("on again", starts(ask), map[string]int{"alpha alpha-large": 30, "delta delta-small": 30})
}

// A removed panel fails no task; the log says once what to do.
func TestARemovedCanaryPanelIsLoggedOnce(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, "which lamp?")
	jobs, _ := e.jobs(t)
	var log bytes.Buffer
	schedule := tracking.NewSchedule(e.db, jobs, time.Now, prometheus.NewRegistry(),
		slog.New(slog.NewTextHandler(&log, nil)))
	for n := range 3 {
		if err := schedule.AskCanary(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			if err := e.db.RemoveBrand(t.Context(), postgres.Panel); err != nil {
				t.Fatal(err)
			}
		}
	}
	if said := strings.Count(log.String(), "set ANSWERSCOPE_CANARY=off"); said != 1 {
		t.Errorf("said %d times: %s", said, &log)
	}
}
