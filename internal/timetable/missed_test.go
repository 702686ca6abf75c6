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

// book is one in memory.
type book struct {
	mu               sync.Mutex
	known, succeeded map[string]time.Time
}

func (b *book) Enter(_ context.Context, names []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range names {
		if b.known[n].IsZero() {
			b.known[n] = time.Now()
		}
	}
	return nil
}

func (b *book) Past(_ context.Context, names []string) (known, succeeded map[string]time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, succeeded = map[string]time.Time{}, map[string]time.Time{}
	for _, n := range names {
		known[n] = b.known[n]
		if at, ever := b.succeeded[n]; ever {
			succeeded[n] = at
		}
	}
	return known, succeeded, nil
}

func (b *book) Succeeded(_ context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.succeeded[name] = time.Now()
	return nil
}

// second leads never.
type second struct{}

func (second) Leads(context.Context) (bool, error) { return false, nil }

// awake runs a timetable for a while, and says when which chore ran. Chore "fails" does.
func awake(t *testing.T, b *book, elector timetable.Elector, d time.Duration) (ran map[string][]string, metrics *prometheus.Registry) {
	t.Helper()
	metrics = prometheus.NewRegistry()
	table, err := timetable.New(timetable.DefaultConfig(), elector, b, metrics, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
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
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := table.Run(ctx); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return ran, metrics
}

// Whoever wakes up makes up for what was missed by more than a day, once; what is new,
// and what an hour brings anyway, waits for its time.
func TestADailyChoreThatWasMissedIsMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		<-time.After(9 * time.Hour) // a Saturday
		b := &book{known: map[string]time.Time{}, succeeded: map[string]time.Time{}}
		want := func(ran map[string][]string, chore string, times ...string) {
			t.Helper()
			if !slices.Equal(ran[chore], times) {
				t.Errorf("%s ran at %q, want %q", chore, ran[chore], times)
			}
		}
		ran, _ := awake(t, b, alone{}, 3*time.Hour+30*time.Second) // the first day
		want(ran, "prune")
		want(ran, "fails")
		want(ran, "sweep", "Sat 09:17", "Sat 10:17", "Sat 11:17")

		<-time.After(24 * time.Hour)
		ran, _ = awake(t, b, second{}, time.Hour)
		want(ran, "prune")
		ran, metrics := awake(t, b, alone{}, 19*time.Hour) // from Sunday 13:00 on
		want(ran, "prune", "Sun 13:01", "Mon 03:20")
		want(ran, "renew", "Sun 13:02", "Mon 03:40")
		want(ran, "fails", "Sun 13:03", "Mon 04:00")
		if n := testutil.CollectAndCount(metrics, "answerscope_chore_last_success_timestamp_seconds"); n != 3 {
			t.Errorf("%d chores have succeeded, want 3", n)
		}

		ran, metrics = awake(t, b, alone{}, 2*time.Minute) // again at once
		want(ran, "prune")
		want(ran, "renew")
		want(ran, "fails", "Mon 08:01")
		if n := testutil.CollectAndCount(metrics, "answerscope_chore_last_success_timestamp_seconds"); n != 3 {
			t.Errorf("%d chores are known to have succeeded, want 3 by the book", n)
		}
	})
}
