package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// A process that repairs is killed after each of its writes to the warehouse, beside sinks that continue as soon as
// they may: the rollup is as it was found or as it should be, and no row is lost.
func TestKilledWhileRepairing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.landVisits(t, 0, 400)
	stop := f.inserting(t)
	const planted = 1000
	plant := func() {
		f.exec(t, fmt.Sprintf("INSERT INTO visit_daily (organization_id, day, path, visits) SETTINGS async_insert = "+
			"0, deduplicate_insert = 'disable' VALUES ('00000000-0000-0000-0000-000000000001', '2026-03-05', "+
			"'/planted', %d)", planted))
	}
	plant()
	step, least := 15, 2 // before the shadow schema is full, and before it replaces the month
	if testkit.All {
		step, least = 5, 6
	}
	kills, repaired, completed := 0, 0, 0
	for most := 11; completed < 2; most += step {
		if f.repairUntilKilled(t, most) {
			kills++
		} else {
			completed++
		}
		report := f.reconcileWhenFree(t, reconcile.Scope{From: 202603, To: 202603, Landing: "visits"})
		switch {
		case len(report.Findings) == 0:
			repaired++
			plant()
		case findings(report) != "visit_daily 2026-03 kept" ||
			fmt.Sprint(report.Findings[0].Differences) != fmt.Sprint([]rollup.Difference{surplus(report, planted)}):
			t.Fatalf("killed after %d: %s %+v", most, findings(report), report.Findings)
		}
	}
	inserted := stop()
	t.Logf("%d kills, repaired %d times", kills, repaired)
	if kills < least || repaired < 2 {
		t.Errorf("%d kills, repaired %d times: want at least %d and 2", kills, repaired, least)
	}
	for question, want := range map[string]int64{
		"(SELECT count() FROM visits)":                                   inserted + 400,
		"(SELECT sum(visits) FROM visit_daily WHERE path != '/planted')": inserted + 400,
		"(SELECT sum(visits) FROM visit_daily WHERE path = '/planted')":  planted,
		"(SELECT sum(visits) FROM visit_daily WHERE toYYYYMM(day) != 202603)": f.number(t,
			"(SELECT count() FROM visits WHERE toYYYYMM(day) != 202603)"),
	} {
		if n := f.number(t, question); n != want {
			t.Errorf("%s: %d, want %d", question, n, want)
		}
	}
}

// surplus is a difference of so many visits too much.
func surplus(r *reconcile.Report, planted int64) rollup.Difference {
	want := r.Findings[0].Differences[0].Want
	return rollup.Difference{Column: "visits", Want: want, Have: rollup.Amount{Units: want.Units + planted}}
}

// repairUntilKilled repairs in a process that is killed after so many writes to the warehouse; false when it had ended
// before.
func (f *fixture) repairUntilKilled(t *testing.T, writes int) (killed bool) {
	t.Helper()
	warehouse, control := testkit.NewProxy(t, f.warehouse.DSN), testkit.NewProxy(t, f.control.DSN)
	warehouseConfig, controlConfig := f.warehouse, f.control
	warehouseConfig.DSN, controlConfig.DSN = warehouse.DSN, control.DSN
	conn, err := clickhouse.Open(t.Context(), warehouseConfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // an error, since the proxy was cut
	r := newReconciler(t, f.config(), conn, store.OpenControlPlane(t, controlConfig))
	warehouse.CutAfter(writes, control)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := r.Reconcile(ctx, reconcile.Scope{From: 202603, To: 202603, Landing: "visits",
			Repair: reconcile.RepairAll}, func(int, int) {})
		done <- err
	}()
	ended := false
	wait.For(t, "the repair to end or its process to be killed", func() bool {
		select {
		case err = <-done:
			ended = true
		default:
		}
		return ended || warehouse.IsCut()
	})
	if !warehouse.IsCut() && err != nil && !errors.Is(err, reconcile.ErrBusy) {
		t.Fatal(err)
	}
	return warehouse.IsCut()
}

// reconcileWhenFree waits until the locks of a killed process are released.
func (f *fixture) reconcileWhenFree(t *testing.T, scope reconcile.Scope) (report *reconcile.Report) {
	t.Helper()
	wait.For(t, "the lock of the killed process to be released", func() bool {
		var err error
		report, err = newReconciler(t, f.config(), f.conn, f.db).Reconcile(t.Context(), scope, func(int, int) {})
		if err != nil && !errors.Is(err, reconcile.ErrBusy) {
			t.Fatal(err)
		}
		return err == nil
	})
	return report
}

// inserting lands visits as two sinks would, each batch under the shared sink lock; stop returns how many.
func (f *fixture) inserting(t *testing.T) (stop func() int64) {
	ctx, cancel := context.WithCancel(t.Context())
	var inserted atomic.Int64
	var sinks sync.WaitGroup
	for partition := range 2 {
		sinks.Go(func() {
			pace := time.NewTicker(500 * time.Millisecond)
			defer pace.Stop()
			for batch := 0; ctx.Err() == nil; batch++ {
				<-pace.C
				hold, err := f.db.LockSinksShared(t.Context(), 0)
				if err != nil {
					continue // a killed process still has the exclusive lock
				}
				err = f.conn.Exec(t.Context(),
					fmt.Sprintf(
						`INSERT INTO visits (organization_id, brand_id, day, id, log_topic, log_partition, log_offset,
							at, event, platform, host, path)
					SELECT toUUID('00000000-0000-0000-0000-000000000001'),
					toUUID('00000000-0000-0000-0000-000000000001'), toDate('2026-03-05') + number %% 20,
						generateUUIDv7(number), 'live', %d, %d + number, now64(3), 'view', 'chatgpt', 'a.example',
						'/' || toString(number %% 5)
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
