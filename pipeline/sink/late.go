package sink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A batch may be sent once more long after it was first sent: its partition stopped
// with the plan open, or an insert failed for hours. Each table remembers a token for
// so many parts of every partition's inserts, so that it may be forgotten by then, in
// one table and not in another. The landing table tells what landed, though:
//
//  1. look: which records of the batch have rows there
//  2. try: those rows are inserted into a twin. Nothing else says that the server takes
//     them by now: whether a view made anything of them cannot be seen
//  3. insert: what has no rows there, under a token of its own
//  4. mark: the months of the batch are suspect until their rollups are found right
//
// The plan says that the batch is late before anything is sent, so that whoever
// repeats it does all this too. A month lands whole or not at all, which is why what
// is missing differs between two tries by whole months, each with a token.

// send inserts rows of a batch that were not refused.
func (l *landing[R]) send(ctx context.Context, s sending, rows []R, ours func() error) error {
	if !s.plan.Late || len(rows) == 0 {
		return l.table.Insert(ctx, l.conn, s.token, rows)
	}
	months := monthsOf(rows)
	landed, err := l.table.Between(ctx, l.conn, s.from, s.to, months)
	if err != nil {
		return err
	}
	var there, missing []R
	for _, row := range rows {
		if landed[row.Place().RowMonth()] {
			there = append(there, row)
		} else {
			missing = append(missing, row)
		}
	}
	l.log.Warn("landing a batch late", "batch", s.name, "planned", time.UnixMilli(s.plan.Since).UTC(), "landed", len(there), "missing", len(missing),
		"next", "nothing: rollups that lack some of it, or took it twice, are mended within minutes")
	if err := l.tryOut(ctx, s, there); err != nil {
		return fmt.Errorf("try rows that landed before: %w", err)
	}
	if err := ours(); err != nil { // looking took its time
		return err
	}
	return l.table.Insert(ctx, l.conn, s.token+"/late", missing)
}

// tryOut is nil when a twin of the tables takes rows.
func (l *landing[R]) tryOut(ctx context.Context, s sending, rows []R) (err error) {
	if len(rows) == 0 {
		return nil
	}
	twin, err := clickhouse.Twin(ctx, l.conn, s.probe(), false)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropPatience)
		defer cancel()
		err = errors.Join(err, clickhouse.DropTwin(ctx, l.conn, s.probe()))
	}()
	return l.table.In(twin).Insert(ctx, l.conn, s.token, rows)
}

// suspect marks the months of a batch that landed late. It is the last that is done
// with its rows, so that whoever compares the months then finds all of them.
func (l *landing[R]) suspect(ctx context.Context, s sending, rows []R) error {
	if !s.plan.Late || len(rows) == 0 {
		return nil
	}
	var marks []clickhouse.Mark
	for _, month := range monthsOf(rows) {
		marks = append(marks, clickhouse.Mark{
			Topic: s.from.Topic, Partition: s.from.Partition, Offset: s.from.Offset,
			Mark: clickhouse.MarkLate, Landing: l.table.Name, Month: month,
		})
	}
	return clickhouse.MarkRecords(ctx, l.conn, marks)
}

// monthsOf are those of rows, each once.
func monthsOf[R placed](rows []R) []uint32 {
	seen := map[uint32]bool{}
	var months []uint32
	for _, row := range rows {
		if m := row.Place().Month(); !seen[m] {
			seen[m] = true
			months = append(months, m)
		}
	}
	slices.Sort(months)
	return months
}
