package deadletters

import (
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Pages and marks are put side by side by their places, marks of other records and
// months passed over.
func TestMarksStandBesideTheirLetters(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 5, 0, 0, time.UTC)
	letter := func(partition int32, offset int64, reason string) clickhouse.DeadLetterLine {
		return clickhouse.DeadLetterLine{Topic: "answers", Partition: partition, Offset: offset, Reason: reason}
	}
	mark := func(partition int32, offset int64, mark string, month uint32) clickhouse.MarkRead {
		return clickhouse.MarkRead{Mark: clickhouse.Mark{Topic: "answers", Partition: partition, Offset: offset, Mark: mark, Landing: "answers", Month: month}, At: at}
	}
	lines := marked(
		[]clickhouse.DeadLetterLine{letter(0, 1, "refused"), letter(0, 3, "malformed"), letter(0, 5, "refused"), letter(2, 0, "refused"), letter(2, 9, "malformed")},
		[]clickhouse.MarkRead{
			mark(0, 1, "refused", 202603), mark(0, 1, "refused", 202603), mark(0, 1, "refused", 202604), mark(0, 1, "reconciled", 202604),
			mark(0, 2, "refused", 202603), // of a batch that is under way
			mark(0, 5, "refused", 202603), mark(0, 5, "reconciled", 202603), mark(0, 5, "replayed", 0),
			mark(1, 7, "replayed", 0),
			mark(2, 9, "refused", 202603), mark(2, 9, "replayed", 0),
		})
	for i, want := range []struct {
		suspects int
		replayed bool
	}{{1, false}, {0, false}, {0, true}, {0, false}, {0, true}} {
		if l := lines[i]; len(l.Suspects) != want.suspects || l.ReplayedAt.IsZero() == want.replayed {
			t.Errorf("%s: suspects %v, replayed %v", l.Place(), l.Suspects, l.ReplayedAt)
		}
	}
}

// No portion is of two partitions, or more than is held at once but for one letter.
func TestPortions(t *testing.T) {
	line := func(partition int32, bytes uint64) Line {
		return Line{DeadLetterLine: clickhouse.DeadLetterLine{Topic: "answers", Partition: partition, Bytes: bytes}}
	}
	var lines []Line
	for range heldLetters + 1 {
		lines = append(lines, line(0, 1))
	}
	lines = append(lines, line(1, heldBytes+1), line(1, heldBytes), line(1, 1))
	var sizes []int
	for portion := range portions(lines) {
		sizes = append(sizes, len(portion))
	}
	if len(sizes) != 5 || sizes[0] != heldLetters || sizes[1] != 1 || sizes[2] != 1 || sizes[3] != 1 || sizes[4] != 1 {
		t.Errorf("portions of %v", sizes)
	}
}
