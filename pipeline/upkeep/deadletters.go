package upkeep

import (
	"context"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A DeadLetter is a dead letter without its bytes, and when it was replayed.
type DeadLetter struct {
	clickhouse.DeadLetterLine
	ReplayedAt time.Time // zero: not yet
}

// deadLettersAtOnce bounds what is held of a list.
const deadLettersAtOnce = 1000

// EachDeadLetter calls take with each dead letter that passes the filter, in the order of the log, until take returns an error,
// which it returns. It holds a page of them at a time.
func EachDeadLetter(ctx context.Context, conn *clickhouse.Conn, filter clickhouse.DeadLetterFilter, take func(DeadLetter) error) error {
	return deadLetterPages(ctx, conn, filter, func(lines []DeadLetter) error {
		for _, line := range lines {
			if err := take(line); err != nil {
				return err
			}
		}
		return nil
	})
}

func deadLetterPages(ctx context.Context, conn *clickhouse.Conn, filter clickhouse.DeadLetterFilter, take func([]DeadLetter) error) error {
	after := clickhouse.BeforeAll
	for {
		page, err := clickhouse.DeadLetterPage(ctx, conn, filter, after, deadLettersAtOnce)
		if err != nil || len(page) == 0 {
			return err
		}
		first := page[0].LogPosition
		after = page[len(page)-1].LogPosition
		marks, err := clickhouse.MarksBetween(ctx, conn, first, after)
		if err != nil {
			return err
		}
		if err := take(withMarks(page, marks)); err != nil || len(page) < deadLettersAtOnce {
			return err
		}
	}
}

// withMarks adds when each dead letter was replayed. Both lists are in the order of the log.
func withMarks(page []clickhouse.DeadLetterLine, marks []clickhouse.TimedMark) []DeadLetter {
	lines := make([]DeadLetter, len(page))
	for i, letter := range page {
		lines[i] = DeadLetter{DeadLetterLine: letter}
		for len(marks) > 0 && marks[0].LogPosition.Compare(letter.LogPosition) <= 0 {
			if marks[0].LogPosition == letter.LogPosition && marks[0].Mark == clickhouse.MarkReplayed {
				lines[i].ReplayedAt = marks[0].At
			}
			marks = marks[1:]
		}
	}
	return lines
}
