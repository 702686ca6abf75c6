package notify_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/pipeline/notify"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
)

// Each active brand is reported once a week, by any number of processes; one without answers once, until it has some.
func TestAWeekIsReportedOnce(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.addBrand(t, "lumen", day, noise)
	w.addBrand(t, "empty", day.AddDate(-1, 0, 0), noise)
	report := func(at time.Time) string {
		w.now = at
		var reporters errgroup.Group
		for range 3 {
			r := notify.NewReporter(w.db, w.warehouse, w.clock, slog.New(slog.NewTextHandler(t.Output(), nil)))
			reporters.Go(func() error { return r.Weekly(t.Context()) })
		}
		must(t, reporters.Wait())
		rows, err := w.db.Query(t.Context(), "SELECT concat_ws(' ', data -> 'brand' ->> 'slug', data ->> 'week', "+
			"data ->> 'answers') FROM public.events WHERE type = $1 ORDER BY 1", feed.ReportWeekly)
		must(t, err)
		defer rows.Close()
		var lines []string
		for rows.Next() {
			var line string
			must(t, rows.Scan(&line))
			lines = append(lines, line)
		}
		return strings.Join(lines, ", ")
	}
	monday := time.Date(2026, 11, 16, 7, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{monday.Add(-time.Minute), ""},
		{monday, "empty 2026-W46 0, lumen 2026-W46 112"},
		{monday.Add(time.Hour), "empty 2026-W46 0, lumen 2026-W46 112"},
		{monday.AddDate(0, 0, 7), "empty 2026-W46 0, lumen 2026-W46 112, lumen 2026-W47 112"},
	} {
		if got := report(c.at); got != c.want {
			t.Errorf("at %s: %s, want %s", c.at, got, c.want)
		}
	}
}

func TestAWeekHasEnded(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 4, 0, 30, 0, 0, time.UTC) // the Monday of 2027-W01
	for text, want := range map[string]string{
		"": "2026-12-28", "2026-W53": "2026-12-28", "2026-W01": "2025-12-29", "2026-W46": "2026-11-09",
		"2024-W52": "2024-12-23",
		"2027-W01": "", "2026-W54": "", "2025-W53": "", "2026-W00": "", "2026-46": "", "W46": "", "2026-W46x": "",
		"2026-W1": "",
	} {
		monday, err := notify.ParseWeek(text, now)
		if got := monday.Format(time.DateOnly); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
	if monday, err := notify.ParseWeek("", now.Add(-time.Hour)); err != nil ||
		monday.Format(time.DateOnly) != "2026-12-21" {
		t.Errorf("on Sunday: %s, %v", monday, err)
	}
}
