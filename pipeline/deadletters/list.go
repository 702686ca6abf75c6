package deadletters

import (
	"context"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A Line is a dead letter without its bytes, and when it was replayed.
type Line struct {
	clickhouse.DeadLetterLine
	ReplayedAt time.Time // zero: not yet
}

// pageLines bounds what is held of a list.
const pageLines = 1000

// Each calls take with each dead letter that passes the filter, in the order of the log, until take returns an error,
// which it returns. It holds a page of them at a time.
func Each(ctx context.Context, conn *clickhouse.Conn, filter clickhouse.DeadLetterFilter, take func(Line) error) error {
	return pages(ctx, conn, filter, func(lines []Line) error {
		for _, line := range lines {
			if err := take(line); err != nil {
				return err
			}
		}
		return nil
	})
}

func pages(ctx context.Context, conn *clickhouse.Conn, filter clickhouse.DeadLetterFilter, take func([]Line) error) error {
	after := clickhouse.BeforeAll
	for {
		page, err := clickhouse.DeadLetterPage(ctx, conn, filter, after, pageLines)
		if err != nil || len(page) == 0 {
			return err
		}
		first := page[0].LogPosition
		after = page[len(page)-1].LogPosition
		marks, err := clickhouse.MarksBetween(ctx, conn, first, after)
		if err != nil {
			return err
		}
		if err := take(withMarks(page, marks)); err != nil || len(page) < pageLines {
			return err
		}
	}
}

// withMarks adds when each dead letter was replayed. Both lists are in the order of the log.
func withMarks(page []clickhouse.DeadLetterLine, marks []clickhouse.TimedMark) []Line {
	lines := make([]Line, len(page))
	for i, letter := range page {
		lines[i] = Line{DeadLetterLine: letter}
		for len(marks) > 0 && marks[0].LogPosition.Compare(letter.LogPosition) <= 0 {
			if marks[0].LogPosition == letter.LogPosition && marks[0].Mark == clickhouse.MarkReplayed {
				lines[i].ReplayedAt = marks[0].At
			}
			marks = marks[1:]
		}
	}
	return lines
}
