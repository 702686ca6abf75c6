package clickhouse_test

import (
	"testing"

	"github.com/shopspring/decimal"

	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A batch of three answers in two months, sent three times with its token, and
// another batch of one: 4 in every table, whichever it is.
func TestInsertWithATokenIsTakenOnceEverywhere(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	batch := []clickhouse.AnswerRow{warehouse.Answer(0, warehouse.Day),
		warehouse.Answer(1, warehouse.Day.AddDate(0, 1, 0)), warehouse.Answer(2, warehouse.Day)}
	for range 3 {
		if err := clickhouse.Answers.Insert(t.Context(), conn, "answers/0@0-2/1", batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "answers/0@3-3/1",
		[]clickhouse.AnswerRow{warehouse.Answer(3, warehouse.Day)}); err != nil {
		t.Fatal(err)
	}
	for table, n := range warehouse.Counts(t, conn) {
		if n != 4 {
			t.Errorf("%s: %d, want 4", table, n)
		}
	}
	last, ok, err := clickhouse.LastOffset(t.Context(), conn, "answers", 0)
	if err != nil || !ok || last != 3 {
		t.Errorf("LastOffset() = %d, %v, %v; want 3", last, ok, err)
	}
	if _, ok, err := clickhouse.LastOffset(t.Context(), conn, "answers", 1); err != nil || ok {
		t.Errorf("LastOffset() of a partition without rows = %v, %v", ok, err)
	}
}

// The insert of a batch may end in the server when the landing table is written
// and some view targets are, others not. The same token again adds what is missing.
func TestInsertAfterAHalfInsertAddsOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	mixed := 0
	landed := uint64(0)
	// In which order a server feeds its views is its own affair, and another in every database. A view below a target
	// breaks when that target is written, so of one below each some break late and some early.
	for _, target := range []string{"answers", "answer_daily", "entity_prompt_daily", "brand_prompt_daily",
		"citations", "citation_daily", "shopping_cards"} {
		breakView := "CREATE MATERIALIZED VIEW breaking TO log_progress AS SELECT '' AS log_topic, 0 AS " +
			"log_partition, toInt64(throwIf(brand_id = brand_id)) AS last_offset FROM " + target
		if err := conn.Exec(t.Context(), breakView); err != nil {
			t.Fatal(err)
		}
		token := "answers/0 broken below " + target
		batch := []clickhouse.AnswerRow{warehouse.Answer(int64(landed), warehouse.Day),
			warehouse.Answer(int64(landed+1), warehouse.Day)}
		if err := clickhouse.Answers.Insert(t.Context(), conn, token, batch); err == nil {
			t.Fatal("the insert into a breaking view passed")
		}
		written := 0
		half := warehouse.Counts(t, conn)
		for table, n := range half {
			if n == landed+2 {
				written++
			} else if n != landed {
				t.Errorf("broken below %s, %s: %d, want %d or %d", target, table, n, landed, landed+2)
			}
		}
		if half["answers"] != landed+2 {
			t.Errorf("broken below %s, answers: %d, want %d", target, half["answers"], landed+2)
		}
		if 1 < written && written < len(half) {
			mixed++
		}
		if err := conn.Exec(t.Context(), "DROP VIEW breaking SYNC"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := clickhouse.Answers.Insert(t.Context(), conn, token, batch); err != nil {
				t.Fatal(err)
			}
		}
		landed += 2
		for table, n := range warehouse.Counts(t, conn) {
			if n != landed {
				t.Errorf("broken below %s and repeated, %s: %d, want %d", target, table, n, landed)
			}
		}
	}
	if mixed == 0 {
		t.Error("no insert left some targets written and others not")
	}
}

// Rows move it, and who says so after dead letters, which do not: they come before the
// rows of their batch, and a consumer whose offsets the broker forgot goes on behind it.
func TestTheLogPosition(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	position := func(partition int32, want int64) {
		t.Helper()
		last, ok, err := clickhouse.LastOffset(t.Context(), conn, "answers", partition)
		if err != nil || ok != (want >= 0) || ok && last != want {
			t.Errorf("LastOffset() of partition %d = %d, %v, %v; want %d", partition, last, ok, err, want)
		}
	}
	position(0, -1)
	letters := []clickhouse.DeadLetter{{LogTopic: "answers", LogOffset: 2, AppendedAt: warehouse.Day,
		Reason: "malformed"}, {LogTopic: "answers", LogOffset: 1, AppendedAt: warehouse.Day, Reason: "malformed"}}
	for range 2 {
		if err := clickhouse.DeadLetters.Insert(t.Context(), conn, "answers/0@0-2/1/letters", letters); err != nil {
			t.Fatal(err)
		}
	}
	position(0, -1)
	if err := clickhouse.Answers.Insert(t.Context(), conn, "answers/0@0-2/1",
		[]clickhouse.AnswerRow{warehouse.Answer(0, warehouse.Day)}); err != nil {
		t.Fatal(err)
	}
	position(0, 0)
	for _, offset := range []int64{2, 2, 1} {
		if err := clickhouse.AdvanceLog(t.Context(), conn, clickhouse.LogPosition{Topic: "answers",
			Offset: offset}); err != nil {
			t.Fatal(err)
		}
	}
	position(0, 2)
	position(1, -1)
	var kept uint64
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM deadletters").Scan(&kept); err != nil || kept != 2 {
		t.Errorf("%d dead letters, %v; want 2", kept, err)
	}
}

// The largest cost that the law of records lets pass is kept to its last digit.
func TestTheLargestCostIsKept(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	row := warehouse.Answer(0, warehouse.Day)
	cost := decimal.RequireFromString("999999999999.999999")
	row.CostUSD = cost
	if err := clickhouse.Answers.Insert(t.Context(), conn, "a", []clickhouse.AnswerRow{row}); err != nil {
		t.Fatal(err)
	}
	var got decimal.Decimal
	if err := conn.QueryRow(t.Context(), "SELECT cost_usd FROM answers").Scan(&got); err != nil || !got.Equal(cost) {
		t.Errorf("cost %s, %v; want %s", got, err, cost)
	}
}

func TestLandedAnswersSeesOnlyWhatIsBelow(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	rows := []clickhouse.AnswerRow{warehouse.Answer(0, warehouse.Day), warehouse.Answer(1, warehouse.Day),
		warehouse.Answer(5, warehouse.Day)}
	other := warehouse.Answer(9, warehouse.Day)
	other.LogPartition = 1
	unknown := warehouse.Answer(100, warehouse.Day)
	rows[1].Day = rows[1].Day.AddDate(0, 0, 2) // it was answered so long after it was due
	if err := clickhouse.Answers.Insert(t.Context(), conn, "a", append(rows, other)); err != nil {
		t.Fatal(err)
	}
	var keys []clickhouse.Key
	for _, r := range append(rows, other, unknown) {
		keys = append(keys, clickhouse.Key{OrganizationID: warehouse.Organization, BrandID: warehouse.Brand, ID: r.ID})
	}
	landed, err := clickhouse.LandedAnswers(t.Context(), conn, keys,
		clickhouse.LogLimit{Topic: "answers", Partition: 0, Offset: 5})
	if err != nil {
		t.Fatal(err)
	}
	// offsets 0 and 1 lie below 5; 5 does not; 9 is on another partition.
	for i, want := range []bool{true, true, false, true, false} {
		if got, ok := landed[keys[i]]; ok != want || ok && got != (clickhouse.ReadingVersion{Revision: 1,
			ExtractVersion: 1}) {
			t.Errorf("key %d: %v %v, want %v", i, got, ok, want)
		}
	}
}

func TestEntityVisibility(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	if err := clickhouse.Answers.Insert(t.Context(), conn, "a",
		[]clickhouse.AnswerRow{warehouse.Answer(0, warehouse.Day), warehouse.Answer(1, warehouse.Day)}); err != nil {
		t.Fatal(err)
	}
	f := clickhouse.GroupFilter{Filter: clickhouse.Filter{OrganizationID: warehouse.Organization,
		BrandID: warehouse.Brand, DateFrom: "2026-03-01", DateTo: "2026-03-31"}}
	for name, branded := range map[string][]bool{"all": nil, "branded": {true}} {
		f.Branded = branded
		rows, err := clickhouse.EntityVisibility.All(t.Context(), conn, f)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%s: %v, %v", name, rows, err)
		}
		// 100 × (0.6 + 0.25 + 0.15/3) = 90
		if r := rows[0]; !r.IsBrand || r.Answers != 2 || r.Score == nil || *r.Score != 90 ||
			*r.PositionFactor != 0.3333 || r.IntervalLow != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	f.Branded = []bool{false}
	rows, err := clickhouse.EntityVisibility.All(t.Context(), conn, f)
	if err != nil || len(rows) != 1 || rows[0].Visibility != (clickhouse.Visibility{}) {
		t.Errorf("not branded: %+v, %v", rows, err)
	}
}
