package sink_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// refuse makes a view below a table, which throws for the rows of platform poison. It
// breaks when that table is written, when some others are and some are not. mend takes
// it away.
func (w *world) refuse(t *testing.T, below, condition string) (mend func()) {
	t.Helper()
	view := "CREATE MATERIALIZED VIEW refusing TO log_progress AS SELECT '' AS log_topic, 0 AS log_partition, toInt64(throwIf(" + condition + ")) AS last_offset FROM " + below
	if err := w.conn.Exec(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := w.conn.Exec(t.Context(), "DROP VIEW refusing SYNC"); err != nil {
			t.Fatal(err)
		}
	}
}

const poisoned = "platform = 'poison'"

// poison is an answer that the view refuses.
func poison(n int) *event.Answer {
	a := answer(n)
	a.Platform = "poison"
	return a
}

// logged is a batch of answers whose records can be fetched once more.
func (w *world) logged(t *testing.T, s *sink.Answers, first int64, records ...*event.Answer) *consume.Batch[sink.Item] {
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

// reconcile mends the months of suspects, all rollups at once, and says how many
// suspects there were. Nobody inserts meanwhile.
func (w *world) reconcile(t *testing.T) int {
	t.Helper()
	suspects, err := clickhouse.Suspects(t.Context(), w.conn)
	if err != nil {
		t.Fatal(err)
	}
	rollups, err := rollup.List(t.Context(), w.conn)
	if err != nil {
		t.Fatal(err)
	}
	twin, err := clickhouse.Twin(t.Context(), w.conn, "mended", false)
	if err != nil {
		t.Fatal(err)
	}
	var mended []string
	for _, s := range suspects {
		month := fmt.Sprintf("PARTITION ID '%d'", s.Month)
		if slices.Contains(mended, month) {
			continue
		}
		mended = append(mended, month)
		w.exec(t, fmt.Sprintf("INSERT INTO %s.%s SELECT * FROM %[2]s WHERE _partition_id = '%d' SETTINGS max_insert_threads = 1, async_insert = 0", twin, s.Landing, s.Month))
		for _, r := range rollups {
			if r.Source != s.Landing {
				continue
			}
			if w.number(t, fmt.Sprintf("SELECT count() FROM %s.%s WHERE _partition_id = '%d'", twin, r.Table, s.Month)) > 0 {
				w.exec(t, fmt.Sprintf("ALTER TABLE %s REPLACE %s FROM %s.%[1]s", r.Table, month, twin))
			} else {
				w.exec(t, fmt.Sprintf("ALTER TABLE %s DELETE IN %s WHERE 1 SETTINGS mutations_sync = 1", r.Table, month))
			}
		}
	}
	if err := errors.Join(clickhouse.DropTwin(t.Context(), w.conn, "mended"), clickhouse.SettleSuspects(t.Context(), w.conn, suspects)); err != nil {
		t.Fatal(err)
	}
	return len(suspects)
}

// letters are the offsets and values of dead letters.
func (w *world) letters(t *testing.T) map[int64]clickhouse.DeadLetter {
	t.Helper()
	page, err := clickhouse.DeadLetterPage(t.Context(), w.conn, clickhouse.DeadLetterFilter{}, clickhouse.BeforeAll, 1000)
	if err != nil {
		t.Fatal(err)
	}
	all := map[int64]clickhouse.DeadLetter{}
	for _, line := range page {
		whole, err := clickhouse.WholeDeadLetters(t.Context(), w.conn, line.Topic, line.Partition, []int64{line.Offset})
		if err != nil || len(whole) != 1 {
			t.Fatalf("%d dead letters at %s, %v", len(whole), line.Place(), err)
		}
		all[line.Offset] = whole[0]
	}
	return all
}

// noProbes holds that nothing is left of a search.
func (w *world) noProbes(t *testing.T) {
	t.Helper()
	if n := w.number(t, "SELECT count() FROM system.databases WHERE startsWith(name, currentDatabase() || '_probe')"); n > 0 {
		t.Errorf("%d twins are left", n)
	}
}

// mixed are five answers of two months from the n-th on, n a multiple of three. Two are
// refused; one of these is alone in its month.
func mixed(n int) []*event.Answer {
	return []*event.Answer{answer(n), poison(n + 3), answer(n + 6), poison(n + 1), answer(n + 9)}
}

// refusedOf are the answers that the view refuses.
func refusedOf(all []*event.Answer) []*event.Answer {
	return slices.DeleteFunc(slices.Clone(all), func(a *event.Answer) bool { return a.Platform != "poison" })
}

// Wherever a row is refused, the others land, each once in every table; it is a dead
// letter, as it came; and once the view and the months are mended, a replay counts it.
func TestARefusedRecordIsLeftOutOfItsBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, 0)
	s := w.sink(t)
	var offset int64
	land := func(tries int, records ...*event.Answer) {
		t.Helper()
		b := w.logged(t, s, offset, records...)
		b.Tries = tries
		if err := s.Land(t.Context(), b, ours); err != nil {
			t.Fatal(err)
		}
	}
	for n, below := range []string{"answers", "citations", "shopping_cards"} {
		mend := w.refuse(t, below, poisoned)
		records := mixed(60 * n)
		land(0, records...)
		land(1, records...) // once more, as after a crash
		w.noProbes(t)
		if got := w.number(t, fmt.Sprintf("SELECT count() FROM answers WHERE log_offset >= %d AND platform = 'poison'", offset)); got != 0 {
			t.Errorf("below %s: %d refused rows in the landing table", below, got)
		}
		letters := w.letters(t)
		for i, a := range records {
			l, dead := letters[offset+int64(i)]
			if dead != (a.Platform == "poison") {
				t.Errorf("below %s, record %d: dead letter %v", below, i, dead)
			}
			if dead && (l.Value != string(encoded(t, a)) || l.Key != "key" || l.Reason != "refused" || !strings.Contains(l.Detail, "395") || !slices.Equal(l.HeaderValues, []string{"test"})) {
				t.Errorf("below %s, record %d: %+v", below, i, l)
			}
		}
		mend()
		if got := w.reconcile(t); got != 2 {
			t.Errorf("below %s: %d suspects, want 2", below, got)
		}
		w.wantEachOnce(t, uint64(5*n+3))
		offset += 5
		again := refusedOf(records)
		land(0, append(again, again[0])...) // the first twice, as after a crash
		offset += 3
		w.wantEachOnce(t, uint64(5*n+5))
	}
}

// However far it got, a batch that is refused ends right: each of its records is
// counted once or is a dead letter, whether the view refuses still when it is tried
// again or was mended meanwhile.
func TestASearchThatCrashedEndsRight(t *testing.T) {
	t.Parallel()
	for _, mended := range []bool{false, true} {
		t.Run(fmt.Sprintf("mended %v", mended), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, 0)
			var offset int64
			for step := range searchSteps + 1 {
				if offset = w.crashASearch(t, step, mended, offset); t.Failed() {
					t.Fatalf("after a crash before step %d", step+1)
				}
			}
		})
	}
}

// searchSteps are: the insert, the marks, the insert without them, the deletion, two letters.
const searchSteps = 6

// crashASearch lands the step-th batch of five good records and two refused ones from
// offset on, and returns the offset behind it.
func (w *world) crashASearch(t *testing.T, step int, mended bool, offset int64) int64 {
	t.Helper()
	w.refuse(t, "citations", poisoned)
	records := mixed(60 * step)
	asked := 0
	s := w.sink(t)
	err := s.Land(t.Context(), w.logged(t, s, offset, records...), func() error {
		if asked++; asked > step {
			return errCrash
		}
		return nil
	})
	if step < searchSteps && !errors.Is(err, errCrash) || step == searchSteps && err != nil {
		t.Fatalf("%v after %d steps", err, asked)
	}
	mend := func() { w.exec(t, "DROP VIEW IF EXISTS refusing SYNC") }
	if mended {
		mend()
	}
	if step == 0 { // a search that was killed
		if _, err := clickhouse.Twin(t.Context(), w.conn, "probe_"+strings.ReplaceAll(w.topic, ".", "_")+"_0", false); err != nil {
			t.Fatal(err)
		}
	}
	s = w.sink(t)
	b := w.logged(t, s, offset, records...)
	b.Tries = 1
	if err := s.Land(t.Context(), b, ours); err != nil {
		t.Fatal(err)
	}
	mend()
	w.noProbes(t)
	offset += int64(len(records))
	suspects := w.reconcile(t)
	if want := 2; suspects != want && (suspects != 0 || !mended || step > 1) {
		t.Errorf("%d suspects, want %d", suspects, want)
	}
	w.wantEachOnce(t, uint64(5*step+5-suspects))
	again := refusedOf(records)
	if err := s.Land(t.Context(), w.logged(t, s, offset, again...), ours); err != nil {
		t.Fatal(err)
	}
	w.wantEachOnce(t, uint64(5*step+5))
	return offset + int64(len(again))
}

// What follows a refused telling of an answer goes with it, in the same order; a
// refused correction leaves the answer as it was.
func TestACorrectionOfARefusedAnswerIsLeftOutToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, 0)
	s := w.sink(t)
	if err := s.Land(t.Context(), w.logged(t, s, 0, answer(0)), ours); err != nil {
		t.Fatal(err)
	}
	mend := w.refuse(t, "answers", poisoned+" AND revision < 3 AND sign = 1 OR revision = 7")
	told := poison(1)
	records := []*event.Answer{reread(answer(0), 7), told, answer(2), reread(told, 2), reread(told, 3), reread(answer(2), 2)}
	b := w.logged(t, s, 1, records...)
	if err := s.Land(t.Context(), b, ours); err != nil {
		t.Fatal(err)
	}
	letters := w.letters(t)
	if len(letters) != 4 || letters[1].Reason == "" || letters[2].Reason == "" || !strings.Contains(letters[5].Detail, "offset 4 tells") {
		t.Errorf("dead letters %+v", letters)
	}
	w.reconcile(t)
	net := func(want ...uint64) {
		t.Helper()
		for i, question := range []string{
			"SELECT toUInt64(sum(sign)) FROM answers", "SELECT count() FROM answers", "SELECT toUInt64(sum(answers)) FROM answer_daily", "SELECT toUInt64(sum(sign * revision)) FROM answers",
		} {
			if got := w.number(t, question); got != want[i] {
				t.Errorf("%s: %d, want %d", question, got, want[i])
			}
		}
	}
	net(2, 4, 2, 1+2) // both answers, the second corrected
	mend()
	if err := s.Land(t.Context(), w.logged(t, s, 7, records[0], records[1], records[3], records[4]), ours); err != nil {
		t.Fatal(err)
	}
	net(3, 4+2+1+2+2, 3, 7+2+3)
}

// A view that refuses what has landed before is wrong itself: nothing becomes a dead
// letter, and all lands when it is mended.
func TestABrokenViewMakesNoDeadLetters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, 0)
	s := w.sink(t)
	if err := s.Land(t.Context(), w.logged(t, s, 0, answer(0), answer(1)), ours); err != nil {
		t.Fatal(err)
	}
	mend := w.refuse(t, "answer_daily", "platform != ''")
	b := w.logged(t, s, 2, answer(2), answer(3))
	for range 3 {
		err := s.Land(t.Context(), b, ours)
		if err == nil || !strings.Contains(err.Error(), "rows that have landed are refused too") {
			t.Fatalf("Land() = %v", err)
		}
		b.Tries++
	}
	w.noProbes(t)
	mend()
	if err := s.Land(t.Context(), b, ours); err != nil {
		t.Fatal(err)
	}
	w.wantEachOnce(t, 4)
	if n := len(w.letters(t)); n != 0 {
		t.Errorf("%d dead letters", n)
	}
}

// Of very many refused records some are found at a try, and the next goes on there.
func TestManyRefusedRecordsAreFoundTryByTry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, 0)
	s := w.sink(t)
	var records []*event.Answer
	for n := range 24 { // of one day
		if n%12 == 5 {
			records = append(records, answer(60*n))
		} else {
			records = append(records, poison(60*n))
		}
	}
	w.refuse(t, "answers", poisoned)
	b := w.logged(t, s, 0, records...)
	tries := 0
	for err := error(nil); tries == 0 || err != nil; tries++ {
		if tries > 3 {
			t.Fatal(err)
		}
		err = s.Land(t.Context(), b, ours)
		b.Tries++
	}
	if tries != 2 {
		t.Errorf("landed at try %d, want 2", tries)
	}
	if n := len(w.letters(t)); n != 22 {
		t.Errorf("%d dead letters, want 22", n)
	}
	w.reconcile(t)
	w.wantEachOnce(t, 2)
}

// An error that nobody has thought of may go away: records are blamed for it only
// when it stays.
func TestAnErrorNobodyHasThoughtOfIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, 0)
	s := w.sink(t)
	w.refuse(t, "answers", "factorial(if("+poisoned+", 99, 1)) = 0")
	b := w.logged(t, s, 0, answer(0), poison(1), answer(2))
	for b.Tries < 5 {
		if err := s.Land(t.Context(), b, ours); err == nil || !strings.Contains(err.Error(), "code: 36") {
			t.Fatalf("try %d: Land() = %v", b.Tries, err)
		}
		if n := len(w.letters(t)); n > 0 {
			t.Errorf("try %d: %d dead letters", b.Tries, n)
		}
		b.Tries++
	}
	if err := s.Land(t.Context(), b, ours); err != nil || len(w.letters(t)) != 1 {
		t.Errorf("Land() = %v, %d dead letters; want 1", err, len(w.letters(t)))
	}
	w.reconcile(t)
	w.wantEachOnce(t, 2)
}

// Each shard refuses and searches for itself: its twin has its own part of the tables.
func TestARefusedRecordOnAShard(t *testing.T) {
	t.Parallel()
	w := newShardedWorld(t, 0)
	target := w.onShards(t)
	for n := range 2 {
		shard, err := w.conn.Shard(n)
		if err != nil {
			t.Fatal(err)
		}
		view := "CREATE MATERIALIZED VIEW refusing TO " + shard.Local("log_progress") + " AS SELECT '' AS log_topic, 0 AS log_partition, toInt64(throwIf(" + poisoned + ")) AS last_offset FROM " + shard.Local("citations")
		if err := shard.Exec(t.Context(), view); err != nil {
			t.Fatal(err)
		}
		records := mixed(60 * n)
		b := w.logged(t, w.sink(t), int64(10*n), records...)
		b.Plan.Shard = n
		for range 2 {
			if err := target.Land(t.Context(), b, ours); err != nil {
				t.Fatal(err)
			}
			b.Tries++
		}
		if got := w.here(t, n); got != 3 {
			t.Errorf("%d answers on shard %d, want 3", got, n)
		}
		var left uint64
		if err := shard.QueryRow(t.Context(), "SELECT count() FROM system.databases WHERE startsWith(name, currentDatabase() || '_probe')").Scan(&left); err != nil || left > 0 {
			t.Errorf("%d twins are left on shard %d, %v", left, n, err)
		}
	}
	if got := len(w.letters(t)); got != 4 {
		t.Errorf("%d dead letters, want 4", got)
	}
	if got, err := clickhouse.Suspects(t.Context(), w.conn); err != nil || len(got) != 4 {
		t.Errorf("%d suspects, %v; want 4", len(got), err)
	}
}
