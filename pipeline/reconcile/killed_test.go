package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// A process that repairs is killed at one of some hundred places, where it has said so
// much to the warehouse, beside sinks that go on as soon as they may: the rollup is as
// it was found or as it should be, and no row is lost.
func TestKilledWhileMending(t *testing.T) {
	w := newWorld(t)
	w.land(t, 0, 2000)
	stop := w.inserting(t)
	const planted = 1000
	plant := func() {
		w.exec(t, fmt.Sprintf("INSERT INTO visit_daily (organization_id, day, path, visits) SETTINGS async_insert = 0, deduplicate_insert = 'disable' VALUES ('00000000-0000-0000-0000-000000000001', '2026-03-05', '/planted', %d)", planted))
	}
	plant()
	kills, mended, through := 0, 0, 0
	for most := 11; through < 2; most += 3 {
		if w.mendUntilKilled(t, most) {
			kills++
		} else {
			through++
		}
		report := w.reconcileWhenFree(t, reconcile.Scope{From: 202603, To: 202603, Landing: "visits"})
		switch {
		case len(report.Findings) == 0:
			mended++
			plant()
		case places(report) != "visit_daily 2026-03 differs" || fmt.Sprint(report.Findings[0].Differences) != fmt.Sprint([]rollup.Difference{surplus(report, planted)}):
			t.Fatalf("killed after %d: %s %+v", most, places(report), report.Findings)
		}
	}
	inserted := stop()
	t.Logf("%d kills, mended %d times", kills, mended)
	if kills < 10 || mended < 2 {
		t.Errorf("%d kills, mended %d times", kills, mended)
	}
	for question, want := range map[string]int64{
		"(SELECT count() FROM visits)":                                        inserted + 2000,
		"(SELECT sum(visits) FROM visit_daily WHERE path != '/planted')":      inserted + 2000,
		"(SELECT sum(visits) FROM visit_daily WHERE path = '/planted')":       planted,
		"(SELECT sum(visits) FROM visit_daily WHERE toYYYYMM(day) != 202603)": w.number(t, "(SELECT count() FROM visits WHERE toYYYYMM(day) != 202603)"),
	} {
		if n := w.number(t, question); n != want {
			t.Errorf("%s: %d, want %d", question, n, want)
		}
	}
}

// surplus is a difference of so many visits too much.
func surplus(r *reconcile.Report, planted int64) rollup.Difference {
	want := r.Findings[0].Differences[0].Want
	return rollup.Difference{Column: "visits", Want: want, Have: rollup.Amount{Units: want.Units + planted}}
}

// mendUntilKilled repairs in a process that is killed once it has said something to the
// warehouse so many times; false when it was through before.
func (w *world) mendUntilKilled(t *testing.T, most int) (killed bool) {
	t.Helper()
	warehouse, control := testkit.NewProxy(t, w.warehouse), testkit.NewProxy(t, w.control)
	conn, db := open(t, warehouse.DSN, control.DSN)
	r := w.reconciler(t, conn, db)
	warehouse.CutAfter(most, control)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := r.Reconcile(ctx, reconcile.Scope{From: 202603, To: 202603, Landing: "visits", Repair: reconcile.RepairAll}, func(int, int) {})
		done <- err
	}()
	var err error
	ended := false
	until(t, func() bool {
		select {
		case err = <-done:
			ended = true
		default:
		}
		return ended || warehouse.IsCut() // nobody waits for who was killed
	})
	if !warehouse.IsCut() && err != nil && !errors.Is(err, reconcile.ErrBusy) {
		t.Fatal(err)
	}
	return warehouse.IsCut()
}

// reconcileWhenFree waits until nothing is left of a process that was killed.
func (w *world) reconcileWhenFree(t *testing.T, scope reconcile.Scope) (report *reconcile.Report) {
	t.Helper()
	until(t, func() bool {
		var err error
		report, err = w.reconciler(t, w.conn, w.db).Reconcile(t.Context(), scope, func(int, int) {})
		if err != nil && !errors.Is(err, reconcile.ErrBusy) {
			t.Fatal(err)
		}
		return err == nil
	})
	return report
}

// inserting lands visits as four sinks would, each batch under the gate, until it is
// told to stop and says how many.
func (w *world) inserting(t *testing.T) (stop func() int64) {
	ctx, cancel := context.WithCancel(t.Context())
	var inserted atomic.Int64
	var sinks sync.WaitGroup
	for partition := range 4 {
		sinks.Go(func() {
			for batch := 0; ctx.Err() == nil; batch++ {
				hold, err := w.db.LockSinksShared(t.Context(), 0)
				if err != nil {
					continue // it was stopped for long: by who was killed
				}
				err = w.conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO visits (organization_id, brand_id, day, id, log_topic, log_partition, log_offset, at, event, platform, host, path)
					SELECT toUUID('00000000-0000-0000-0000-000000000001'), toUUID('00000000-0000-0000-0000-000000000001'), toDate('2026-03-05') + number %% 20,
						generateUUIDv7(number), 'live', %d, %d + number, now64(3), 'view', 'chatgpt', 'a.example', '/' || toString(number %% 5)
					FROM numbers(50) SETTINGS insert_deduplicate = 0`, partition, batch*50))
				hold.Release()
				if err != nil {
					t.Error(err)
					return
				}
				inserted.Add(50)
			}
		})
	}
	return func() int64 {
		cancel()
		sinks.Wait()
		return inserted.Load()
	}
}
