package timetable_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const often = 50 * time.Millisecond

// database is one on which processes elect their leader.
func database(t *testing.T) *postgres.DB {
	t.Helper()
	return store.OpenControlPlane(t, store.ControlPlane(t))
}

// process runs a timetable with one task, until stop, which returns what Run did.
func process(t *testing.T, elector timetable.Elector,
	task func(context.Context) error) (metrics *prometheus.Registry, stop func() error) {
	t.Helper()
	metrics = prometheus.NewRegistry()
	table := timetable.New(elector, noHistory{}, timetable.NewMetrics(metrics), slog.New(slog.DiscardHandler))
	table.Every("sweep", timetable.Interval(often), task)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- table.Run(ctx) }()
	return metrics, func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(30 * time.Second):
			return errors.New("does not stop")
		}
	}
}

func next[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(30 * time.Second):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

func stopped(t *testing.T, stop func() error) {
	t.Helper()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestOneProcessRunsATaskUntilAnotherTakesOver(t *testing.T) {
	db := database(t)
	runs := make(chan int)
	task := func(n int) func(context.Context) error {
		return func(ctx context.Context) error {
			select {
			case runs <- n:
			case <-ctx.Done():
			}
			return ctx.Err()
		}
	}
	var leads []*postgres.Leader
	var stops []func() error
	for n := range 2 {
		lead := db.NewLeader("timetable")
		leads = append(leads, lead)
		_, stop := process(t, lead, task(n))
		stops = append(stops, stop)
	}
	first := next(t, runs, "run")
	for range 10 {
		if n := next(t, runs, "run"); n != first {
			t.Fatalf("process %d ran a task beside process %d", n, first)
		}
	}
	stopped(t, stops[first])
	if err := leads[first].Close(); err != nil {
		t.Fatal(err)
	}
	if n := next(t, runs, "run of the other process"); n == first {
		t.Errorf("the process that had stopped ran a task")
	}
	stopped(t, stops[1-first])
	if err := leads[1-first].Close(); err != nil {
		t.Fatal(err)
	}
}

// A process that loses its connection loses its lead; the task that it runs must end, because another process may run
// it.
func TestARunningTaskEndsWhenItsProcessLosesTheLead(t *testing.T) {
	db := database(t)
	begun, ended := make(chan struct{}, 100), make(chan error, 100)
	lead := db.NewLeader("timetable")
	defer lead.Close()
	metrics, stop := process(t, lead, func(ctx context.Context) error {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	})
	next(t, begun, "run")
	const cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND database = " +
		"(SELECT oid FROM pg_database WHERE datname = current_database())"
	cfg := postgres.DefaultConfig()
	cfg.DSN = db.Config().ConnString()
	root, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := root.Exec(t.Context(), "RESET ROLE; "+cut); err != nil {
		t.Fatal(err)
	}
	if err := next(t, ended, "end of the run"); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("the task ended by %v, want the lost lead", err)
	}
	next(t, begun, "run after a new election")
	stopped(t, stop)
	if got := testutil.CollectAndCount(metrics, "answerscope_task_last_failure_timestamp_seconds"); got != 1 {
		t.Errorf("%d tasks with a failure, want 1", got)
	}
}

// leader always leads.
type leader struct{}

func (leader) Leads(context.Context) (bool, error) { return true, nil }

// noHistory has no history.
type noHistory struct{}

func (noHistory) Add(context.Context, []string) error { return nil }
func (noHistory) Read(context.Context, []string) (known, succeeded map[string]time.Time, err error) {
	return nil, nil, errors.New("no history")
}
func (noHistory) Succeeded(context.Context, string) error { return nil }

func TestATaskNeverRunsTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, release := make(chan struct{}), make(chan struct{})
		_, stop := process(t, leader{}, func(ctx context.Context) error {
			select {
			case begun <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			select {
			case <-release:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
		next(t, begun, "run")
		select {
		case <-begun:
			t.Error("a second run began during the first")
		case <-time.After(10 * often):
		}
		release <- struct{}{}
		next(t, begun, "run after the first")
		stopped(t, stop)
	})
}

func TestMetricsSayHowATaskEnded(t *testing.T) {
	ends := make(chan error)
	metrics, stop := process(t, leader{}, func(ctx context.Context) error {
		select {
		case err := <-ends:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	counts := func(name string, want int) func() bool {
		return func() bool { return testutil.CollectAndCount(metrics, "answerscope_task_"+name) == want }
	}
	ends <- nil
	wait.For(t, "a success", counts("last_success_timestamp_seconds", 1))
	if !counts("last_failure_timestamp_seconds", 0)() {
		t.Error("a failure after a success")
	}
	ends <- errors.New("disk full")
	wait.For(t, "a failure", counts("last_failure_timestamp_seconds", 1))
	wait.For(t, "a duration", counts("last_duration_seconds", 1))
	stopped(t, stop)
}

func TestSchedulesAreUnderstood(t *testing.T) {
	table := timetable.New(leader{}, noHistory{}, timetable.NewMetrics(prometheus.NewRegistry()),
		slog.New(slog.DiscardHandler))
	nothing := func(context.Context) error { return nil }
	table.Every("nightly", timetable.Daily(3, 30), nothing)
	table.Every("hourly", timetable.Hourly(17), nothing)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.Run(ctx); err != nil {
		t.Error(err)
	}
	table.Every("never", timetable.Daily(24, 0), nothing)
	if err := table.Run(ctx); err == nil {
		t.Error("there is no hour 24")
	}
}
