package sink_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// forgetful lets every table forget a token after five others.
func (w *world) forgetful(t *testing.T) {
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

// others are 12 answers that partition 1 lands in batches of six, of three months
// each: no table knows an earlier token then.
func (w *world) others(t *testing.T, first int64, from int) {
	t.Helper()
	s := w.sink(t)
	for n := from; n < from+12; n += 6 {
		b := w.batch(t, s, 1, first, answer(n), answer(n+1), answer(n+2), answer(n+3), answer(n+4), answer(n+5))
		if err := s.Land(t.Context(), b, ours); err != nil {
			t.Fatal(err)
		}
		first += 6
	}
}

// Whatever a try of long ago has left in whichever table, a late batch is counted once
// in all of them when its months have been reconciled, and as often as it is repeated.
func TestALateBatchIsCountedOnce(t *testing.T) {
	t.Parallel()
	for _, left := range []string{"all", "nothing", "answers", "citations", "log_progress"} {
		for _, late := range []bool{true, false} {
			if !late && left != "all" {
				continue
			}
			t.Run(fmt.Sprintf("%s, late %v", left, late), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil, 0)
				w.forgetful(t)
				s := w.sink(t)
				b := w.logged(t, s, 0, answer(0), answer(1), answer(2), answer(3), answer(4))
				switch left {
				case "nothing":
				case "all":
					if err := s.Land(t.Context(), b, ours); err != nil {
						t.Fatal(err)
					}
				default: // the table took it, and what comes after it did not
					w.breakAt(t, left)
					if err := s.Land(t.Context(), b, ours); err == nil {
						t.Fatal("it landed")
					}
					w.mend(t)
				}
				w.others(t, 0, 30)
				b.Plan.Expired, b.Plan.Since = late, time.Now().Add(-time.Hour).UnixMilli()
				if err := s.Land(t.Context(), b, ours); err != nil {
					t.Fatal(err)
				}
				if !late { // what this is about
					if n := w.number(t, eachOnce["answers"]); n != 22 {
						t.Errorf("%d answers, want 17 and 5 twice: the tables remember", n)
					}
					return
				}
				if got := w.reconcile(t); got != 3 {
					t.Errorf("%d suspects, want three months", got)
				}
				w.wantEachOnce(t, 17)
				w.others(t, 12, 60)
				if err := s.Land(t.Context(), b, ours); err != nil { // before the reconciler, and again
					t.Fatal(err)
				}
				w.wantEachOnce(t, 29)
				if last, ok, err := s.Position(t.Context(), w.topic, 0); last != 4 || !ok || err != nil {
					t.Errorf("position %d, %v, %v; want 4", last, ok, err)
				}
			})
		}
	}
}

// A correction is two rows of one record.
func TestALateCorrectionIsCountedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, 0)
	w.forgetful(t)
	s := w.sink(t)
	if err := s.Land(t.Context(), w.logged(t, s, 0, answer(0), answer(1)), ours); err != nil {
		t.Fatal(err)
	}
	b := w.logged(t, s, 2, reread(answer(0), 7), answer(3), reread(answer(1), 7))
	for n := range 2 {
		if n == 1 { // an insert that was killed between two months
			w.exec(t, "DELETE FROM answers WHERE log_partition = 0 AND log_offset >= 2 AND toYYYYMM(day) = 202604")
		}
		if err := s.Land(t.Context(), b, ours); err != nil {
			t.Fatal(err)
		}
		w.others(t, int64(12*n), 30+12*n)
		b.Plan.Expired = true
	}
	if err := s.Land(t.Context(), b, ours); err != nil {
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
func TestALateBatchThatAViewRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, 0)
	w.forgetful(t)
	s := w.sink(t)
	repair := w.refuse(t, "citations")
	b := w.logged(t, s, 0, answer(0), poison(1), answer(2))
	if err := s.Land(t.Context(), b, ours); !errors.Is(err, consume.ErrRefused) {
		t.Fatalf("Land() = %v, want a refusal", err)
	}
	repair()
	w.others(t, 0, 30)
	b.Plan.Expired = true
	for range 2 {
		if err := s.Land(t.Context(), b, ours); err != nil {
			t.Fatal(err)
		}
	}
	w.reconcile(t)
	w.wantEachOnce(t, 15)
}

func TestALateBatchOfVisitsIsCountedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, 0)
	w.forgetful(t)
	for _, half := range []bool{false, true} {
		s := w.visitSink(t, 10)
		first := int64(0)
		all := []*event.Visit{visit(lumen, 0), visit(lumen, 1), visit(lumen, 2)}
		if half {
			first, all = 3, []*event.Visit{visit(lumen, 3), visit(lumen, 4), visit(lumen, 5)}
			w.breakAt(t, "visits")
		}
		b := w.loggedVisits(t, s, first, all...)
		if err := s.Land(t.Context(), b, ours); (err != nil) != half {
			t.Fatal(err)
		}
		if half {
			w.mend(t)
		}
		for n := range 6 {
			if err := w.land(t, s, telling{brand: lumen, partition: 1, first: first*10 + int64(n), visits: []int{100 + int(first)*10 + n}}); err != nil {
				t.Fatal(err)
			}
		}
		b.Plan.Expired = true
		if err := w.visitSink(t, 10).Land(t.Context(), b, ours); err != nil {
			t.Fatal(err)
		}
	}
	w.reconcile(t)
	w.wantVisits(t, 18)
}

// A plan says when it was made, so that whoever finds it much later, or cannot tell,
// trusts no token.
func TestAPlanReplayedLateIsCountedOnce(t *testing.T) {
	t.Parallel()
	brokers := testkit.Kafka(t)
	for _, metadata := range []string{
		`{"last":6,"shard":0,"extract_version":1}`, // an earlier release's
		fmt.Sprintf(`{"last":6,"shard":0,"extract_version":1,"since":%d}`, time.Now().Add(-11*time.Minute).UnixMilli()),
		fmt.Sprintf(`{"last":6,"shard":0,"extract_version":1,"since":%d}`, time.Now().Add(time.Hour).UnixMilli()), // by a clock that is wrong
		fmt.Sprintf(`{"last":6,"shard":0,"extract_version":1,"since":%d,"expired":true}`, time.Now().UnixMilli()),
	} {
		t.Run(metadata, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, brokers, 1)
			w.forgetful(t)
			w.tell(t, answers(t, 0, 10)...)
			c := &crashing[sink.Answer]{Target: w.sink(t), batch: 1, after: true, crashed: make(chan struct{})}
			w.consume(t, c, small, func(*consume.Consumer[sink.Answer]) bool {
				select {
				case <-c.crashed:
					return true
				default:
					return false
				}
			})
			w.others(t, 0, 30)
			w.plan(t, 0, metadata)
			w.consume(t, w.sink(t), small, func(*consume.Consumer[sink.Answer]) bool {
				return w.number(t, "SELECT toUInt64(max(last_offset) + 1) FROM log_progress WHERE log_partition = 0") == 10
			})
			if got := w.reconcile(t); got != 3 {
				t.Errorf("%d suspects, want three months", got)
			}
			w.wantEachOnce(t, 22)
			w.wantOpen(t)
		})
	}
}

// plan commits an offset of partition 0 with its metadata, for a group without members.
func (w *world) plan(t *testing.T, first int64, metadata string) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	until(t, func() bool {
		answer, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
			GroupID: w.group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{w.topic: {{Partition: 0, Offset: first, Metadata: metadata}}},
		})
		return err == nil && answer.Topics[w.topic][0].Error == nil
	})
}

// On a shard it is looked up in the shard's own part, and its rows land there.
func TestALateBatchOnAShard(t *testing.T) {
	t.Parallel()
	w := newShardedWorld(t, 0)
	target := w.sink(t)
	b := w.logged(t, w.sink(t), 0, answer(0), answer(1), answer(2))
	b.Plan.Shard = 1
	if err := target.Land(t.Context(), b, ours); err != nil {
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
		if err := target.Land(t.Context(), b, ours); err != nil {
			t.Fatal(err)
		}
		if got := w.here(t, 1); got != 3 {
			t.Errorf("%d answers on shard 1, want 3", got)
		}
	}
	if got, err := clickhouse.Suspects(t.Context(), w.conn); err != nil || len(got) != 3 {
		t.Errorf("%d suspects, %v; want three months", len(got), err)
	}
	if last, ok, err := target.Position(t.Context(), w.topic, 0); last != 2 || !ok || err != nil {
		t.Errorf("position %d, %v, %v; want 2", last, ok, err)
	}
}
