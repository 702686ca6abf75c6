package sink_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// forgetTokens lets every table forget a token after five others.
func (w *environment) forgetTokens(t *testing.T) {
	t.Helper()
	tables, err := w.conn.Query(t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase() AND create_table_query LIKE '%non_replicated_deduplication_window%'")
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	n := 0
	for ; tables.Next(); n++ {
		var name string
		if err := tables.Scan(&name); err != nil {
			t.Fatal(err)
		}
		w.exec(t, "ALTER TABLE "+name+" MODIFY SETTING non_replicated_deduplication_window = 5")
	}
	if err := tables.Err(); err != nil || n < 8 {
		t.Fatalf("%d tables, %v", n, err)
	}
}

// landOthers lands 12 answers of partition 1 in batches of six, of three months each: then no table has an earlier token.
func (w *environment) landOthers(t *testing.T, first int64, from int) {
	t.Helper()
	s := w.sink(t)
	for n := from; n < from+12; n += 6 {
		b := w.batch(t, s, 1, first, answer(n), answer(n+1), answer(n+2), answer(n+3), answer(n+4), answer(n+5))
		if err := s.Land(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
		first += 6
	}
}

// Whatever an earlier try has left in whichever table, a batch of an expired plan is counted once in all of them when its
// months have been reconciled, and as often as it is repeated.
func TestAnExpiredBatchIsCountedOnce(t *testing.T) {
	t.Parallel()
	for _, left := range []string{"all", "all, not expired", "nothing", "answers", "citations", "log_progress"} {
		t.Run(left, func(t *testing.T) {
			t.Parallel()
			w := newEnvironment(t, nil, 0)
			w.forgetTokens(t)
			s := w.sink(t)
			b := w.logged(t, s, 0, answer(0), answer(1), answer(3), answer(4), answer(6)) // of two months
			switch left {
			case "nothing":
			case "all", "all, not expired":
				if err := s.Land(t.Context(), b, isOwner); err != nil {
					t.Fatal(err)
				}
			default: // the table has the rows, and those after it have none
				repair := w.failBelow(t, left)
				if err := s.Land(t.Context(), b, isOwner); err == nil {
					t.Fatal("it landed")
				}
				repair()
			}
			w.landOthers(t, 0, 30)
			b.Plan.Expired, b.Plan.Since = left != "all, not expired", time.Now().Add(-time.Hour).UnixMilli()
			if err := s.Land(t.Context(), b, isOwner); err != nil {
				t.Fatal(err)
			}
			if !b.Plan.Expired { // what goes wrong else
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
			if err := s.Land(t.Context(), b, isOwner); err != nil { // again
				t.Fatal(err)
			}
			w.wantEachOnce(t, 29)
			if last, ok, err := s.LastOffset(t.Context(), w.topic, 0); last != 4 || !ok || err != nil {
				t.Errorf("position %d, %v, %v; want 4", last, ok, err)
			}
		})
	}
}

// A server that was frozen goes on with an insert that its client gave up, after the same batch was inserted with an
// expired plan: both have one token, of which the server takes one.
func TestAnExpiredBatchWhoseFirstInsertIsStillUnderWay(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	s := w.sink(t)
	b := w.logged(t, s, 0, answer(0), answer(1), answer(3))
	for _, expired := range []bool{true, false} {
		b.Plan.Expired = expired
		if err := s.Land(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
	}
	w.wantEachOnce(t, 3)
}

// A plan that expires while its batch waits is seen by the check before the insert.
func TestABatchThatExpiresRightBeforeItsInsert(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	w.forgetTokens(t)
	s := w.sink(t)
	b := w.logged(t, s, 0, answer(0), answer(1), answer(3))
	if err := s.Land(t.Context(), b, isOwner); err != nil {
		t.Fatal(err)
	}
	w.landOthers(t, 0, 30)
	expire := func() error {
		b.Plan.Expired = true
		return nil
	}
	if err := s.Land(t.Context(), b, expire); err != nil {
		t.Fatal(err)
	}
	w.reconcile(t)
	w.wantEachOnce(t, 15)
}

// A correction is two rows of one record.
func TestAnExpiredCorrectionIsCountedOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	w.forgetTokens(t)
	s := w.sink(t)
	if err := s.Land(t.Context(), w.logged(t, s, 0, answer(0), answer(1)), isOwner); err != nil {
		t.Fatal(err)
	}
	b := w.logged(t, s, 2, reread(answer(0), 7), answer(3), reread(answer(1), 7))
	for n := range 2 {
		if n == 1 { // an insert that was killed between two months
			w.exec(t, "DELETE FROM answers WHERE log_partition = 0 AND log_offset >= 2 AND toYYYYMM(day) = 202604")
		}
		if err := s.Land(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
		w.landOthers(t, int64(12*n), 30+12*n)
		b.Plan.Expired = true
	}
	if err := s.Land(t.Context(), b, isOwner); err != nil {
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
func TestAnExpiredBatchThatAViewRefused(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	w.forgetTokens(t)
	s := w.sink(t)
	repair := w.refuse(t, "citations")
	b := w.logged(t, s, 0, answer(0), poison(1), answer(2))
	if err := s.Land(t.Context(), b, isOwner); !errors.Is(err, consume.ErrRefused) {
		t.Fatalf("Land() = %v, want a refusal", err)
	}
	repair()
	w.landOthers(t, 0, 30)
	b.Plan.Expired = true
	for range 2 {
		if err := s.Land(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
	}
	w.reconcile(t)
	w.wantEachOnce(t, 15)
}

func TestAnExpiredBatchOfVisitsIsCountedOnce(t *testing.T) {
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
		if err := s.Land(t.Context(), b, isOwner); (err != nil) != half {
			t.Fatal(err)
		}
		repair()
		for n := range 6 {
			if err := w.land(t, s, visitBatch{brand: lumen, partition: 1, first: first*10 + int64(n), visits: []int{100 + int(first)*10 + n}}); err != nil {
				t.Fatal(err)
			}
		}
		b.Plan.Expired = true
		if err := w.visitSink(t, 10).Land(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
	}
	w.reconcile(t)
	w.wantVisits(t, 18)
}

// A plan says when it was made. Where that is long ago, its token is not relied on.
func TestAnExpiredPlanIsCountedOnce(t *testing.T) {
	t.Parallel()
	brokers := testkit.Kafka(t)
	for _, metadata := range []string{
		fmt.Sprintf(`{"last":6,"shard":0,"extract_version":1,"since":%d}`, time.Now().Add(-11*time.Minute).UnixMilli()),
		fmt.Sprintf(`{"last":6,"shard":0,"extract_version":1,"since":%d}`, time.Now().Add(time.Hour).UnixMilli()), // by a clock that is wrong
		fmt.Sprintf(`{"last":6,"shard":0,"extract_version":1,"since":%d,"expired":true}`, time.Now().UnixMilli()),
	} {
		t.Run(metadata, func(t *testing.T) {
			t.Parallel()
			w := newEnvironment(t, brokers, 1)
			w.forgetTokens(t)
			w.append(t, answers(t, 0, 10)...)
			c := &crashing[sink.Answer]{Target: w.sink(t), batch: 1, after: true, crashed: make(chan struct{})}
			w.consume(t, c, small, c.hasCrashed)
			w.landOthers(t, 0, 30)
			w.plan(t, 0, metadata)
			w.consume(t, w.sink(t), small, w.landed(9))
			if suspects, err := clickhouse.Suspects(t.Context(), w.conn); err != nil || len(suspects) != 3 {
				t.Errorf("%d suspects, %v, want three months", len(suspects), err)
			}
			w.wantEachOnce(t, 22)
			w.wantOpen(t)
		})
	}
}

// plan commits an offset of partition 0 with its metadata, for a group without members.
func (w *environment) plan(t *testing.T, first int64, metadata string) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	wait.For(t, "the group", func() bool {
		answer, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
			GroupID: w.group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{w.topic: {{Partition: 0, Offset: first, Metadata: metadata}}},
		})
		return err == nil && answer.Topics[w.topic][0].Error == nil
	})
}

// On a shard it is looked up in the shard's own part, and its rows land there.
func testAnExpiredBatchOnAShard(t *testing.T, w *environment) {
	target := w.sink(t)
	b := w.logged(t, w.sink(t), 0, answer(0), answer(1), answer(2))
	b.Plan.Shard = 1
	if err := target.Land(t.Context(), b, isOwner); err != nil {
		t.Fatal(err)
	}
	shard, err := w.conn.Shard(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := shard.Exec(t.Context(), "DELETE FROM "+shard.Local("answers")+" WHERE toYYYYMM(day) = 202604"); err != nil {
		t.Fatal(err)
	}
	b.Plan.Expired = true
	for range 2 {
		if err := target.Land(t.Context(), b, isOwner); err != nil {
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
