package sink

import (
	"context"
	"maps"
	"slices"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A batch is repeated when its plan was found open, or when the end of an insert is not known. Its token does not say
// what has landed: tables forget tokens at different times, and a server that lost power has the parts, which it syncs,
// and not the tokens, which it does not. The landing table says it. Only what is missing there is inserted, and the
// batch's months are suspect until their rollups are reconciled.

// missingRows are the rows of a repeated batch that the landing table lacks. A month lands whole or not at all, so that
// they are whole months. They keep the batch's token, of which each month is known by itself: an earlier insert may
// still be under way.
func (in *insertion[R]) missingRows(ctx context.Context) (missing []R, err error) {
	first, last := in.position(in.First), in.position(in.Last)
	landed, err := in.topic.table.LandedMonths(ctx, in.conn, first, last, monthsOf(in.rows))
	if err != nil {
		return nil, err
	}
	for _, row := range in.rows {
		if !landed[clickhouse.RowMonth{Offset: row.Offset(), Month: row.Month()}] {
			missing = append(missing, row)
		}
	}
	in.log.Info("repeating a batch", "batch", in.String(), "landed", len(in.rows)-len(missing), "missing", len(missing))
	return missing, nil
}

// monthsOf are those of rows, each once.
func monthsOf[R Row](rows []R) []clickhouse.Month {
	months := map[clickhouse.Month]bool{}
	for _, row := range rows {
		months[row.Month()] = true
	}
	return slices.Sorted(maps.Keys(months))
}
