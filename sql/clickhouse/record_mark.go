package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// The marks of a record.
const (
	MarkSuspect    = "suspect"    // it begins a repeated batch, for which rollups of the month may be wrong
	MarkReconciled = "reconciled" // the month's rollups have been compared and are right
	MarkReplayed   = "replayed"   // it was appended again
)

// A RecordMark is an event in the life of a record. Equal marks count once.
type RecordMark struct {
	LogPosition
	Mark    string `ch:"mark"`
	Landing string `ch:"landing"` // table of its row; "" for MarkReplayed
	Month   Month  `ch:"month"`   // of its row; 0 for MarkReplayed
}

var deadLetterMarks = table[RecordMark]("deadletter_marks")

// MarkRecords inserts marks, on a cluster at its first shard.
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

// MarksBetween returns the marks of the records between two positions, both included, in the order of the log, then of
// time.
func MarksBetween(ctx context.Context, conn *Conn, from, to LogPosition) ([]TimedMark, error) {
	return deadLetterMarksBetween.All(ctx, conn,
		marksParams{from.Topic, from.Partition, from.Offset, to.Topic, to.Partition, to.Offset})
}

// A Suspect is the first record of a repeated batch: some rollups of the month may have taken the first attempt, and
// others not.
type Suspect struct {
	Landing string `ch:"landing"` // table of the rollups
	Month   Month  `ch:"month"`
	LogPosition
}

var suspectRecords = query[struct{}, Suspect]("suspect_records")

// Suspects returns the suspects whose month has not been reconciled since. Their batches have landed completely.
func Suspects(ctx context.Context, conn *Conn) ([]Suspect, error) {
	return suspectRecords.All(ctx, conn, struct{}{})
}

// MarkSuspectsFrom marks the months in which a landing table has rows of a partition at or after a record.
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
	return MarkSuspects(ctx, conn, landing, from, mapSlice(numbers, func(n uint32) Month { return Month(n) }))
}

// MarkSuspects marks months of a landing table for the batch that begins at a record.
func MarkSuspects(ctx context.Context, conn *Conn, landing string, first LogPosition, months []Month) error {
	var marks []RecordMark
	for _, month := range months {
		marks = append(marks, RecordMark{first, MarkSuspect, landing, month})
	}
	return MarkRecords(ctx, conn, marks)
}

// ClearSuspects marks the months of suspects as reconciled: all their rollups were right, or were repaired, after the
// suspects had been listed.
func ClearSuspects(ctx context.Context, conn *Conn, suspects []Suspect) error {
	var marks []RecordMark
	for _, s := range suspects {
		marks = append(marks, RecordMark{s.LogPosition, MarkReconciled, s.Landing, s.Month})
	}
	return MarkRecords(ctx, conn, marks)
}
