package clickhouse_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Four records of three partitions and two topics, one of them kept twice, by two builds.
func letters(t *testing.T, conn *clickhouse.Conn) {
	t.Helper()
	for n, l := range []clickhouse.DeadLetter{
		{LogTopic: "answers", LogPartition: 1, LogOffset: 7, AppendedAt: warehouse.Day, Key: "k", Value: "\xff\x00raw",
			HeaderKeys: []string{"h", ""}, HeaderValues: []string{"\xfe", ""}, Reason: "malformed", Detail: "d"},
		{LogTopic: "answers", LogPartition: 1, LogOffset: 10, AppendedAt: warehouse.Day.AddDate(0, 1, 0), Value: "{}",
			Reason: "month frozen"},
		{LogTopic: "answers", LogPartition: 1, LogOffset: 10, AppendedAt: warehouse.Day.AddDate(0, 1, 0), Value: "{}",
			Reason: "malformed"},
		{LogTopic: "answers", LogPartition: 10, LogOffset: 2, AppendedAt: warehouse.Day.AddDate(0, 0, 1), Value: "{}",
			Reason: "month frozen"},
		{LogTopic: "visits", LogPartition: 0, LogOffset: 0, AppendedAt: warehouse.Day, Value: "{}",
			Reason: "malformed"},
	} {
		if err := clickhouse.DeadLetters.Insert(t.Context(), conn, fmt.Sprint("letter ", n),
			[]clickhouse.DeadLetter{l}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeadLettersAreListedPageByPage(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	letters(t, conn)
	for name, c := range map[string]struct {
		filter clickhouse.DeadLetterFilter
		want   []string
	}{
		"all": {clickhouse.DeadLetterFilter{}, []string{"answers/1@7", "answers/1@10", "answers/10@2",
			"visits/0@0"}},
		"topic":     {clickhouse.DeadLetterFilter{Topics: []string{"visits", "crawls"}}, []string{"visits/0@0"}},
		"partition": {clickhouse.DeadLetterFilter{Partitions: []int32{0, 10}}, []string{"answers/10@2", "visits/0@0"}},
		"offset": {clickhouse.DeadLetterFilter{Topics: []string{"answers"}, Partitions: []int32{1},
			Offsets: []int64{10}}, []string{"answers/1@10"}},
		"reason": {clickhouse.DeadLetterFilter{Reasons: []string{"month frozen"}},
			[]string{"answers/1@10", "answers/10@2"}},
		"days": {clickhouse.DeadLetterFilter{DateFrom: "2026-03-02", DateTo: "2026-03-02"},
			[]string{"answers/1@7", "visits/0@0"}},
		"from": {clickhouse.DeadLetterFilter{DateFrom: "2026-03-03"}, []string{"answers/1@10", "answers/10@2"}},
	} {
		for _, limit := range []int{1, 2, 100} {
			var got []string
			after := clickhouse.BeforeAll
			for {
				page, err := clickhouse.DeadLetterPage(t.Context(), conn, c.filter, after, limit)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range page {
					if after = l.LogPosition; after.Offset == 10 && l.Reason != "malformed" && name != "reason" &&
						after.Partition == 1 {
						t.Errorf("%s by %d: %s is %s, want the first of its reasons", name, limit, after, l.Reason)
					}
					got = append(got, after.String())
				}
				if len(page) < limit {
					break
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s by %d: %v, want %v", name, limit, got, c.want)
			}
		}
	}
	ends, err := clickhouse.DeadLetterEnds(t.Context(), conn)
	if want := []clickhouse.LogPosition{{"answers", 1, 10}, {"answers", 10, 2}, {"visits", 0, 0}}; err != nil ||
		!slices.Equal(ends, want) {
		t.Errorf("ends %v, %v; want %v", ends, err, want)
	}
	page, err := clickhouse.DeadLetterPage(t.Context(), conn, clickhouse.DeadLetterFilter{}, clickhouse.BeforeAll, 1)
	if err != nil || len(page) != 1 || page[0].Bytes != 6 || page[0].Key != "k" || page[0].Reason != "malformed" ||
		page[0].Detail != "d" || !page[0].AppendedAt.Equal(warehouse.Day) {
		t.Errorf("%+v, %v", page, err)
	}
}

// Bytes come back as they went in, whatever they are.
func TestADeadLetterIsKeptByteForByte(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	letters(t, conn)
	got, err := clickhouse.DeadLettersAt(t.Context(), conn, "answers", 1, []int64{10, 7, 8})
	if err != nil || len(got) != 2 || got[0].LogOffset != 7 || got[1].LogOffset != 10 {
		t.Fatalf("%+v, %v", got, err)
	}
	if l := got[0]; l.Value != "\xff\x00raw" || !slices.Equal(l.HeaderKeys, []string{"h", ""}) ||
		!slices.Equal(l.HeaderValues, []string{"\xfe", ""}) {
		t.Errorf("%+v", l)
	}
}

// The first record of a repeated batch is suspect until its month is reconciled, however often it is marked.
func TestSuspectsAreRepeatedBatchesWhoseMonthWasNotReconciled(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	at := func(partition int32, offset int64, mark string) clickhouse.RecordMark {
		return clickhouse.RecordMark{LogPosition: clickhouse.LogPosition{Topic: "answers", Partition: partition,
			Offset: offset}, Mark: mark, Landing: "answers", Month: 202603}
	}
	marks := []clickhouse.RecordMark{at(1, 10, clickhouse.MarkSuspect), at(10, 2, clickhouse.MarkSuspect),
		at(1, 11, clickhouse.MarkReplayed)}
	for range 2 { // marked again after a crash
		if err := clickhouse.MarkRecords(t.Context(), conn, marks); err != nil {
			t.Fatal(err)
		}
	}
	want := []clickhouse.Suspect{{"answers", 202603, clickhouse.LogPosition{"answers", 1, 10}},
		{"answers", 202603, clickhouse.LogPosition{"answers", 10, 2}}}
	got, err := clickhouse.Suspects(t.Context(), conn)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("suspects %v, %v; want %v", got, err, want)
	}
	if err := clickhouse.ClearSuspects(t.Context(), conn, got[:1]); err != nil {
		t.Fatal(err)
	}
	got, err = clickhouse.Suspects(t.Context(), conn)
	if err != nil || !slices.Equal(got, want[1:]) {
		t.Errorf("suspects %v, %v; want %v", got, err, want[1:])
	}
	read, err := clickhouse.MarksBetween(t.Context(), conn,
		clickhouse.LogPosition{Topic: "answers", Partition: 1, Offset: 8},
		clickhouse.LogPosition{Topic: "answers", Partition: 1, Offset: 10})
	if err != nil || len(read) != 3 || read[0].RecordMark != marks[0] || read[2].Mark != clickhouse.MarkReconciled ||
		read[2].At.IsZero() {
		t.Errorf("marks %+v, %v", read, err)
	}
}

func TestALogPositionIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, p := range []clickhouse.LogPosition{{"answers", 3, 120}, {"a-b.c_d", 0, 0}} {
		if got, err := clickhouse.ParseLogPosition(p.String()); err != nil || got != p {
			t.Errorf("ParseLogPosition(%s) = %v, %v", p, got, err)
		}
	}
	for _, text := range []string{"", "answers", "answers/3", "answers/3@", "/3@1", "answers/-1@1",
		"answers/99999999999@1", "answers/1@1 "} {
		if got, err := clickhouse.ParseLogPosition(text); err == nil {
			t.Errorf("ParseLogPosition(%q) = %v", text, got)
		}
	}
}

// Of a partition from a record on, every month in which the landing table has rows is suspect.
func TestMonthsFromARecordOnAreSuspect(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	var rows []clickhouse.AnswerRow
	for offset := range int64(4) {
		rows = append(rows, warehouse.Answer(offset, warehouse.Day.AddDate(0, int(offset), 0)))
	}
	other := warehouse.Answer(9, warehouse.Day)
	other.LogPartition = 1
	if err := clickhouse.Answers.Insert(t.Context(), conn, "a", append(rows, other)); err != nil {
		t.Fatal(err)
	}
	from := clickhouse.LogPosition{Topic: "answers", Offset: 2}
	if err := clickhouse.MarkSuspectsFrom(t.Context(), conn, "answers", from); err != nil {
		t.Fatal(err)
	}
	want := []clickhouse.Suspect{{"answers", 202605, from}, {"answers", 202606, from}}
	if got, err := clickhouse.Suspects(t.Context(), conn); err != nil || !slices.Equal(got, want) {
		t.Errorf("suspects %v, %v; want %v", got, err, want)
	}
}
