package sink_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// refuse adds a view below a table, which throws for the rows of platform poison. Some tables have taken the insert by
// then, and others have not. repair drops the view.
func (w *environment) refuse(t *testing.T, below string) (repair func()) {
	t.Helper()
	w.exec(t, "CREATE MATERIALIZED VIEW refusing TO log_progress AS SELECT '' AS log_topic, 0 AS log_partition, "+
		"toInt64(throwIf(platform = 'poison')) AS last_offset FROM "+below)
	return func() { w.exec(t, "DROP VIEW refusing SYNC") }
}

// poison is an answer that the view refuses.
func poison(n int) *event.Answer {
	a := answer(n)
	a.Platform = "poison"
	return a
}

// logged is a batch of answers whose records can be fetched once more.
func (w *environment) logged(t *testing.T, s *sink.Answers, first int64,
	records ...*event.Answer) *consume.Batch[sink.Answer] {
	t.Helper()
	b := w.batch(t, s, 0, first, records...)
	b.FetchAll = func(_ context.Context, offsets []int64) ([]*consume.Record, error) {
		var all []*consume.Record
		for _, offset := range offsets {
			all = append(all, &consume.Record{
				Topic: w.topic, Offset: offset, Time: day, Key: []byte("key"), Value: encoded(t, records[offset-first]),
				Headers: []consume.Header{{Key: "from", Value: []byte("test")}},
			})
		}
		return all, nil
	}
	return b
}

// reconcile rebuilds the suspect months of all rollups, and returns how many there were. Nothing is inserted meanwhile.
func (w *environment) reconcile(t *testing.T) int {
	t.Helper()
	suspects, err := clickhouse.Suspects(t.Context(), w.conn)
	if err != nil {
		t.Fatal(err)
	}
	rollups, err := rollup.List(t.Context(), w.conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range suspects {
		for _, r := range rollups {
			if r.Source != w.conn.Local(s.Landing) {
				continue
			}
			b, err := r.Rebuild(t.Context(), w.conn, s.Month)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(b.Fill(t.Context(), 1), b.Replace(t.Context()), b.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := clickhouse.ClearSuspects(t.Context(), w.conn, suspects); err != nil {
		t.Fatal(err)
	}
	return len(suspects)
}

// letters are the topic's dead letters by their offsets.
func (w *environment) letters(t *testing.T) map[int64]clickhouse.DeadLetter {
	t.Helper()
	page, err := clickhouse.DeadLetterPage(t.Context(), w.conn, clickhouse.DeadLetterFilter{}, clickhouse.BeforeAll,
		1000)
	if err != nil {
		t.Fatal(err)
	}
	all := map[int64]clickhouse.DeadLetter{}
	for _, line := range page {
		if line.Topic != w.topic {
			continue
		}
		letters, err := clickhouse.DeadLettersAt(t.Context(), w.conn, line.Topic, line.Partition, []int64{line.Offset})
		if err != nil || len(letters) != 1 {
			t.Fatalf("%d dead letters at %s, %v", len(letters), line.LogPosition, err)
		}
		all[line.Offset] = letters[0]
	}
	return all
}

// A view throws on a record: its partition stops, and says which view it is. The other partition goes on. Once the view
// is repaired, the next start counts everything once, and nothing has become a dead letter.
func TestAViewThatThrowsStopsItsPartition(t *testing.T) {
	t.Parallel()
	views := []string{"shopping_cards", "answers"}
	for _, below := range views[:testkit.Draws(1, len(views))] {
		t.Run(below, func(t *testing.T) {
			t.Parallel()
			w := newEnvironment(t, testkit.Kafka(t), 2)
			w.registry = prometheus.NewRegistry()
			// A slow machine may cut a batch before the record.
			topic := regexp.QuoteMeta(w.topic)
			refused := regexp.MustCompile(topic + "/0 stopped: batch " + topic + "/0@[01]-[1-3] is refused by view ")
			repair := w.refuse(t, below)
			w.appendTo(t, 0, encoded(t, answer(0)), encoded(t, poison(3)), encoded(t, answer(1)), encoded(t, answer(2)))
			w.appendTo(t, 1, answers(t, 10, 20)...)
			w.consume(t, w.sink(t), small, func(c *consume.Consumer[sink.Answer]) bool {
				err := c.Ready(t.Context())
				if err == nil || !refused.MatchString(err.Error()) || !w.hasLanded(1, 9) {
					return false
				}
				if text := err.Error(); !strings.Contains(text, ".refusing: ") || !strings.Contains(text, "code: 395") {
					t.Errorf("readiness says %s", text)
				}
				if stopped := gauge(t, w.registry, "answerscope_consume_stopped"); stopped != 1 {
					t.Errorf("answerscope_consume_stopped is %v, want 1", stopped)
				}
				w.appendTo(t, 1, answers(t, 20, 30)...)
				wait.For(t, "the records to land", func() bool { return w.hasLanded(1, 19) })
				return true
			})
			repair()
			w.registry = nil
			w.appendTo(t, 0, answers(t, 30, 40)...)
			w.consume(t, w.sink(t), small, func(*consume.Consumer[sink.Answer]) bool { return w.hasLanded(0, 13) })
			w.reconcile(t)
			w.wantEachOnce(t, 34)
			if n := len(w.letters(t)); n != 0 {
				t.Errorf("%d dead letters, want none", n)
			}
		})
	}
}

// The view of one shard throws: its insert is refused under the shard's own names, and lands once when it is repaired.
func testAViewOfAShardThatThrows(t *testing.T, w *environment) {
	target := w.sink(t)
	shard, err := w.conn.Shard(1)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statement string) {
		t.Helper()
		if err := shard.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE MATERIALIZED VIEW refusing TO " + shard.Local("log_progress") +
		" AS SELECT '' AS log_topic, 0 AS log_partition, toInt64(throwIf(platform = 'poison')) AS last_offset FROM " +
		shard.Local("citations"))
	b := w.logged(t, w.sink(t), 0, answer(0), poison(3), answer(1))
	b.Plan.Shard = 1
	if err := target.Insert(t.Context(), b, isOwner); !errors.Is(err, consume.ErrRefused) ||
		!strings.Contains(err.Error(), ".refusing: ") {
		t.Fatalf("Insert() = %v, want that view refusing refuses it", err)
	}
	exec("DROP VIEW refusing SYNC")
	for range 2 {
		if err := target.Insert(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
	}
	w.wantEachOnce(t, 3)
	if n := w.here(t, 1); n != 3 {
		t.Errorf("%d answers on shard 1, want 3", n)
	}
}
