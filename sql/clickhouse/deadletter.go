package clickhouse

import (
	"context"
	"time"
)

// DeadLetter is a record of the log that is in no landing table, with its bytes.
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

// DeadLetters is the table of records that could not be read, or whose month is frozen.
var DeadLetters = table[DeadLetter]("deadletters")

// DeadLetterFilter filters a list; an empty field filters nothing.
type DeadLetterFilter struct {
	Topics     []string `ch:"topics"`
	Partitions []int32  `ch:"partitions"`
	Offsets    []int64  `ch:"offsets"`
	Reasons    []string `ch:"reasons"`
	DateFrom   Day      `ch:"date_from"` // of AppendedAt
	DateTo     Day      `ch:"date_to"`
}

// Filter selects the dead letter of one record.
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

// DeadLetterPage returns at most limit dead letters after a position, in the order of the log.
func DeadLetterPage(
	ctx context.Context, conn *Conn, filter DeadLetterFilter, after LogPosition, limit int,
) ([]DeadLetterLine, error) {
	return deadLetterPage.All(ctx, conn,
		deadLetterPageParams{filter, after.Topic, after.Partition, after.Offset, uint32(limit)})
}

var deadLetterEnds = query[struct{}, LogPosition]("deadletter_ends")

// DeadLetterEnds returns the position of the last dead letter of each partition.
func DeadLetterEnds(ctx context.Context, conn *Conn) ([]LogPosition, error) {
	return deadLetterEnds.All(ctx, conn, struct{}{})
}

type (
	deadAnswersParams struct {
		Brands []string `ch:"brands"`
		IDs    []UUID   `ch:"ids"`
	}
	deadAnswer struct {
		Brand string `ch:"key"`
		ID    UUID   `ch:"id"`
	}
)

var deadAnswers = query[deadAnswersParams, deadAnswer]("dead_answers")

// DeadAnswers returns the keys whose answers are dead letters, at any position of the log.
func DeadAnswers(ctx context.Context, conn *Conn, keys []Key, _ LogLimit) (map[Key]bool, error) {
	var brands, ids []UUID
	for _, k := range keys {
		brands, ids = append(brands, k.BrandID), append(ids, k.ID)
	}
	rows, err := deadAnswers.All(ctx, conn, deadAnswersParams{mapSlice(distinct(brands), UUID.String), ids})
	letters := map[deadAnswer]bool{}
	for _, r := range rows {
		letters[r] = true
	}
	dead := map[Key]bool{}
	for _, k := range keys {
		if letters[deadAnswer{k.BrandID.String(), k.ID}] {
			dead[k] = true
		}
	}
	return dead, err
}

type deadLettersAtParams struct {
	partitionParams
	Offsets []int64 `ch:"offsets"`
}

var deadLettersAt = query[deadLettersAtParams, DeadLetter]("deadletters_whole")

// DeadLettersAt returns the dead letters at offsets of a partition, in their order. The caller bounds their bytes.
func DeadLettersAt(
	ctx context.Context, conn *Conn, topic string, partition int32, offsets []int64,
) ([]DeadLetter, error) {
	return deadLettersAt.All(ctx, conn, deadLettersAtParams{partitionParams{topic, partition}, offsets})
}
