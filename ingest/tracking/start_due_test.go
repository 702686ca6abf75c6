package tracking_test

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A slot that several processes start at once is asked once; so is what of it another job has asked.
func TestASlotIsAskedOnce(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	slot := time.Now().UTC().Truncate(time.Hour)
	alpha, beta := tracking.Target{Platform: "alpha", Slot: slot}, tracking.Target{Platform: "beta", Slot: slot}
	var together sync.WaitGroup
	var started, refused atomic.Int64
	for range 4 {
		jobs, _ := e.jobs(t)
		together.Go(func() {
			_, _, err := jobs.StartDue(t.Context(), e.brand, []tracking.Target{alpha})
			switch {
			case err == nil:
				started.Add(1)
			case errors.Is(err, postgres.ErrAsked):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	together.Wait()
	if started.Load() != 1 || refused.Load() != 3 {
		t.Errorf("%d started, %d refused as asked", started.Load(), refused.Load())
	}
	jobs, _ := e.run(t)
	id, _, err := jobs.StartDue(t.Context(), e.brand, []tracking.Target{alpha, beta})
	if err != nil {
		t.Fatal(err)
	}
	if j, r := e.finished(t, id); j.Total != 3 || r.Answered != 3 {
		t.Errorf("the rest of the slot: %+v", j)
	}
	next := tracking.Target{Platform: "alpha", Slot: slot.Add(time.Hour)}
	if _, _, err := jobs.StartDue(t.Context(), e.brand, []tracking.Target{next}); err != nil {
		t.Errorf("the next slot: %v", err)
	}
	// Two schedules that ask the same: the default, and the same model by its name.
	hourly, daily := tracking.Target{Platform: "alpha", Slot: slot.Add(5 * time.Hour)},
		tracking.Target{Platform: "alpha", Model: "alpha-small", Slot: slot.Add(4 * time.Hour)}
	for _, due := range [][]tracking.Target{{daily, hourly}, {hourly, daily}} {
		_, _, err = jobs.StartDue(t.Context(), e.brand, due)
	}
	if !errors.Is(err, postgres.ErrAsked) {
		t.Errorf("a question of two slots, in another order: %v", err)
	}
}

// A slot that is started twice near a budget needs none of it: it is refused as asked, and what of it is new alone has
// to
// fit. It was refused for the budget, by all of its runs.
func TestASlotTwiceNeedsNoBudget(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	if err := e.db.SetBudget(t.Context(), uuid.Nil, e.brand.OrganizationID,
		postgres.Budget{RunsPerDay: new(int64(7)), CostPerMonth: new("0.07")}); err != nil {
		t.Fatal(err)
	}
	jobs, _ := e.jobs(t)
	slot := time.Now().UTC().Truncate(time.Hour)
	alpha, beta := tracking.Target{Platform: "alpha", Slot: slot}, tracking.Target{Platform: "beta", Slot: slot}
	for _, c := range []struct {
		due  []tracking.Target
		want error
	}{{[]tracking.Target{alpha}, nil}, {[]tracking.Target{alpha, beta}, nil},
		{[]tracking.Target{alpha, beta}, postgres.ErrAsked}} {
		if _, _, err := jobs.StartDue(t.Context(), e.brand, c.due); !errors.Is(err, c.want) {
			t.Errorf("start of %+v: %v, want %v", c.due, err, c.want)
		}
	}
	_, _, err := jobs.StartDue(t.Context(), e.brand, []tracking.Target{{Platform: "alpha", Slot: slot.Add(time.Hour)}})
	over, refused := errors.AsType[*postgres.BudgetError](err)
	if !refused || over.What != "runs" || over.Period != "day" || over.Limit != "7" || over.Spent != "6" ||
		over.Wanted != "3" {
		t.Errorf("the next slot: %v", err)
	}
}

// Runs whose slot began over a day ago, because no process was there, are given up unasked. Their records, of which the
// sink takes none that ended later than a day after its slot, are on the log.
func TestAnOldSlotIsGivenUp(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	now := time.Now().UTC().Truncate(time.Millisecond)
	jobs, _ := e.run(t)
	var ids []uuid.UUID
	for _, age := range []time.Duration{24*time.Hour + time.Millisecond, 30 * time.Hour, 40 * 24 * time.Hour} {
		id, _, err := jobs.StartDue(t.Context(), e.brand, []tracking.Target{{Platform: "alpha", Slot: now.Add(-age)}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		if j, r := e.finished(t, id); j.Status != "failed" || r.GaveUp["unavailable"] != 3 {
			t.Errorf("%s, %+v", j.Status, r)
		}
	}
	answers, _ := e.records(t)
	for _, a := range answers {
		if a.GivenUp == nil || a.Attempts != 0 {
			t.Errorf("%+v", a)
		}
	}
	if len(answers) != 9 || e.service.requests() != 0 {
		t.Errorf("%d records and %d requests, want 9 and none", len(answers), e.service.requests())
	}
}

// A brand whose start fails stops no other's, and a platform without a key is tried again within the hour, though the
// brand's others were asked.
func TestARefusedBrandStopsNoOther(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, "which lamp?")
	broken, healthy := e.brand, e.addBrand(t, "Other", "which lamp?")
	if bytes.Compare(healthy.ID[:], broken.ID[:]) < 0 { // they are looked at by id
		broken, healthy = healthy, broken
	}
	e.BrokenOrganization = broken.OrganizationID
	for _, brand := range []postgres.Brand{broken, healthy} {
		for _, platform := range []string{"alpha", "gamma"} {
			if err := e.db.EnsureBrandPlatform(t.Context(), brand.ID, platform, "weekly"); err != nil {
				t.Fatal(err)
			}
		}
	}
	jobs, _ := e.jobs(t)
	now := time.Now()
	due := tracking.NewSchedule(e.db, jobs, func() time.Time { return now }, prometheus.NewRegistry(), testkit.Log(t))
	report, err := due.StartAll(t.Context(), nil, nil)
	if err != nil || len(report.Jobs) != 1 || report.Jobs[0].BrandID != healthy.ID ||
		!slices.Equal(report.Skipped, []tracking.Skipped{{BrandID: broken.ID, Reason: "internal error"}}) {
		t.Errorf("%+v, %v", report, err)
	}
	for at, want := range map[time.Time]bool{now: false, now.Add(time.Hour): true} {
		rows, err := e.db.ScheduledPlatforms(t.Context(), &healthy.OrganizationID, nil, false, at)
		again := slices.ContainsFunc(rows, func(r postgres.ScheduledPlatform) bool {
			return r.Platform == "gamma" &&
				r.LastCheckedAt == nil
		})
		if err != nil || again != want {
			t.Errorf("gamma is due %s after it was refused: %+v, %v", at.Sub(now), rows, err)
		}
	}
}

// Platforms that are due and are not asked are told of with the reason, once a day.
func TestSkippedPlatformsAreToldOf(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, "which lamp?")
	silent, poor := e.addBrand(t, "Silent"), e.addBrand(t, "Poor", "which lamp?", "which desk?")
	for brand, platforms := range map[postgres.Brand][]string{e.brand: {"alpha", "gamma"}, silent: {"alpha"},
		poor: {"alpha", "beta"}} {
		for _, platform := range platforms {
			if err := e.db.EnsureBrandPlatform(t.Context(), brand.ID, platform, "weekly"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := e.db.SetBudget(t.Context(), uuid.Nil, poor.OrganizationID,
		postgres.Budget{RunsPerDay: new(int64(1))}); err != nil {
		t.Fatal(err)
	}
	jobs, _ := e.jobs(t)
	due := tracking.NewSchedule(e.db, jobs, time.Now, prometheus.NewRegistry(), testkit.Log(t))
	for range 2 {
		if _, err := due.StartAll(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := e.db.Query(t.Context(),
		`SELECT concat_ws(' ', data -> 'brand' ->> 'slug', data ->> 'reason', data ->> 'platforms',
			(data ->> 'until')::timestamptz > now())
		FROM public.events WHERE type = 'tracking.skipped' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	told, err := pgx.CollectRows(rows, pgx.RowTo[string])
	want := []string{`lumen no_key ["gamma"]`, `poor budget ["alpha", "beta"] t`, `silent no_prompts ["alpha"]`}
	if err != nil || !slices.Equal(told, want) {
		t.Errorf("told %q, %v; want %q", told, err, want)
	}
}
