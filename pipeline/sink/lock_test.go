package sink_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/postgres"
)

// open is where the batches begin that a group has planned and not committed.
func (w *environment) open(t *testing.T) (first []int64) {
	t.Helper()
	positions, err := consume.Positions(t.Context(), producer.Connection{Brokers: w.brokers}, w.group, w.topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range positions {
		if p.Plan != nil {
			first = append(first, p.Committed)
		}
	}
	return first
}

func (w *environment) lockExclusive(t *testing.T) *postgres.ExclusiveSinkLock {
	t.Helper()
	stop, err := w.control.LockSinksExclusive(t.Context(), 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

// While another process holds the sink lock exclusively, nothing is planned and nothing lands. It cannot take the lock
// in the middle of a batch.
func TestStoppedSinksPlanNothing(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	w.withControlPlane(t)
	w.append(t, answers(t, 0, 30)...)
	stop := w.lockExclusive(t)
	target := &halting[sink.Answer]{Target: w.sink(t), entered: make(chan struct{}), leave: make(chan struct{})}
	w.consume(t, target, small, func(c *consume.Consumer[sink.Answer]) bool {
		if c.Ready(t.Context()) != nil || !w.lockAwaited(t) {
			return false
		}
		if open := w.open(t); len(open) != 0 {
			t.Errorf("open while the lock is held: %v", open)
		}
		if err := stop.Release(); err != nil {
			t.Error(err)
		}
		<-target.entered
		if _, err := w.control.LockSinksExclusive(t.Context(), 0, 50*time.Millisecond); !errors.Is(err,
			postgres.ErrSinksBusy) {
			t.Errorf("locked in the middle of a batch: %v", err)
		}
		if open := w.open(t); !slices.Equal(open, []int64{0}) {
			t.Errorf("open in the middle of the first batch: %v", open)
		}
		close(target.leave)
		wait.For(t, "the records to land", func() bool { return w.landed(29)(c) })
		return true
	})
	w.wantEachOnce(t, 30)
	if err := w.lockExclusive(t).Release(); err != nil {
		t.Error(err)
	}
}

// lockAwaited reports whether a process waits for the sink lock.
func (w *environment) lockAwaited(t *testing.T) bool {
	t.Helper()
	var n int
	err := w.control.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT "+
		"granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// halting stops in its first batch.
type halting[T any] struct {
	consume.Target[T]
	begun          atomic.Bool
	entered, leave chan struct{}
}

func (h *halting[T]) Insert(ctx context.Context, b *consume.Batch[T], checkOwnership func() error) error {
	if h.begun.CompareAndSwap(false, true) {
		close(h.entered)
		<-h.leave
	}
	return h.Target.Insert(ctx, b, checkOwnership)
}

// A sink lock that is lost before the plan lets another process take it exclusively, which sees no plan. The batch that
// is planned meanwhile is inserted only after that process has released it.
func TestABatchWhoseLockWasLostWaits(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	dsn := w.withControlPlane(t)
	w.append(t, answers(t, 0, 10)...)
	var stop atomic.Pointer[postgres.ExclusiveSinkLock]
	w.lock = func(ctx context.Context, shard int) (consume.SinkLock, error) {
		h, err := w.control.LockSinksShared(ctx, shard)
		if err == nil && stop.Load() == nil { // between the first lock and its plan
			execPostgres(t, dsn, "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' "+
				"AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
			stop.Store(w.lockExclusive(t))
			if open := w.open(t); len(open) != 0 {
				t.Errorf("open before anything was planned: %v", open)
			}
		}
		return h, err
	}
	w.consume(t, w.sink(t), small, func(c *consume.Consumer[sink.Answer]) bool {
		if stop.Load() == nil || len(w.open(t)) == 0 || !w.lockAwaited(t) {
			return false
		}
		if n := w.number(t, "SELECT count() FROM answers"); n != 0 {
			t.Errorf("%d answers landed while the lock was held", n)
		}
		if err := errors.Join(stop.Load().Held(t.Context()), stop.Load().Release()); err != nil {
			t.Error(err)
		}
		wait.For(t, "the records to land", func() bool { return w.landed(9)(c) })
		return true
	})
	w.wantEachOnce(t, 10)
}

// Records of deleted brands and organizations are dropped, and no others.
func TestRecordsOfWhatWasDeletedAreDropped(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	dsn := w.withControlPlane(t)
	organizations := []uuid.UUID{{1}, {2}}
	remove := func(kind string, id, organization uuid.UUID) {
		execPostgres(t, dsn, "INSERT INTO private.tombstones (kind, id, organization_id) VALUES ($1, $2, $3)", kind,
			id, organization)
	}
	answerOf := func(n, organization int, brand uuid.UUID) *event.Answer {
		a := answer(n)
		a.OrganizationID, a.Brand.ID = organizations[organization], brand
		return a
	}
	registry := prometheus.NewRegistry()
	s := w.sinkWith(t, registry)
	v := sink.NewVisits(w.conn, 10, registry, testkit.Log(t))
	remove("brand", uuid.UUID{11}, organizations[0])
	remove("organization", organizations[1], organizations[1])
	lock, err := w.control.LockSinksShared(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	batch := w.batch(t, s, 0, 0, answerOf(0, 0, uuid.UUID{11}), answerOf(1, 0, uuid.UUID{12}),
		answerOf(2, 1, uuid.UUID{13}), answerOf(3, 0, uuid.UUID{12}), reread(answerOf(4, 0, uuid.UUID{11}), 2))
	batch.Lock = lock
	if err := s.Insert(t.Context(), batch, isOwner); err != nil {
		t.Fatal(err)
	}
	w.wantEachOnce(t, 2)
	wantMetric(t, registry, "answerscope_sink_records_total", "answers",
		map[string]float64{"inserted": 2, "deleted": 3})

	visited := &consume.Batch[sink.Visit]{Topic: w.topic + "-visits", Last: 2, Lock: lock}
	for i, brand := range []uuid.UUID{{11}, {12}, {11}} {
		visited.Items = append(visited.Items, read(t, v, i, brand, day))
	}
	if err := v.Insert(t.Context(), visited, isOwner); err != nil {
		t.Fatal(err)
	}
	w.wantVisits(t, 1)
	wantMetric(t, registry, "answerscope_sink_records_total", "visits", map[string]float64{"inserted": 1, "deleted": 2})
}

// read is a visit of a brand as a sink reads it.
func read(t *testing.T, s *sink.Visits, n int, brand uuid.UUID, at time.Time) sink.Visit {
	t.Helper()
	v := visit(brand, n)
	v.OrganizationID, v.At = uuid.UUID{1}, event.At(at)
	value, err := event.EncodeVisit(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	item, _, err := s.Decode(s.Version(), consume.Record{Topic: "visits", Offset: int64(n), Value: value, Time: day})
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// A record of a frozen month is kept with its reason, byte for byte, whether its id has landed or not. A reread of it
// has nothing that would be lost.
func TestRecordsOfAFrozenMonthAreDeadLetters(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	dsn := w.withControlPlane(t)
	w.append(t, answers(t, 0, 30)...) // answer n is of month n%3: March, April, May
	w.consume(t, w.sink(t), small, w.landed(29))
	execPostgres(t, dsn, "INSERT INTO private.frozen_months (topic, month) VALUES ('answers', '2026-04-01'), "+
		"('visits', '2026-05-01')")
	before := w.number(t, "SELECT sum(cityHash64(toString(tuple(*)))) FROM answers WHERE toYYYYMM(day) = 202604")
	w.append(t, answers(t, 27, 36)...) // 27 to 29 again, six new ones: 28, 31, 34 are of April
	w.append(t, encoded(t, reread(answer(1), 5)), encoded(t, reread(answer(3), 5)), []byte("garbage"),
		answers(t, 60, 61)[0])
	registry := prometheus.NewRegistry()
	w.consume(t, w.sinkWith(t, registry), small, w.landed(42))
	if n := w.number(t, "SELECT count() FROM answers WHERE sign = 1 AND revision = 1"); n != 35 {
		t.Errorf("%d answers, want 30 and 32, 33, 35 of other months, 30 and 60", n)
	}
	if after := w.number(t, "SELECT sum(cityHash64(toString(tuple(*)))) FROM answers WHERE toYYYYMM(day) = "+
		"202604"); after != before {
		t.Error("the frozen month has changed")
	}
	var letters []string
	if err := w.conn.QueryRow(t.Context(), "SELECT groupArray(letter) FROM (SELECT concat(toString(log_offset), ' "+
		"', reason) AS letter FROM deadletters ORDER BY log_offset)").Scan(&letters); err != nil {
		t.Fatal(err)
	}
	if want := []string{"31 month frozen", "34 month frozen", "37 month frozen",
		"41 malformed"}; !slices.Equal(letters, want) {
		t.Errorf("dead letters %q, want %q", letters, want)
	}
	var value string
	if err := w.conn.QueryRow(t.Context(), "SELECT value FROM deadletters WHERE log_offset = "+
		"34").Scan(&value); err != nil || value != string(encoded(t, answer(31))) {
		t.Errorf("kept %.80q, %v", value, err)
	}
	wantMetric(t, registry, "answerscope_sink_records_total", "answers",
		map[string]float64{"inserted": 5, "duplicate": 2, "outdated": 1, "corrected": 1})
}

// The same of visits, which are read in larger batches.
func TestVisitsOfAFrozenMonthAreDeadLetters(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	dsn := w.withControlPlane(t)
	execPostgres(t, dsn, fmt.Sprintf("INSERT INTO private.frozen_months (topic, month) VALUES ('visits', '%s')",
		day.Format("2006-01")+"-01"))
	w.append(t, visits(t, lumen, upTo(0, 20)...)...)
	run(t, w, w.visitSink(t, 10), small, func(*consume.Consumer[sink.Visit]) bool {
		return w.number(t,
			"SELECT count() FROM deadletters") == 20
	})
	w.wantVisits(t, 0)
}

// A brand is deleted between a try that came half-way and its replay, which then has fewer rows under the same token.
// The rows of other brands are there once.
func TestABrandDeletedBetweenTwoTriesTakesNoOtherAlong(t *testing.T) { //nolint:tparallel // its parts share a warehouse
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	dsn := w.withControlPlane(t)
	lock, err := w.control.LockSinksShared(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	tables := []string{"entity_prompt_daily", "answers", "citation_daily", "log_progress"}
	for n, target := range tables[:testkit.Draws(1, len(tables))] {
		t.Run(target, func(t *testing.T) {
			s := w.sink(t)
			remaining, deleted := uuid.UUID{2, byte(n)}, uuid.UUID{1, byte(n)}
			var records []*event.Answer
			for i := range 12 { // over three months
				a := answer(i)
				a.Brand.ID = remaining
				if i%4 == 1 {
					a.Brand.ID = deleted
				}
				records = append(records, a)
			}
			batch := w.batch(t, s, int32(n), 0, records...)
			batch.Lock = lock
			repair := w.failBelow(t, target)
			if err := s.Insert(t.Context(), batch, isOwner); err == nil {
				t.Fatal("a view that throws let a batch pass")
			}
			repair()
			execPostgres(t, dsn, "INSERT INTO private.tombstones (kind, id, organization_id) VALUES ('brand', $1, $1)",
				deleted)
			for range 2 {
				if err := s.Insert(t.Context(), batch, isOwner); err != nil {
					t.Fatal(err)
				}
			}
			questions := map[string]string{}
			for _, question := range []string{
				"SELECT count() FROM answers", "SELECT toUInt64(sum(answers)) FROM answer_daily",
				"SELECT toUInt64(sum(answers)) FROM entity_prompt_daily",
				"SELECT count() FROM citations", "SELECT toUInt64(sum(citations)) FROM citation_daily",
				"SELECT count() FROM shopping_cards",
			} {
				questions[question] = fmt.Sprintf("%s WHERE brand_id = '%s'", question, remaining)
			}
			w.reconcile(t)
			w.wantNumbers(t, 9, questions)
		})
	}
}
