package upkeep

import (
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A dead letter gets the marks of its own record, and no other.
func TestADeadLetterGetsItsMarks(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 5, 0, 0, time.UTC)
	letter := func(partition int32, offset int64, reason string) clickhouse.DeadLetterLine {
		return clickhouse.DeadLetterLine{
			LogPosition: clickhouse.LogPosition{Topic: "answers", Partition: partition, Offset: offset}, Reason: reason,
		}
	}
	mark := func(partition int32, offset int64, mark string, month clickhouse.Month) clickhouse.TimedMark {
		return clickhouse.TimedMark{
			RecordMark: clickhouse.RecordMark{
				LogPosition: clickhouse.LogPosition{
					Topic: "answers", Partition: partition, Offset: offset,
				}, Mark: mark, Landing: "answers", Month: month,
			}, At: at,
		}
	}
	lines := withMarks(
		[]clickhouse.DeadLetterLine{
			letter(0, 1, "malformed"), letter(0, 3, "malformed"), letter(0, 5, "month frozen"),
			letter(2, 0, "malformed"), letter(2, 9, "malformed"),
		},
		[]clickhouse.TimedMark{
			mark(0, 1, "suspect", 202603), mark(0, 1, "reconciled", 202603), // of the batch that begins there
			mark(0, 2, "replayed", 0),
			mark(0, 5, "suspect", 202603), mark(0, 5, "replayed", 0),
			mark(1, 7, "replayed", 0),
			mark(2, 9, "replayed", 0), mark(2, 9, "replayed", 0),
		})
	for i, want := range []bool{false, false, true, false, true} {
		if l := lines[i]; l.ReplayedAt.IsZero() == want {
			t.Errorf("%s: replayed %v, want %v", l.LogPosition, l.ReplayedAt, want)
		}
	}
}

// No chunk has two partitions, or more than its bounds unless it is one dead letter.
func TestChunks(t *testing.T) {
	line := func(partition int32, bytes uint64) DeadLetter {
		return DeadLetter{DeadLetterLine: clickhouse.DeadLetterLine{
			LogPosition: clickhouse.LogPosition{Topic: "answers", Partition: partition}, Bytes: bytes,
		}}
	}
	var lines []DeadLetter
	for range chunkRecords + 1 {
		lines = append(lines, line(0, 1))
	}
	lines = append(lines, line(1, chunkBytes+1), line(1, chunkBytes), line(1, 1))
	var sizes []int
	for chunk := range chunks(lines) {
		sizes = append(sizes, len(chunk))
	}
	if len(sizes) != 5 || sizes[0] != chunkRecords || sizes[1] != 1 || sizes[2] != 1 || sizes[3] != 1 || sizes[4] != 1 {
		t.Errorf("chunks of %v", sizes)
	}
}
