package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
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

// DeadLetters keeps records that could not be read, or that the server refused.
var DeadLetters = table[DeadLetter]("deadletters")

// A RecordPlace is where a record stands on the log. Places are ordered by topic,
// then partition, then offset; BeforeAll is before every one.
type RecordPlace struct {
	Topic     string `ch:"log_topic" json:"topic"`
	Partition int32  `ch:"log_partition" json:"partition"`
	Offset    int64  `ch:"log_offset" json:"offset"`
}

// BeforeAll is no record's place.
var BeforeAll = RecordPlace{Partition: -1, Offset: -1}

// String is the place as people write it: answers/3@120.
func (p RecordPlace) String() string { return fmt.Sprintf("%s/%d@%d", p.Topic, p.Partition, p.Offset) }

// Compare orders places as RecordPlace says.
func (p RecordPlace) Compare(q RecordPlace) int {
	return cmp.Or(strings.Compare(p.Topic, q.Topic), cmp.Compare(p.Partition, q.Partition), cmp.Compare(p.Offset, q.Offset))
}

// ParsePlace reads what String writes.
func ParsePlace(text string) (RecordPlace, error) {
	m := placeLike.FindStringSubmatch(text)
	if m != nil {
		partition, err := strconv.ParseInt(m[2], 10, 32)
		offset, err2 := strconv.ParseInt(m[3], 10, 64)
		if err == nil && err2 == nil {
			return RecordPlace{m[1], int32(partition), offset}, nil
		}
	}
	return RecordPlace{}, fmt.Errorf("record %q: want TOPIC/PARTITION@OFFSET, such as answers/3@120", text)
}

var placeLike = regexp.MustCompile(`^([A-Za-z0-9._-]+)/([0-9]+)@([0-9]+)$`)

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
func (p RecordPlace) Filter() DeadLetterFilter {
	return DeadLetterFilter{Topics: []string{p.Topic}, Partitions: []int32{p.Partition}, Offsets: []int64{p.Offset}}
}

// A DeadLetterLine is a dead letter without its bytes.
type DeadLetterLine struct {
	Topic      string    `ch:"log_topic"`
	Partition  int32     `ch:"log_partition"`
	Offset     int64     `ch:"log_offset"`
	AppendedAt time.Time `ch:"appended_at"`
	Key        string    `ch:"key"`
	Bytes      uint64    `ch:"bytes"` // of key and value
	Reason     string    `ch:"reason"`
	Detail     string    `ch:"detail"`
}

// Place is where the record stood.
func (l *DeadLetterLine) Place() RecordPlace { return RecordPlace{l.Topic, l.Partition, l.Offset} }

type deadLetterPageParams struct {
	DeadLetterFilter
	AfterTopic     string `ch:"after_topic"`
	AfterPartition int32  `ch:"after_partition"`
	AfterOffset    int64  `ch:"after_offset"`
	Limit          uint32 `ch:"limit"`
}

var deadLetterPage = query[deadLetterPageParams, DeadLetterLine]("deadletter_page")

// DeadLetterPage lists dead letters after a place in the order of the log, at most
// limit of them.
func DeadLetterPage(ctx context.Context, conn *Conn, filter DeadLetterFilter, after RecordPlace, limit int) ([]DeadLetterLine, error) {
	return deadLetterPage.All(ctx, conn, deadLetterPageParams{filter, after.Topic, after.Partition, after.Offset, uint32(limit)})
}

var deadLetterEnds = query[struct{}, RecordPlace]("deadletter_ends")

// DeadLetterEnds are the places of the last dead letter of each partition.
func DeadLetterEnds(ctx context.Context, conn *Conn) ([]RecordPlace, error) {
	return deadLetterEnds.All(ctx, conn, struct{}{})
}

type deadLettersWholeParams struct {
	Topic     string  `ch:"topic"`
	Partition int32   `ch:"partition"`
	Offsets   []int64 `ch:"offsets"`
}

var deadLettersWhole = query[deadLettersWholeParams, DeadLetter]("deadletters_whole")

// WholeDeadLetters are the dead letters of one partition at some offsets, in their
// order. The caller bounds what they weigh.
func WholeDeadLetters(ctx context.Context, conn *Conn, topic string, partition int32, offsets []int64) ([]DeadLetter, error) {
	return deadLettersWhole.All(ctx, conn, deadLettersWholeParams{topic, partition, offsets})
}

// The marks of a record.
const (
	MarkRefused    = "refused"    // the server does not take its row
	MarkLate       = "late"       // it begins a batch that landed long after it was first sent
	MarkReconciled = "reconciled" // the figures of the month were found right since
	MarkReplayed   = "replayed"   // it was appended again
)

// A Mark is something that became of a record. Two alike are one.
type Mark struct {
	Topic     string `ch:"log_topic"`
	Partition int32  `ch:"log_partition"`
	Offset    int64  `ch:"log_offset"`
	Mark      string `ch:"mark"`
	Landing   string `ch:"landing"` // table that its row is for; "" of MarkReplayed
	Month     uint32 `ch:"month"`   // of its row, as 202603; 0 of MarkReplayed
	Detail    string `ch:"detail"`
}

var deadLetterMarks = table[Mark]("deadletter_marks")

// Place is where the record stands.
func (m Mark) Place() RecordPlace { return RecordPlace{m.Topic, m.Partition, m.Offset} }

// MarkRecords writes marks down for good, of a cluster on whichever shard.
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

// MarksBetween are the marks of the records from one place to another, both
// included, in the order of the log and then of time.
func MarksBetween(ctx context.Context, conn *Conn, from, to RecordPlace) ([]MarkRead, error) {
	return deadLetterMarksBetween.All(ctx, conn, marksParams{from.Topic, from.Partition, from.Offset, to.Topic, to.Partition, to.Offset})
}

// A Suspect is a record for which some rollups of a month may be wrong: a refused one,
// whose row they may have taken before another one refused it, or the first of a late
// batch, of which nobody knows which of them took it before.
type Suspect struct {
	Landing   string `ch:"landing"` // table whose rollups these are
	Month     uint32 `ch:"month"`   // as 202603
	Topic     string `ch:"log_topic"`
	Partition int32  `ch:"log_partition"`
	Offset    int64  `ch:"log_offset"`
}

var suspectRecords = query[struct{}, Suspect]("suspect_records")

// Suspects are those that nobody has settled. What was to be inserted or deleted of
// their batches has been.
func Suspects(ctx context.Context, conn *Conn) ([]Suspect, error) {
	return suspectRecords.All(ctx, conn, struct{}{})
}

// SettleSuspects says that all rollups of their landing tables were found right in
// their months, or were mended, after they were listed. Refused ones may be replayed then.
func SettleSuspects(ctx context.Context, conn *Conn, suspects []Suspect) error {
	var marks []Mark
	for _, s := range suspects {
		marks = append(marks, Mark{s.Topic, s.Partition, s.Offset, MarkReconciled, s.Landing, s.Month, ""})
	}
	return MarkRecords(ctx, conn, marks)
}
