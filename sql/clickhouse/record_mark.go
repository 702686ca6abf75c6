package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// The marks of a record.
const (
	MarkSuspect    = "suspect"    // it begins a batch that was repeated, and rollups of the month may be wrong for that
	MarkReconciled = "reconciled" // the month's rollups were found right since
	MarkReplayed   = "replayed"   // it was appended again
)

// A RecordMark is something that became of a record. Equal marks are one.
type RecordMark struct {
	LogPosition
	Mark    string `ch:"mark"`
	Landing string `ch:"landing"` // table that its row is for; "" of MarkReplayed
	Month   Month  `ch:"month"`   // of its row; 0 of MarkReplayed
}

var deadLetterMarks = table[RecordMark]("deadletter_marks")

// MarkRecords inserts marks, of a cluster on its first shard.
func MarkRecords(ctx context.Context, conn *Conn, marks []RecordMark) error {
	shard, err := conn.Shard(0)
	if err != nil {
		return err
	}
	return deadLetterMarks.Insert(ctx, shard, "", marks)
}

// A TimedMark is a mark with its time.
type TimedMark struct {
	RecordMark
	At time.Time `ch:"at"`
}

type marksParams struct {
	FromTopic     string `ch:"from_topic"`
	FromPartition int32  `ch:"from_partition"`
	FromOffset    int64  `ch:"from_offset"`
	ToTopic       string `ch:"to_topic"`
	ToPartition   int32  `ch:"to_partition"`
	ToOffset      int64  `ch:"to_offset"`
}

var deadLetterMarksBetween = query[marksParams, TimedMark]("deadletter_marks_between")

// MarksBetween are the marks of the records from one position to another, both included, in the order of the log and
// then of time.
func MarksBetween(ctx context.Context, conn *Conn, from, to LogPosition) ([]TimedMark, error) {
	return deadLetterMarksBetween.All(ctx, conn, marksParams{from.Topic, from.Partition, from.Offset, to.Topic, to.Partition, to.Offset})
}

// A Suspect is the first record of a repeated batch: some rollups of the month may have taken the batch before, and
// others not.
type Suspect struct {
	Landing string `ch:"landing"` // table whose rollups these are
	Month   Month  `ch:"month"`
	LogPosition
}

var suspectRecords = query[struct{}, Suspect]("suspect_records")

// Suspects are those whose month was not reconciled since. What was to be inserted of their batches has been.
func Suspects(ctx context.Context, conn *Conn) ([]Suspect, error) {
	return suspectRecords.All(ctx, conn, struct{}{})
}

// MarkSuspectsFrom marks the months in which a landing table has rows of a partition from a record on.
func MarkSuspectsFrom(ctx context.Context, conn *Conn, landing string, from LogPosition) error {
	var numbers []uint32
	const monthsFrom = `
SELECT groupUniqArray(toYYYYMM(day))
FROM {table:Identifier}
WHERE log_topic = {topic:String} AND log_partition = {partition:Int32} AND log_offset >= {offset:Int64}`
	err := conn.QueryRow(ctx, monthsFrom, clickhouse.Named("table", landing), clickhouse.Named("topic", from.Topic),
		clickhouse.Named("partition", from.Partition), clickhouse.Named("offset", from.Offset)).Scan(&numbers)
	if err != nil {
		return fmt.Errorf("read months of %s from %s on: %w", landing, from, err)
	}
	var months []Month
	for _, n := range numbers {
		months = append(months, Month(n))
	}
	return MarkSuspects(ctx, conn, landing, from, months)
}

// MarkSuspects marks months of a landing table, for the batch that begins at a record.
func MarkSuspects(ctx context.Context, conn *Conn, landing string, first LogPosition, months []Month) error {
	var marks []RecordMark
	for _, month := range months {
		marks = append(marks, RecordMark{first, MarkSuspect, landing, month})
	}
	return MarkRecords(ctx, conn, marks)
}

// ClearSuspects marks the months of suspects as reconciled: all rollups of their landing tables were found right there,
// or were repaired, after the suspects were listed.
func ClearSuspects(ctx context.Context, conn *Conn, suspects []Suspect) error {
	var marks []RecordMark
	for _, s := range suspects {
		marks = append(marks, RecordMark{s.LogPosition, MarkReconciled, s.Landing, s.Month})
	}
	return MarkRecords(ctx, conn, marks)
}
