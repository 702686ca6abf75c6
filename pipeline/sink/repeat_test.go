package sink_test

import (
	"errors"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// forgetTokens lets every table forget a token after five others.
func (w *environment) forgetTokens(t *testing.T) {
	t.Helper()
	for _, table := range w.tablesWithTokens(t) {
		w.exec(t, "ALTER TABLE "+table+" MODIFY SETTING non_replicated_deduplication_window = 5")
	}
}

// tablesWithTokens are those that remember them.
func (w *environment) tablesWithTokens(t *testing.T) (names []string) {
	t.Helper()
	tables, err := w.conn.Query(t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase() AND "+
		"create_table_query LIKE '%non_replicated_deduplication_window%'")
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	for tables.Next() {
		var name string
		if err := tables.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := tables.Err(); err != nil || len(names) < 8 {
		t.Fatalf("%d tables, %v", len(names), err)
	}
	return names
}

// landOthers lands 12 answers of partition 1 in batches of six, of three months each: then no table has an earlier
// token.
func (w *environment) landOthers(t *testing.T, first int64, from int) {
	t.Helper()
	s := w.sink(t)
	for n := from; n < from+12; n += 6 {
		b := w.batch(t, s, 1, first, answer(n), answer(n+1), answer(n+2), answer(n+3), answer(n+4), answer(n+5))
		if err := s.Insert(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
		first += 6
	}
}

// If an earlier attempt has left rows in any tables, even if no table has its token any more, a batch is counted
// once in all of them when its months have been reconciled, and as often as it is repeated.
func TestARepeatedBatchIsCountedOnce(t *testing.T) {
	t.Parallel()
	cases := []string{"all, not repeated", "nothing", "citations", "all", "answers", "log_progress"}
	for _, left := range cases[:testkit.Draws(3, len(cases))] {
		t.Run(left, func(t *testing.T) {
			t.Parallel()
			w := newEnvironment(t, nil, 0)
			w.forgetTokens(t)
			s := w.sink(t)
			b := w.logged(t, s, 0, answer(0), answer(1), answer(3), answer(4), answer(6)) // of two months
			switch left {
			case "nothing":
			case "all", "all, not repeated":
				if err := s.Insert(t.Context(), b, isOwner); err != nil {
					t.Fatal(err)
				}
			default: // the table has the rows, and those after it have none
				repair := w.failBelow(t, left)
				if err := s.Insert(t.Context(), b, isOwner); err == nil {
					t.Fatal("it landed")
				}
				repair()
			}
			w.landOthers(t, 0, 30)
			repeated := left != "all, not repeated"
			b.Repeated = repeated
			if err := s.Insert(t.Context(), b, isOwner); err != nil {
				t.Fatal(err)
			}
			if !repeated { // what goes wrong else
				if n := w.number(t, eachOnce["answers"]); n != 22 {
					t.Errorf("%d answers, want 17 and 5 twice: the tables still have the token", n)
				}
				return
			}
			if got := w.reconcile(t); got != 2 {
				t.Errorf("%d suspects, want two months", got)
			}
			w.wantEachOnce(t, 17)
			w.landOthers(t, 12, 60)
			if err := s.Insert(t.Context(), b, isOwner); err != nil { // again
				t.Fatal(err)
			}
			w.wantEachOnce(t, 29)
			if last, ok, err := s.LastOffset(t.Context(), w.topic, 0); last != 4 || !ok || err != nil {
				t.Errorf("position %d, %v, %v; want 4", last, ok, err)
			}
		})
	}
}

// A server that was frozen goes on with an insert that its client gave up, after the same batch was repeated: both have
// one token, of which the server takes one.
func TestARepeatedBatchWhoseFirstInsertIsStillUnderWay(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	s := w.sink(t)
	b := w.logged(t, s, 0, answer(0), answer(1), answer(3))
	for _, repeated := range []bool{true, false} {
		b.Repeated = repeated
		if err := s.Insert(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
	}
	w.wantEachOnce(t, 3)
}

// Of the first insert, one month has landed when the batch is repeated, and the others come only then.
func TestARepeatedBatchOfWhichMonthsAreStillUnderWay(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	s := w.sink(t)
	b := w.logged(t, s, 0, answer(0), answer(1), answer(2), answer(3), answer(4))
	if err := s.Insert(t.Context(), b, isOwner); err != nil {
		t.Fatal(err)
	}
	w.exec(t, "CREATE TABLE kept ENGINE = Memory AS SELECT * FROM answers")
	for _, table := range w.tablesWithTokens(t) {
		w.exec(t, "TRUNCATE TABLE "+table)
	}
	w.exec(t, "INSERT INTO answers SELECT * FROM kept WHERE toYYYYMM(day) = 202603 SETTINGS "+
		"insert_deduplication_token = '"+b.Token()+"'")
	for _, repeated := range []bool{true, false} {
		b.Repeated = repeated
		if err := s.Insert(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
		w.wantEachOnce(t, 5)
	}
}

// A correction is two rows of one record.
func TestARepeatedCorrectionIsCountedOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	w.forgetTokens(t)
	s := w.sink(t)
	if err := s.Insert(t.Context(), w.logged(t, s, 0, answer(0), answer(1)), isOwner); err != nil {
		t.Fatal(err)
	}
	b := w.logged(t, s, 2, reread(answer(0), 7), answer(3), reread(answer(1), 7))
	for n := range 2 {
		if n == 1 { // an insert that was killed between two months
			w.exec(t, "DELETE FROM answers WHERE log_partition = 0 AND log_offset >= 2 AND toYYYYMM(day) = 202604")
		}
		if err := s.Insert(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
		w.landOthers(t, int64(12*n), 30+12*n)
		b.Repeated = true
	}
	if err := s.Insert(t.Context(), b, isOwner); err != nil {
		t.Fatal(err)
	}
	w.reconcile(t)
	for question, want := range map[string]uint64{
		"SELECT toUInt64(sum(sign)) FROM answers":                                           27,
		"SELECT count() FROM answers":                                                       31,
		"SELECT toUInt64(sum(answers)) FROM answer_daily":                                   27,
		"SELECT count() FROM answers WHERE revision = 7 AND sign = 1 AND log_partition = 0": 2,
	} {
		if got := w.number(t, question); got != want {
			t.Errorf("%s: %d, want %d", question, got, want)
		}
	}
}

// A view has thrown on a batch, which is repeated when its tokens may be forgotten: the landing table says that it has
// landed, and what the views lack of it is rebuilt.
func TestARepeatedBatchThatAViewRefused(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	w.forgetTokens(t)
	s := w.sink(t)
	repair := w.refuse(t, "citations")
	b := w.logged(t, s, 0, answer(0), poison(1), answer(2))
	if err := s.Insert(t.Context(), b, isOwner); !errors.Is(err, consume.ErrRefused) {
		t.Fatalf("Insert() = %v, want a refusal", err)
	}
	repair()
	w.landOthers(t, 0, 30)
	b.Repeated = true
	for range 2 {
		if err := s.Insert(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
	}
	w.reconcile(t)
	w.wantEachOnce(t, 15)
}

func TestARepeatedBatchOfVisitsIsCountedOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	w.forgetTokens(t)
	for _, half := range []bool{false, true} {
		s, repair := w.visitSink(t, 10), func() {}
		first := int64(0)
		all := []*event.Visit{visit(lumen, 0), visit(lumen, 1), visit(lumen, 2)}
		if half {
			first, all = 3, []*event.Visit{visit(lumen, 3), visit(lumen, 4), visit(lumen, 5)}
			repair = w.failBelow(t, "visits")
		}
		b := w.loggedVisits(t, s, first, all...)
		if err := s.Insert(t.Context(), b, isOwner); (err != nil) != half {
			t.Fatal(err)
		}
		repair()
		for n := range 6 {
			if err := w.land(t, s, visitBatch{brand: lumen, partition: 1, first: first*10 + int64(n),
				visits: []int{100 + int(first)*10 + n}}); err != nil {
				t.Fatal(err)
			}
		}
		b.Repeated = true
		if err := w.visitSink(t, 10).Insert(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
	}
	w.reconcile(t)
	w.wantVisits(t, 18)
}

// A plan that is found open is looked up, also when no table knows its token any more.
func TestAReplayedPlanIsCountedOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	w.forgetTokens(t)
	w.append(t, answers(t, 0, 10)...)
	c := &crashing[sink.Answer]{Target: w.sink(t), batch: 1, after: true, crashed: make(chan struct{})}
	w.consume(t, c, full, c.hasCrashed) // a batch of three months
	w.landOthers(t, 0, 30)
	w.consume(t, w.sink(t), small, w.landed(9))
	if suspects, err := clickhouse.Suspects(t.Context(), w.conn); err != nil || len(suspects) != 3 {
		t.Errorf("%d suspects, %v, want three months", len(suspects), err)
	}
	w.wantEachOnce(t, 22)
	w.wantOpen(t)
}

// On a shard it is looked up in the shard's own part, and its rows land there.
func testARepeatedBatchOnAShard(t *testing.T, w *environment) {
	target := w.sink(t)
	b := w.logged(t, w.sink(t), 0, answer(0), answer(1), answer(2))
	b.Plan.Shard = 1
	if err := target.Insert(t.Context(), b, isOwner); err != nil {
		t.Fatal(err)
	}
	shard, err := w.conn.Shard(1)
	if err != nil {
		t.Fatal(err)
	}
	const window = " MODIFY SETTING non_replicated_deduplication_window = "
	for _, statement := range []string{window + "0", window + "50000",
		" DELETE WHERE toYYYYMM(day) = 202604 SETTINGS mutations_sync = 2"} {
		if err := shard.Exec(t.Context(), "ALTER TABLE "+shard.Local("answers")+statement); err != nil {
			t.Fatal(err)
		}
	}
	b.Repeated = true
	for range 2 {
		if err := target.Insert(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
		if got := w.here(t, 1); got != 3 {
			t.Errorf("%d answers on shard 1, want 3", got)
		}
	}
	if got, err := clickhouse.Suspects(t.Context(), w.conn); err != nil || len(got) != 3 {
		t.Errorf("%d suspects, %v; want three months", len(got), err)
	}
	if last, ok, err := target.LastOffset(t.Context(), w.topic, 0); last != 2 || !ok || err != nil {
		t.Errorf("position %d, %v, %v; want 2", last, ok, err)
	}
}
