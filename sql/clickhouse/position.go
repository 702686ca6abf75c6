package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A LogPosition is the position of a record. Positions are ordered by topic, then partition, then offset, and BeforeAll
// precedes all.
type LogPosition struct {
	Topic     string `ch:"log_topic" json:"topic"`
	Partition int32  `ch:"log_partition" json:"partition"`
	Offset    int64  `ch:"log_offset" json:"offset"`
}

// A TopicPartition is one partition of a topic.
type TopicPartition struct {
	Topic     string `ch:"log_topic"`
	Partition int32  `ch:"log_partition"`
}

// BeforeAll is not the position of a record.
var BeforeAll = LogPosition{Partition: -1, Offset: -1}

// String writes the position for people: answers/3@120.
func (p LogPosition) String() string { return fmt.Sprintf("%s/%d@%d", p.Topic, p.Partition, p.Offset) }

// Compare orders positions.
func (p LogPosition) Compare(q LogPosition) int {
	return cmp.Or(
		strings.Compare(p.Topic, q.Topic), cmp.Compare(p.Partition, q.Partition), cmp.Compare(p.Offset, q.Offset))
}

// ParseLogPosition reads the output of String.
func ParseLogPosition(text string) (LogPosition, error) {
	if m := positionLike.FindStringSubmatch(text); m != nil {
		partition, tooLarge := strconv.ParseInt(m[2], 10, 32)
		offset, tooLong := strconv.ParseInt(m[3], 10, 64)
		if tooLarge == nil && tooLong == nil {
			return LogPosition{m[1], int32(partition), offset}, nil
		}
	}
	return LogPosition{}, fmt.Errorf("record %q: want TOPIC/PARTITION@OFFSET, such as answers/3@120", text)
}

var positionLike = regexp.MustCompile(`^([A-Za-z0-9._-]+)/([0-9]+)@([0-9]+)$`)

type partitionParams struct {
	Topic     string `ch:"topic"`
	Partition int32  `ch:"partition"`
}

type logProgressRow struct {
	Topic     string `ch:"log_topic"`
	Partition int32  `ch:"log_partition"`
	Last      int64  `ch:"last_offset"`
}

var (
	logProgress = table[logProgressRow]("log_progress")
	logPosition = query[partitionParams, logProgressRow]("log_position")
)

// LastOffset returns the largest offset of a partition that has landed; ok is false if none has.
func LastOffset(ctx context.Context, conn *Conn, topic string, partition int32) (last int64, ok bool, err error) {
	rows, err := logPosition.All(ctx, conn, partitionParams{topic, partition})
	if err != nil {
		return 0, false, fmt.Errorf("read position of %s/%d: %w", topic, partition, err)
	}
	if len(rows) == 0 {
		return 0, false, nil
	}
	return rows[0].Last, true, nil
}

// AdvanceLog records at a shard that the log has landed up to a position, like the views of landing tables. It is
// idempotent, and a smaller offset changes nothing.
func AdvanceLog(ctx context.Context, conn *Conn, to LogPosition) error {
	return logProgress.Insert(ctx, conn, "", []logProgressRow{{to.Topic, to.Partition, to.Offset}})
}
