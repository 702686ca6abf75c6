package clickhouse

import (
	"context"
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

// DeadAnswers says which of keys are those of answers that are dead letters, wherever on the log.
func DeadAnswers(ctx context.Context, conn *Conn, keys []Key, _ LogLimit) (map[Key]bool, error) {
	var brands, ids []UUID
	for _, k := range keys {
		brands, ids = append(brands, k.BrandID), append(ids, k.ID)
	}
	rows, err := deadAnswers.All(ctx, conn, deadAnswersParams{texts(distinct(brands), UUID.String), ids})
	found := map[deadAnswer]bool{}
	for _, r := range rows {
		found[r] = true
	}
	dead := map[Key]bool{}
	for _, k := range keys {
		if found[deadAnswer{k.BrandID.String(), k.ID}] {
			dead[k] = true
		}
	}
	return dead, err
}

type deadLettersWholeParams struct {
	partitionParams
	Offsets []int64 `ch:"offsets"`
}

var deadLettersWhole = query[deadLettersWholeParams, DeadLetter]("deadletters_whole")

// DeadLettersAt are the dead letters of one partition at some offsets, in their order. The caller bounds their
// bytes.
func DeadLettersAt(ctx context.Context, conn *Conn, topic string, partition int32, offsets []int64) ([]DeadLetter, error) {
	return deadLettersWhole.All(ctx, conn, deadLettersWholeParams{partitionParams{topic, partition}, offsets})
}
