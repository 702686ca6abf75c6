package sink

import (
	"context"
	"slices"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A plan expires: its partition stopped with the plan open, or inserts failed for long. Each table remembers a token for
// so many parts of all inserts, so that by then one table may have forgotten it and another not. The landing table says
// what has landed, though: only what is missing there is inserted, and the batch's months are suspect until their rollups
// are reconciled. The plan says that it has expired before anything is inserted, so that every later try does the same.

func (l *landing[R]) expired() bool { return l.Plan.Expired && len(l.rows) > 0 }

// missingRows are the rows of an expired plan that the landing table lacks, with their token: the batch's own while none
// has landed, since a frozen server may still have the first insert to do. A month lands whole or not at all, so that two
// tries differ by whole months, each of which has a token.
func (l *landing[R]) missingRows(ctx context.Context) (missing []R, token string, err error) {
	first, last := l.position(l.First), l.position(l.Last)
	landed, err := l.topic.table.Between(ctx, l.conn, first, last, monthsOf(l.rows))
	if err != nil {
		return nil, "", err
	}
	for _, row := range l.rows {
		if !landed[row.Origin().RowMonth()] {
			missing = append(missing, row)
		}
	}
	l.log.Warn("inserting a batch whose plan has expired", "batch", l.String(), "planned", time.UnixMilli(l.Plan.Since).UTC(),
		"landed", len(l.rows)-len(missing), "missing", len(missing),
		"next", "nothing: rollups that lack some of it, or took it twice, are repaired within minutes")
	if len(missing) == len(l.rows) {
		return missing, l.Token(), nil
	}
	return missing, l.Token() + "/expired", nil
}

func (l *landing[R]) position(offset int64) clickhouse.LogPosition {
	return clickhouse.LogPosition{Topic: l.Batch.Topic, Partition: l.Partition, Offset: offset}
}

// monthsOf are those of rows, each once.
func monthsOf[R Row](rows []R) []uint32 {
	seen := map[uint32]bool{}
	var months []uint32
	for _, row := range rows {
		if m := row.Origin().Month(); !seen[m] {
			seen[m] = true
			months = append(months, m)
		}
	}
	slices.Sort(months)
	return months
}
