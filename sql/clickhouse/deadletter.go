package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// DeadLetter is a record of the log that is in no landing table, byte for byte.
type DeadLetter struct {
	LogTopic     string    `ch:"log_topic"`
	LogPartition int32     `ch:"log_partition"`
	LogOffset    int64     `ch:"log_offset"`
	AppendedAt   time.Time `ch:"appended_at"`
	Key          string    `ch:"key"`
	Value        string    `ch:"value"`
	HeaderKeys   []string  `ch:"headers.key"`
	HeaderValues []string  `ch:"headers.value"`
	Reason       string    `ch:"reason"` // a constant: malformed, …
	Detail       string    `ch:"detail"`
}

// DeadLetters keeps records that could not be read, or whose month is frozen.
var DeadLetters = table[DeadLetter]("deadletters")

// DeadLetterFilter narrows a list; what is empty does not.
type DeadLetterFilter struct {
	Topics     []string `ch:"topics"`
	Partitions []int32  `ch:"partitions"`
	Offsets    []int64  `ch:"offsets"`
	Reasons    []string `ch:"reasons"`
	DateFrom   Day      `ch:"date_from"` // of AppendedAt
	DateTo     Day      `ch:"date_to"`
}

// Filter lets the dead letter of one record pass.
func (p LogPosition) Filter() DeadLetterFilter {
	return DeadLetterFilter{Topics: []string{p.Topic}, Partitions: []int32{p.Partition}, Offsets: []int64{p.Offset}}
}

// A DeadLetterLine is a dead letter without its bytes.
type DeadLetterLine struct {
	LogPosition
	AppendedAt time.Time `ch:"appended_at"`
	Key        string    `ch:"key"`
	Bytes      uint64    `ch:"bytes"` // of key and value
	Reason     string    `ch:"reason"`
	Detail     string    `ch:"detail"`
}

type deadLetterPageParams struct {
	DeadLetterFilter
	AfterTopic     string `ch:"after_topic"`
	AfterPartition int32  `ch:"after_partition"`
	AfterOffset    int64  `ch:"after_offset"`
	Limit          uint32 `ch:"limit"`
}

var deadLetterPage = query[deadLetterPageParams, DeadLetterLine]("deadletter_page")

// DeadLetterPage lists dead letters after a position in the order of the log, at most limit of them.
func DeadLetterPage(ctx context.Context, conn *Conn, filter DeadLetterFilter, after LogPosition, limit int) ([]DeadLetterLine, error) {
	return deadLetterPage.All(ctx, conn, deadLetterPageParams{filter, after.Topic, after.Partition, after.Offset, uint32(limit)})
}

var deadLetterEnds = query[struct{}, LogPosition]("deadletter_ends")

// DeadLetterEnds are the positions of the last dead letter of each partition.
func DeadLetterEnds(ctx context.Context, conn *Conn) ([]LogPosition, error) {
	return deadLetterEnds.All(ctx, conn, struct{}{})
}

type deadLettersWholeParams struct {
	partitionParams
	Offsets []int64 `ch:"offsets"`
}

var deadLettersWhole = query[deadLettersWholeParams, DeadLetter]("deadletters_whole")

// WholeDeadLetters are the dead letters of one partition at some offsets, in their order. The caller bounds their bytes.
func WholeDeadLetters(ctx context.Context, conn *Conn, topic string, partition int32, offsets []int64) ([]DeadLetter, error) {
	return deadLettersWhole.All(ctx, conn, deadLettersWholeParams{partitionParams{topic, partition}, offsets})
}

// The marks of a record.
const (
	MarkExpired    = "expired"    // it begins a batch whose plan had expired when it was inserted
	MarkReconciled = "reconciled" // the month's rollups were found right since
	MarkReplayed   = "replayed"   // it was appended again
)

// A Mark is something that became of a record. Equal marks are one.
type Mark struct {
	LogPosition
	Mark    string `ch:"mark"`
	Landing string `ch:"landing"` // table that its row is for; "" of MarkReplayed
	Month   uint32 `ch:"month"`   // of its row, as 202603; 0 of MarkReplayed
}

var deadLetterMarks = table[Mark]("deadletter_marks")

// MarkRecords inserts marks, of a cluster on its first shard.
func MarkRecords(ctx context.Context, conn *Conn, marks []Mark) error {
	shard, err := conn.Shard(0)
	if err != nil {
		return err
	}
	return deadLetterMarks.Insert(ctx, shard, "", marks)
}

// A MarkRead is a mark with its time.
type MarkRead struct {
	Mark
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

var deadLetterMarksBetween = query[marksParams, MarkRead]("deadletter_marks_between")

// MarksBetween are the marks of the records from one position to another, both included, in the order of the log and then of
// time.
func MarksBetween(ctx context.Context, conn *Conn, from, to LogPosition) ([]MarkRead, error) {
	return deadLetterMarksBetween.All(ctx, conn, marksParams{from.Topic, from.Partition, from.Offset, to.Topic, to.Partition, to.Offset})
}

// A Suspect is the first record of a batch whose plan had expired when it was inserted: some rollups of the month may have
// taken the batch before, and others not.
type Suspect struct {
	Landing string `ch:"landing"` // table whose rollups these are
	Month   uint32 `ch:"month"`   // as 202603
	LogPosition
}

var suspectRecords = query[struct{}, Suspect]("suspect_records")

// Suspects are those whose month was not reconciled since. What was to be inserted of their batches has been.
func Suspects(ctx context.Context, conn *Conn) ([]Suspect, error) {
	return suspectRecords.All(ctx, conn, struct{}{})
}

// SuspectFrom marks the months in which a landing table has rows of a partition from a record on.
func SuspectFrom(ctx context.Context, conn *Conn, landing string, from LogPosition) error {
	var months []uint32
	const monthsFrom = `
SELECT groupUniqArray(toYYYYMM(day))
FROM {table:Identifier}
WHERE log_topic = {topic:String} AND log_partition = {partition:Int32} AND log_offset >= {offset:Int64}`
	err := conn.QueryRow(ctx, monthsFrom, clickhouse.Named("table", landing), clickhouse.Named("topic", from.Topic),
		clickhouse.Named("partition", from.Partition), clickhouse.Named("offset", from.Offset)).Scan(&months)
	if err != nil {
		return fmt.Errorf("read months of %s from %s on: %w", landing, from, err)
	}
	var marks []Mark
	for _, month := range months {
		marks = append(marks, Mark{from, MarkExpired, landing, month})
	}
	return MarkRecords(ctx, conn, marks)
}

// ClearSuspects marks the months of suspects as reconciled: all rollups of their landing tables were found right there, or
// were repaired, after the suspects were listed.
func ClearSuspects(ctx context.Context, conn *Conn, suspects []Suspect) error {
	var marks []Mark
	for _, s := range suspects {
		marks = append(marks, Mark{s.LogPosition, MarkReconciled, s.Landing, s.Month})
	}
	return MarkRecords(ctx, conn, marks)
}
