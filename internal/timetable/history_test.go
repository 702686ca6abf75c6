package timetable_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/answerscope/answerscope/internal/timetable"
)

// memory is a history in memory.
type memory struct {
	mu               sync.Mutex
	known, succeeded map[string]time.Time
}

func (h *memory) Add(_ context.Context, names []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range names {
		if h.known[n].IsZero() {
			h.known[n] = time.Now()
		}
	}
	return nil
}

func (h *memory) Read(_ context.Context, names []string) (known, succeeded map[string]time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, succeeded = map[string]time.Time{}, map[string]time.Time{}
	for _, n := range names {
		known[n] = h.known[n]
		if at, ever := h.succeeded[n]; ever {
			succeeded[n] = at
		}
	}
	return known, succeeded, nil
}

func (h *memory) Succeeded(_ context.Context, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.succeeded[name] = time.Now()
	return nil
}

// follower never leads.
type follower struct{}

func (follower) Leads(context.Context) (bool, error) { return false, nil }

// awake runs a timetable for d, and returns when which task ran. Task "fails" fails.
func awake(t *testing.T, h *memory, elector timetable.Elector, d time.Duration) (ran map[string][]string,
	metrics *prometheus.Registry) {
	t.Helper()
	metrics = prometheus.NewRegistry()
	table := timetable.New(elector, h, timetable.NewMetrics(metrics), slog.New(slog.DiscardHandler))
	ran = map[string][]string{}
	var mu sync.Mutex
	enter := func(name string, s timetable.Schedule, err error) {
		table.Every(name, s, func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			ran[name] = append(ran[name], time.Now().UTC().Format("Mon 15:04"))
			return err
		})
	}
	enter("prune", timetable.Daily(3, 20), nil)
	enter("renew", timetable.Daily(3, 40), nil)
	enter("fails", timetable.Daily(4, 0), errors.New("disk full"))
	enter("sweep", timetable.Hourly(17), nil)
	table.OnFollow(func() {
		mu.Lock()
		defer mu.Unlock()
		ran["forget"] = append(ran["forget"], time.Now().UTC().Format("Mon 15:04"))
	})
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := table.Run(ctx); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return ran, metrics
}

// A process that starts runs once each daily task that has not succeeded for more than a day. A new task and an hourly
// one wait for their times.
func TestAMissedDailyTaskRunsAtTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		<-time.After(9 * time.Hour) // a Saturday
		h := &memory{known: map[string]time.Time{}, succeeded: map[string]time.Time{}}
		want := func(ran map[string][]string, task string, times ...string) {
			t.Helper()
			if !slices.Equal(ran[task], times) {
				t.Errorf("%s ran at %q, want %q", task, ran[task], times)
			}
		}
		ran, _ := awake(t, h, leader{}, 3*time.Hour+30*time.Second) // the first day
		want(ran, "prune")
		want(ran, "fails")
		want(ran, "sweep", "Sat 09:17", "Sat 10:17", "Sat 11:17")

		<-time.After(24 * time.Hour)
		ran, _ = awake(t, h, follower{}, time.Hour)
		want(ran, "prune")
		want(ran, "forget", "Sun 12:17")
		ran, metrics := awake(t, h, leader{}, 19*time.Hour) // from Sunday 13:00 on
		want(ran, "prune", "Sun 13:01", "Mon 03:20")
		want(ran, "forget")
		want(ran, "renew", "Sun 13:02", "Mon 03:40")
		want(ran, "fails", "Sun 13:03", "Mon 04:00")
		if n := testutil.CollectAndCount(metrics, "answerscope_task_last_success_timestamp_seconds"); n != 3 {
			t.Errorf("%d tasks have succeeded, want 3", n)
		}

		ran, metrics = awake(t, h, leader{}, 2*time.Minute) // again at once
		want(ran, "prune")
		want(ran, "renew")
		want(ran, "fails", "Mon 08:01")
		if n := testutil.CollectAndCount(metrics, "answerscope_task_last_success_timestamp_seconds"); n != 3 {
			t.Errorf("%d tasks are known to have succeeded, want 3 from the history", n)
		}
	})
}
