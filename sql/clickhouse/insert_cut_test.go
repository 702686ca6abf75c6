package clickhouse_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// What an insert of n × 2,048 rows says, in bytes, while no text of a row is longer than another's:
//
//	begun + n × part + end
//
// Inserts of 2,048 and of 4,096 rows differ by one part, which gives where each of them
// ends; to the server, what is cut a byte before lacks the part's last row. The end is a
// block without columns: kind, no name, 8 bytes about the block, no columns, no rows.
const (
	sentAtOnce  = 2048
	endOfInsert = 1 + 1 + 8 + 1 + 1
)

func migratedWith(t *testing.T) (*clickhouse.Conn, clickhouse.Config) {
	t.Helper()
	c := store.Warehouse(t)
	return store.OpenWarehouse(t, c), c
}

// byWire is a connection by a wire of its own.
func byWire(t *testing.T, c clickhouse.Config) (*testkit.Proxy, *clickhouse.Conn) {
	t.Helper()
	wire := testkit.NewProxy(t, c.DSN)
	c.DSN = wire.DSN
	return wire, store.OpenWarehouse(t, c)
}

// spans are the ends of the first two parts and of the whole insert, in bytes from its beginning.
type spans struct{ first, second, all int64 }

// spansOf inserts rows, and the first of them, with tokens as long as theirs will be.
func spansOf[R any](t *testing.T, c clickhouse.Config, table clickhouse.Table[R], topic string, rows []R) spans {
	t.Helper()
	wire, conn := byWire(t, c)
	sent := func(n int) int64 {
		before := wire.Bytes()
		if err := table.Insert(t.Context(), conn, fmt.Sprintf("%s/0@0-%04d", topic, n-1), rows[:n]); err != nil {
			t.Fatal(err)
		}
		return wire.Bytes() - before
	}
	return spans{sent(sentAtOnce) - endOfInsert, sent(2*sentAtOnce) - endOfInsert, sent(len(rows))}
}

// A cut ends what an insert says after so many bytes.
type cut struct {
	after int64
	mute  bool // the server is heard on
}

// insertCut inserts rows as far as a cut lets it.
func insertCut[R any](t *testing.T, c clickhouse.Config, table clickhouse.Table[R], token string, rows []R, at cut) {
	t.Helper()
	wire, conn := byWire(t, c)
	before := wire.Bytes()
	if at.mute {
		wire.HalfCloseAfterBytes(at.after)
	} else {
		wire.CutAfterBytes(at.after)
	}
	err := table.Insert(t.Context(), conn, token, rows)
	if sent := wire.Bytes() - before; err == nil || sent < at.after {
		t.Fatalf("%+v: %v, having said %d bytes", at, err, sent)
	}
	if _, refused := clickhouse.Refused(err); refused {
		t.Errorf("%+v: %v is a refusal, want that of a server that is away", at, err)
	}
}

// forgotten waits until the server has done with the inserts of a token.
func forgotten(t *testing.T, conn *clickhouse.Conn, token string) {
	t.Helper()
	wait.For(t, "the server to end the inserts of a token", func() bool {
		var n uint64
		question := "SELECT count() FROM system.processes WHERE current_database = currentDatabase() AND query_kind " +
			"= 'Insert' AND Settings['log_comment'] = 'insert " + token + "'"
		if err := conn.QueryRow(t.Context(), question).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == 0
	})
}

// cutVisits are 10,000 visits on a topic of one brand, in turns in March and in April.
func cutVisits(topic string, fill byte) []clickhouse.PackedVisit {
	var rows []*clickhouse.VisitRow
	for n := range 10_000 {
		row := warehouse.Visit(int64(n), warehouse.Day.AddDate(0, n%2, 0))
		row.BrandID, row.LogTopic, row.Path = clickhouse.UUID{fill}, topic, fmt.Sprintf("/%d", n%5)
		rows = append(rows, row)
	}
	return warehouse.Pack(rows...)
}

// takenVisits is what every target of visits has of a brand and its topic.
func takenVisits(t *testing.T, conn *clickhouse.Conn, topic string, fill byte) (taken [8]uint64) {
	t.Helper()
	where := fmt.Sprintf("WHERE brand_id = '%x000000-0000-0000-0000-000000000000'", []byte{fill})
	question := fmt.Sprintf(`SELECT
		(SELECT countIf(toYYYYMM(day) = 202603) FROM visits %[1]s),
		(SELECT countIf(toYYYYMM(day) = 202604) FROM visits %[1]s),
		(SELECT uniqExact(log_offset) FROM visits %[1]s),
		(SELECT toUInt64(sumIf(visits, toYYYYMM(day) = 202603)) FROM visit_daily %[1]s),
		(SELECT toUInt64(sumIf(visits, toYYYYMM(day) = 202604)) FROM visit_daily %[1]s),
		(SELECT toUInt64(sum(sessions)) FROM visit_daily %[1]s),
		(SELECT count() FROM log_progress WHERE log_topic = '%[2]s'),
		(SELECT toUInt64(max(last_offset)) FROM log_progress WHERE log_topic = '%[2]s')`, where, topic)
	if err := conn.QueryRow(t.Context(), question).Scan(&taken[0], &taken[1], &taken[2], &taken[3], &taken[4],
		&taken[5], &taken[6], &taken[7]); err != nil {
		t.Fatal(err)
	}
	return taken
}

// An insert whose connection is cut, wherever in its five parts of 2,048, 2,048, 2,048,
// 2,048 and 1,808 visits, leaves nothing, and is there once when it is repeated: also
// where the server had it all and could not say so, or is still at it.
func TestVisitsThatAreCutOffAreTakenOnce(t *testing.T) {
	t.Parallel()
	conn, c := migratedWith(t)
	fill := byte(0x11)
	at := spansOf(t, c, clickhouse.Visits, "measured", cutVisits("measured", fill))
	part := at.second - at.first
	begun := at.first - part
	rows := at.all - endOfInsert
	if fourth := begun + 4*part; begun <= 0 || rows <= fourth || rows >= fourth+part {
		t.Fatalf("begun %d, part %d, rows end at %d: want five parts", begun, part, rows)
	}
	once := [8]uint64{5_000, 5_000, 10_000, 5_000, 5_000, 10_000, 1, 9_999} // one row of progress, for the last offset
	repeated := func(t *testing.T, at cut, between func(topic, token string, fill byte)) {
		t.Helper()
		fill++
		topic := fmt.Sprintf("visit-%02x", fill) // as long as that which was measured
		token, batch := topic+"/0@0-9999", cutVisits(topic, fill)
		insertCut(t, c, clickhouse.Visits, token, batch, at)
		between(topic, token, fill)
		if err := clickhouse.Visits.Insert(t.Context(), conn, token, batch); err != nil {
			t.Fatal(err)
		}
		forgotten(t, conn, token)
		if got := takenVisits(t, conn, topic, fill); got != once {
			t.Errorf("%+v, then repeated: %v, want %v", at, got, once)
		}
	}
	cuts := map[string]cut{
		"in the statement":                  {after: begun / 2},
		"with the first byte of a part":     {after: begun + 1},
		"in the first part":                 {after: begun + part/2},
		"a byte before the first part ends": {after: at.first - 1},
		"between the first and the second":  {after: at.first},
		"in the head of the second part":    {after: at.first + 3},
		"in the third part":                 {after: at.second + part/3},
		"between the fourth and the fifth":  {after: begun + 4*part},
		"in the last part":                  {after: rows - 1_000},
		"after all rows":                    {after: rows},
		"in the end":                        {after: at.all - 1},
		"in the last part, and hearing":     {after: rows - 1_000, mute: true},
		"after all rows, and hearing":       {after: rows, mute: true},
	}
	few := []string{"in the statement", "between the first and the second", "in the last part",
		"after all rows, and hearing"}
	for where, at := range cuts {
		if !testkit.All && !slices.Contains(few, where) {
			continue
		}
		t.Run(where, func(t *testing.T) {
			repeated(t, at, func(topic, token string, fill byte) {
				forgotten(t, conn, token)
				if left := takenVisits(t, conn, topic, fill); left != [8]uint64{} {
					t.Errorf("%+v left %v", at, left)
				}
			})
		})
	}
	t.Run("before the answer", func(t *testing.T) {
		repeated(t, cut{after: at.all}, func(_, token string, _ byte) { forgotten(t, conn, token) })
	})
	hurried := map[string]int64{"before the answer": at.all}
	if testkit.All {
		hurried["in the last part"] = rows - 1_000
	}
	for where, after := range hurried {
		t.Run("in a hurry, "+where, func(t *testing.T) {
			repeated(t, cut{after: after}, func(string, string, byte) {})
		})
	}
}

// So it is with answers, cut in the last of three parts: 2,048 + 2,048 + 904 = 5,000.
func TestAnswersThatAreCutOffAreTakenOnce(t *testing.T) {
	t.Parallel()
	var batch []clickhouse.AnswerRow
	for n := range 5_000 {
		batch = append(batch, warehouse.Answer(int64(n), warehouse.Day.AddDate(0, n%2, 0)))
	}
	_, other := migratedWith(t)
	at := spansOf(t, other, clickhouse.Answers, "answers", batch)
	conn, c := migratedWith(t)
	token := "answers/0@0-4999"
	insertCut(t, c, clickhouse.Answers, token, batch, cut{after: (at.second + at.all) / 2})
	holds := func(want uint64) {
		t.Helper()
		for table, n := range warehouse.Counts(t, conn) {
			if n != want {
				t.Errorf("%s: %d, want %d", table, n, want)
			}
		}
	}
	forgotten(t, conn, token)
	holds(0)
	if _, ok, err := clickhouse.LastOffset(t.Context(), conn, "answers", 0); ok || err != nil {
		t.Errorf("LastOffset() after a cut: %v, %v", ok, err)
	}
	if err := clickhouse.Answers.Insert(t.Context(), conn, token, batch); err != nil {
		t.Fatal(err)
	}
	holds(5_000)
	if last, ok, err := clickhouse.LastOffset(t.Context(), conn, "answers", 0); err != nil || !ok || last != 4_999 {
		t.Errorf("LastOffset() = %d, %v, %v; want 4999", last, ok, err)
	}
}
