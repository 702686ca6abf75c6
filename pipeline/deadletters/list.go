package deadletters

import (
	"context"
	"slices"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A Line is a dead letter without its bytes, and what became of it since.
type Line struct {
	clickhouse.DeadLetterLine
	ReplayedAt time.Time         // zero: not yet
	Suspects   []clickhouse.Mark // the months that are to be reconciled first
}

// pageLines bounds what is held of a list.
const pageLines = 1000

// Each hands over the dead letters that a filter lets pass, in the order of the log,
// until take returns an error, which it returns. It holds a page of them at a time.
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
		first := page[0].Place()
		after = page[len(page)-1].Place()
		marks, err := clickhouse.MarksBetween(ctx, conn, first, after)
		if err != nil {
			return err
		}
		if err := take(marked(page, marks)); err != nil || len(page) < pageLines {
			return err
		}
	}
}

// marked puts marks beside their letters. Both are in the order of the log.
func marked(page []clickhouse.DeadLetterLine, marks []clickhouse.MarkRead) []Line {
	lines := make([]Line, len(page))
	for i, letter := range page {
		for len(marks) > 0 && before(marks[0].Place(), letter.Place()) {
			marks = marks[1:]
		}
		n := 0
		for n < len(marks) && marks[n].Place() == letter.Place() {
			n++
		}
		lines[i] = Line{DeadLetterLine: letter}
		lines[i].read(marks[:n])
		marks = marks[n:]
	}
	return lines
}

func before(a, b clickhouse.RecordPlace) bool { return a.Compare(b) < 0 }

// read takes in the marks of one letter. Only what the server refused has months to
// be reconciled: a record that was marked so and was put aside for another reason
// has left nothing.
func (l *Line) read(marks []clickhouse.MarkRead) {
	for _, m := range marks {
		switch m.Mark.Mark {
		case clickhouse.MarkReplayed:
			l.ReplayedAt = m.At
		case clickhouse.MarkRefused:
			same := func(s clickhouse.Mark) bool { return s.Landing == m.Landing && s.Month == m.Month }
			if l.Reason == clickhouse.MarkRefused && !slices.ContainsFunc(l.Suspects, same) {
				l.Suspects = append(l.Suspects, m.Mark)
			}
		}
	}
	l.Suspects = slices.DeleteFunc(l.Suspects, func(s clickhouse.Mark) bool {
		return slices.ContainsFunc(marks, func(m clickhouse.MarkRead) bool {
			return m.Mark.Mark == clickhouse.MarkReconciled && m.Landing == s.Landing && m.Month == s.Month
		})
	})
}
