package upkeep_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/postgres"
)

// interruptions are the waits after which a mirror tries again.
type interruptions chan time.Duration

func (interruptions) Enabled(context.Context, slog.Level) bool { return true }
func (i interruptions) WithAttrs([]slog.Attr) slog.Handler     { return i }
func (i interruptions) WithGroup(string) slog.Handler          { return i }
func (i interruptions) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "mirror interrupted" {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "wait" {
				i <- a.Value.Duration()
			}
			return true
		})
	}
	return nil
}

func (i interruptions) next(t *testing.T) time.Duration {
	t.Helper()
	select {
	case wait := <-i:
		return wait
	case <-time.After(30 * time.Second):
		t.Fatal("the mirror is not interrupted")
		return 0
	}
}

func wantReady(t *testing.T, m *upkeep.Mirror) {
	t.Helper()
	wait.For(t, "the mirror to be ready", func() bool { return m.Ready(t.Context()) == nil })
}

// root is one connection that sees and ends the others.
func (e *mirroringEnvironment) root(t *testing.T) *postgres.DB {
	t.Helper()
	pg := e.pg
	pg.MaxConns = 1
	root, err := postgres.Open(t.Context(), pg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.Exec(t.Context(), "RESET ROLE"); err != nil {
		t.Fatal(err)
	}
	return root
}

// cut ends every other connection to the database.
func (e *mirroringEnvironment) cut(t *testing.T) {
	t.Helper()
	root := e.root(t)
	defer root.Close()
	const all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid " +
		"!= pg_backend_pid()"
	if _, err := root.Exec(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// Of several mirrors one copies. A standby that had to reconnect stayed not ready for as long as the other one ran.
func TestAllMirrorsAreReadyAgainAfterAnInterruption(t *testing.T) {
	e := newMirroring(t)
	var mirrors []*upkeep.Mirror
	var logs []interruptions
	for range 2 {
		log := make(interruptions, 100)
		m := e.mirror(slog.New(log))
		defer testkit.Start(t, m.Run)()
		mirrors, logs = append(mirrors, m), append(logs, log)
	}
	e.connected(t, 2)
	e.cut(t)
	for i := range mirrors {
		logs[i].next(t)
	}
	for _, m := range mirrors {
		wantReady(t, m)
	}
}

// connected waits until n mirrors have asked for the outbox's lock.
func (e *mirroringEnvironment) connected(t *testing.T, n int) {
	t.Helper()
	root := e.root(t)
	defer root.Close()
	wait.For(t, fmt.Sprintf("%d mirrors to be connected", n), func() bool {
		var got int
		if err := root.QueryRow(t.Context(), `
			SELECT count(*)
			FROM pg_stat_activity
			WHERE datname = current_database() AND pid != pg_backend_pid()
			  AND query ~ 'answerscope_lead|LISTEN|outbox_changes'`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got == n
	})
}

// The waits between attempts grow only while none succeeds. They once grew over the whole run of the process, to 5 s
// after its sixth interruption.
func TestPausesBeginShortAfterASuccess(t *testing.T) {
	e := newMirroring(t)
	log := make(interruptions, 100)
	m := e.mirror(slog.New(log))
	defer testkit.Start(t, m.Run)()
	for n := range 6 {
		wantReady(t, m)
		e.connected(t, 1)
		e.cut(t)
		if wait := log.next(t); wait > 150*time.Millisecond {
			t.Fatalf("after %d interruptions a pause of %v", n+1, wait)
		}
	}
}

// A mirror waited indefinitely on a connection whose other end was lost without a reset.
func TestAMirrorNoticesALostConnection(t *testing.T) {
	e := newMirroring(t)
	proxy, pg := testkit.NewProxy(t, e.pg.DSN), e.pg
	pg.DSN = proxy.DSN
	e.from = store.OpenControlPlane(t, pg)
	log := make(interruptions, 100)
	m := e.mirror(slog.New(log))
	m.SetTimeout(500 * time.Millisecond)
	defer testkit.Start(t, m.Run)()
	e.connected(t, 1)
	proxy.Drop()
	log.next(t)
	e.cut(t) // as Postgres does itself after a while: the lost connection still holds the lock
	proxy.Pass()
	wantReady(t, m)
	root := e.root(t)
	defer root.Close()
	addBrand(t, root)
	e.want(t, "Lumen", "SELECT arrayStringConcat(groupArray(name), ',') FROM dimension_brands FINAL WHERE NOT deleted")
}

// While ClickHouse is away, a connection to Postgres is no success: the waits grow, and the mirror stays not ready.
func TestPausesGrowWhileClickHouseIsAway(t *testing.T) {
	t.Parallel()
	warehouse := store.Warehouse(t)
	proxy := testkit.NewProxy(t, warehouse.DSN)
	warehouse.DSN = proxy.DSN
	pg := store.ControlPlane(t)
	e := &mirroringEnvironment{pg, store.OpenControlPlane(t, pg), store.OpenWarehouse(t, warehouse)}
	proxy.Cut()
	addBrand(t, e.from)
	log := make(interruptions, 100)
	m := e.mirror(slog.New(log))
	defer testkit.Start(t, m.Run)()
	for n, ms := range []int{50, 100, 200, 400} { // each wait deviates by at most a half
		shortest := time.Duration(ms) * time.Millisecond
		if wait := log.next(t); wait < shortest {
			t.Errorf("the wait %d is %v, want at least %v", n+1, wait, shortest)
		}
		if m.Ready(t.Context()) == nil {
			t.Errorf("ready after %d failures", n+1)
		}
	}
}
