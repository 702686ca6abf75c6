package clickhouse

import (
	"context"
	"time"
)

// The marks of a record.
const (
	MarkExpired    = "expired"    // it begins a batch whose plan had expired when it was inserted
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

// MarksBetween are the marks of the records from one position to another, both included, in the order of the log and then of
// time.
func MarksBetween(ctx context.Context, conn *Conn, from, to LogPosition) ([]TimedMark, error) {
	return deadLetterMarksBetween.All(ctx, conn, marksParams{from.Topic, from.Partition, from.Offset, to.Topic, to.Partition, to.Offset})
}
