package sink

import (
	"context"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// mark notes what an insert does not note by itself: progress on the log that no view has seen, and suspect months.
func (l *landing[R]) mark(ctx context.Context) error {
	if to := l.unseenProgress(); to >= 0 {
		if err := clickhouse.AdvanceLog(ctx, l.conn, l.position(to)); err != nil {
			return err
		}
	}
	if l.expired() { // last, so that a comparison of the months then finds all rows of the batch
		if err := l.markSuspects(ctx); err != nil {
			return err
		}
	}
	if l.cached != nil {
		l.cache.put(l.Batch.Topic, l.Partition, l.cached.advance(l.Last+1))
	}
	l.shard.metrics.count(len(l.rows), l.outcomes, l.deadLetters)
	if len(l.deadLetters) > 0 { // one line for a batch, however much of it is garbage
		first := &l.deadLetters[0]
		l.log.Warn("dead letters", "batch", l.String(), "count", len(l.deadLetters), "first", first.LogOffset, "reason", first.Reason, "cause", first.Detail,
			"next", "in the morning: answerscope deadletters list")
	}
	return nil
}

// unseenProgress is the offset up to which everything has landed, -1 where a view has noted it: none does of dead letters
// after the last row, nor of rows that an expired plan does not insert again.
func (l *landing[R]) unseenProgress() int64 {
	lastDead, lastRow := int64(-1), int64(-1)
	if n := len(l.deadLetters); n > 0 {
		lastDead = l.deadLetters[n-1].LogOffset
	}
	if n := len(l.rows); n > 0 {
		lastRow = l.rows[n-1].Origin().Record.Offset
	}
	if lastDead < lastRow && !l.expired() {
		return -1
	}
	return max(lastDead, lastRow)
}

func (l *landing[R]) markSuspects(ctx context.Context) error {
	first := l.position(l.First)
	var marks []clickhouse.Mark
	for _, month := range monthsOf(l.rows) {
		marks = append(marks, clickhouse.Mark{LogPosition: first, Mark: clickhouse.MarkExpired, Landing: l.topic.table.Name, Month: month})
	}
	return clickhouse.MarkRecords(ctx, l.conn, marks)
}
