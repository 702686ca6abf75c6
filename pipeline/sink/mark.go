package sink

import (
	"context"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// mark notes what an insert does not note by itself: progress on the log that no view notes, and suspect months.
func (in *insertion[R]) mark(ctx context.Context) error {
	if to, ok := in.progressToNote(); ok {
		if err := clickhouse.AdvanceLog(ctx, in.conn, in.position(to)); err != nil {
			return err
		}
	}
	if in.Repeated && len(in.rows) > 0 { // last, so that a comparison of the months then finds all rows of the batch
		if err := clickhouse.MarkSuspects(ctx, in.conn, in.topic.table.Name, in.position(in.First), monthsOf(in.rows)); err != nil {
			return err
		}
	}
	if in.cached != nil {
		in.cache.put(clickhouse.TopicPartition{Topic: in.Batch.Topic, Partition: in.Partition}, in.cached.advance(in.Last+1))
	}
	in.shard.metrics.count(len(in.rows), in.outcomes, in.deadLetters)
	if len(in.deadLetters) > 0 { // one line for a batch, however much of it is garbage
		first := &in.deadLetters[0]
		in.log.Warn("dead letters", "batch", in.String(), "count", len(in.deadLetters), "first", first.LogOffset, "reason", first.Reason, "cause", first.Detail,
			"next", "in the morning: answerscope deadletters list")
	}
	return nil
}

// progressToNote is the offset up to which everything has landed; ok is true where no view notes it: for dead letters
// after the last row, and for rows that a repeated batch does not insert again.
func (in *insertion[R]) progressToNote() (to int64, ok bool) {
	lastDead, lastRow := int64(-1), int64(-1)
	if n := len(in.deadLetters); n > 0 {
		lastDead = in.deadLetters[n-1].LogOffset
	}
	if n := len(in.rows); n > 0 {
		lastRow = in.rows[n-1].Offset()
	}
	return max(lastDead, lastRow), lastDead > lastRow || in.Repeated && lastRow >= 0
}
