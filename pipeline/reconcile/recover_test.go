package reconcile_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// The parts of March are broken on disk, one of each table at a time, among them one with the first rows of answers
// that
// were corrected since, and one with the corrections. What the log has of them comes back as it was, and nothing else
// changes; sinks run all the while.
func TestRowsOfABrokenPartComeBack(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	p.fill(t)
	before, parts := p.contents(t), p.parts(t)
	broken := map[string][]part{}
	for _, next := range parts {
		broken[next.Table] = append(broken[next.Table], next)
	}
	want := map[string][]reconcile.Recovered{ // of the parts of each table
		"answers": {{Read: 31, Present: 11, Recovered: 20}, {Read: 31, Present: 21, Recovered: 10}},
		"visits":  {{Read: 25, Present: 15, Recovered: 10}, {Read: 25, Present: 15, Recovered: 10}},
		"crawls":  {{Read: 20, Recovered: 20}},
	}
	for table, results := range want {
		if len(broken[table]) != len(results) {
			t.Fatalf("%d parts of %s, want %d", len(broken[table]), table, len(results))
		}
	}
	for round := range 2 {
		for table := range want {
			if round < len(broken[table]) {
				p.breakPart(t, broken[table][round])
			}
		}
		lost := p.contents(t)
		for table, results := range want {
			if round >= len(results) {
				continue
			}
			if lost[table] == before[table] {
				t.Fatalf("%+v was not lost", broken[table][round])
			}
			p.mustRecover(t, table, results[round])
		}
		if after := p.contents(t); !maps.Equal(after, before) {
			t.Errorf("after round %d: %v, want %v", round, after, before)
		}
	}
	for table, read := range map[string]int{"answers": 31, "visits": 25, "crawls": 20} {
		p.mustRecover(t, table, reconcile.Recovered{Read: read, Present: read})
	}
	listed, err := clickhouse.BrokenParts(t.Context(), p.conn)
	if err != nil || len(listed) != len(parts) || listed[0].Month != march.String() {
		t.Errorf("broken parts %+v, %v", listed, err)
	}
	report, err := newReconciler(t, p.cfg, p.conn, p.db).Reconcile(t.Context(), reconcile.Scope{}, func(int, int) {})
	if err != nil || len(report.Findings) != 0 {
		t.Errorf("reconcile: %s, %v", findings(report), err)
	}
}

// A lost fact that came once more is there once: a sink that has the id of a visit in memory drops it, and an answer
// that landed again is not put back beside that. Nothing comes back of a deleted brand, and a frozen month is refused.
func TestWhatIsNotToComeBack(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	p.append(t, "visits", 40, upTo(t, 0, 40, p.visit)...)
	p.append(t, "answers", 10, upTo(t, 0, 10, func(t *testing.T, n int) []byte { return p.answer(t, n, 1) })...)
	for _, broken := range p.parts(t) {
		p.breakPart(t, broken)
	}
	p.append(t, "visits", 20, p.visit(t, 4))
	p.append(t, "answers", 1, p.answer(t, 4, 1))
	p.mustRecover(t, "answers", reconcile.Recovered{Read: 11, Present: 2, Recovered: 9})
	if n := p.number(t, "(SELECT count() + 100 * uniqExact(id) FROM answers)"); n != 1010 {
		t.Errorf("answers: %d, want 10 with as many ids", n)
	}
	if _, err := p.db.Exec(t.Context(), "DELETE FROM public.brands WHERE slug = 'lumen'"); err != nil {
		t.Fatal(err)
	}
	p.mustRecover(t, "visits", reconcile.Recovered{Read: 21})

	lock, err := p.db.LockSinksExclusive(t.Context(), 0, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Freeze(t.Context(), "visits", clickhouse.Month(202604).First()); err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.recover(t, "visits"); !errors.Is(err, sink.ErrFrozen) {
		t.Errorf("of a frozen month: %v", err)
	}
}

// While a recovery waits for the sinks, one of them lands an answer once more that the recovery has found missing: it
// is there once.
func TestARecoveryBesideSinks(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	p.append(t, "answers", 10, upTo(t, 0, 10, func(t *testing.T, n int) []byte { return p.answer(t, n, 1) })...)
	for _, broken := range p.parts(t) {
		p.breakPart(t, broken)
	}
	batch, err := p.db.LockSinksShared(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	p.cfg.SetTimes(100*time.Millisecond, 3*time.Second, 100*time.Millisecond, 1000)
	recovered, failed := reconcile.Recovered{}, make(chan error, 1)
	go func() {
		var err error
		recovered, err = p.recoverAt(t.Context(), t, p.conn, p.db, "answers")
		failed <- err
	}()
	wait.For(t, "the recovery to wait for the sinks", func() (waits bool) {
		const waiting = "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND mode = " +
			"'ExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
		if err := p.db.QueryRow(t.Context(), waiting).Scan(&waits); err != nil {
			t.Fatal(err)
		}
		return waits
	})
	p.append(t, "answers", 1, p.answer(t, 4, 1))
	batch.Release()
	if err := <-failed; err != nil || recovered.Recovered != 9 {
		t.Errorf("%+v, %v; want 9 recovered", recovered, err)
	}
	if n := p.number(t, "(SELECT count() + 100 * uniqExact(id) FROM answers)"); n != 1010 {
		t.Errorf("answers: %d, want 10 with as many ids", n)
	}
}

// Records that have expired on the log do not come back, and the result has the time from which the log is complete.
func TestARecoveryOfAnExpiredLog(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	p.append(t, "visits", 10, upTo(t, 0, 10, p.visit)...)
	p.append(t, "visits", 20, upTo(t, 10, 20, p.visit)...)
	began := time.Now()
	for _, broken := range p.parts(t) {
		p.breakPart(t, broken)
	}
	for _, c := range []struct {
		expired int64
		want    reconcile.Recovered
	}{{15, reconcile.Recovered{Read: 5, Recovered: 5}}, {20, reconcile.Recovered{}}} {
		p.expire(t, "visits", c.expired)
		got, err := p.recover(t, "visits")
		begins := got.LogBegins
		got.LogBegins = time.Time{}
		if err != nil || got != c.want || begins.IsZero() || begins.Before(began) != (c.expired < 20) {
			t.Errorf("%d records expired: %+v from %s on, %v; want %+v", c.expired, got, begins, err, c.want)
		}
	}
	if n := p.number(t, "(SELECT count() FROM visits WHERE log_offset >= 15)"); n != 5 {
		t.Errorf("%d visits, want 5", n)
	}
}

// expire removes the records of a topic before an offset from the log.
func (p *pipeline) expire(t *testing.T, topic string, before int64) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(p.brokers...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: p.prefix + topic,
		Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Offset: before}}}}
	answer, err := request.RequestWith(t.Context(), client)
	if err != nil || answer.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatal(answer, err)
	}
}

// After a recovery that is killed after any of its writes to the warehouse, the next one leaves every row once. In
// `make test` it is killed after the first, the fifth and the ninth.
func TestARecoveryIsKilled(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	p.append(t, "visits", 40, upTo(t, 0, 40, p.visit)...)
	before := p.contents(t)
	step, least := 4, 2
	if testkit.All {
		step, least = 1, 10
	}
	kills, killed := 0, true
	for writes := 1; killed; writes += step {
		for _, broken := range p.parts(t) {
			p.breakPart(t, broken)
		}
		if killed = p.recoverUntilKilled(t, writes); killed {
			kills++
		}
		var err error
		wait.For(t, "the locks of the killed process to be released", func() bool {
			_, err = p.recover(t, "visits")
			return !errors.Is(err, reconcile.ErrBusy)
		})
		if after := p.contents(t); err != nil || !maps.Equal(after, before) {
			t.Fatalf("killed after %d writes: %v, want %v, %v", writes, after, before, err)
		}
	}
	if kills < least {
		t.Errorf("%d kills, want at least %d", kills, least)
	}
}

// recoverUntilKilled recovers visits in a process that is killed after so many writes to the warehouse; false when it
// had ended before.
func (p *pipeline) recoverUntilKilled(t *testing.T, writes int) (killed bool) {
	t.Helper()
	warehouse, control := testkit.NewProxy(t, p.warehouse.DSN), testkit.NewProxy(t, p.control.DSN)
	warehouseConfig, controlConfig := p.warehouse, p.control
	warehouseConfig.DSN, controlConfig.DSN = warehouse.DSN, control.DSN
	conn, err := clickhouse.Open(t.Context(), warehouseConfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // an error, since the proxy was cut
	db := store.OpenControlPlane(t, controlConfig)
	warehouse.CutAfter(writes, control)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	done := make(chan error, 1)
	go func() {
		_, err := p.recoverAt(ctx, t, conn, db, "visits")
		done <- err
	}()
	ended := false
	wait.For(t, "the recovery to end or its process to be killed", func() bool {
		select {
		case err = <-done:
			ended = true
		default:
		}
		return ended || warehouse.IsCut()
	})
	if !warehouse.IsCut() && err != nil {
		t.Fatal(err)
	}
	return warehouse.IsCut()
}
