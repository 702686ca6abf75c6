package sink

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A plan expires: its partition stopped with the plan open, or inserts failed for long. Each table remembers a token
// for so many parts of all inserts, so that by then one table may have forgotten it and another not. The landing table
// says what has landed, though: only what is missing there is inserted, and the batch's months are suspect until their
// rollups are reconciled. The plan says that it has expired before anything is inserted, so every later try does too.

func (in *insertion[R]) expired() bool { return in.Plan.Expired && len(in.rows) > 0 }

// missingRows are the rows of an expired plan that the landing table lacks, with their token: the batch's own while
// none has landed, since a frozen server may still have the first insert to do. A month lands whole or not at all, so
// that two tries differ by whole months, each of which has a token.
func (in *insertion[R]) missingRows(ctx context.Context) (missing []R, token string, err error) {
	first, last := in.position(in.First), in.position(in.Last)
	landed, err := in.topic.table.Between(ctx, in.conn, first, last, monthsOf(in.rows))
	if err != nil {
		return nil, "", err
	}
	for _, row := range in.rows {
		if !landed[clickhouse.RowMonth{Offset: row.Offset(), Month: row.Month()}] {
			missing = append(missing, row)
		}
	}
	in.log.Warn("inserting a batch whose plan has expired", "batch", in.String(), "planned", time.UnixMilli(in.Plan.Since).UTC(),
		"landed", len(in.rows)-len(missing), "missing", len(missing),
		"next", "nothing: rollups that lack some of it, or took it twice, are repaired within minutes")
	if len(missing) == len(in.rows) {
		return missing, in.Token(), nil
	}
	return missing, in.Token() + "/expired", nil
}

func (in *insertion[R]) position(offset int64) clickhouse.LogPosition {
	return clickhouse.LogPosition{Topic: in.Batch.Topic, Partition: in.Partition, Offset: offset}
}

// monthsOf are those of rows, each once.
func monthsOf[R Row](rows []R) []clickhouse.Month {
	months := map[clickhouse.Month]bool{}
	for _, row := range rows {
		months[row.Month()] = true
	}
	return slices.Sorted(maps.Keys(months))
}
