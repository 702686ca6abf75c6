package sink

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// insert inserts the batch's dead letters, and then its rows under its token.
func (in *insertion[R]) insert(ctx context.Context) error {
	select {
	case in.shard.writers <- struct{}{}:
		defer func() { <-in.shard.writers }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := in.insertDeadLetters(ctx); err != nil {
		return err
	}
	missing, landed := in.rows, []R(nil)
	if in.batch.Repeated && len(in.rows) > 0 {
		var err error
		if missing, landed, err = in.missingRows(ctx); err != nil {
			return err
		}
	}
	if err := in.checkOwnership(); err != nil {
		return err
	}
	err := in.sink.topic.table.Insert(ctx, in.conn, in.batch.Token(), missing)
	if err == nil && len(landed) > 0 && in.conn.Replicated() {
		if err := in.checkOwnership(); err != nil {
			return err
		}
		err = in.sink.topic.table.Complete(ctx, in.conn, in.batch.Token(), landed)
	}
	if err != nil {
		err = in.refusal(err)
		// A refused batch is sent whole again: a table may have taken it, and the view that refused it has not.
		if !errors.Is(err, consume.ErrRefused) {
			in.batch.Repeated = true
		}
		return err
	}
	if in.batch.Repeated {
		if err := in.conn.Settle(ctx); err != nil {
			return err
		}
	}
	fault.Pass(fault.Inserted)
	return nil
}

// insertDeadLetters inserts them before the rows. Another build may replay the batch and decode a record that this one
// could not: its row is then dropped where the month already has the batch's token, and the dead letter remains. That
// build has other dead letters, so their token names them. In the end a record is in the landing table, among the dead
// letters, or in both, never in neither.
func (in *insertion[R]) insertDeadLetters(ctx context.Context) error {
	if len(in.deadLetters) == 0 {
		return nil
	}
	if err := in.checkOwnership(); err != nil {
		return err
	}
	offsets := crc32.NewIEEE()
	for i := range in.deadLetters {
		fmt.Fprintln(offsets, in.deadLetters[i].LogOffset)
	}
	token := fmt.Sprintf("%s/letters/%08x", in.batch.Token(), offsets.Sum32())
	if in.batch.Repeated {
		return clickhouse.DeadLetters.Complete(ctx, in.conn, token, in.deadLetters)
	}
	err := clickhouse.DeadLetters.Insert(ctx, in.conn, token, in.deadLetters)
	in.batch.Repeated = err != nil
	return err
}

// missingRows returns the rows of a repeated batch that the landing table lacks, and the others.
//
// A batch is repeated when its plan was found open, or when the end of an insert is unknown. Its token proves nothing:
// tables forget tokens at different times, and a server that lost power has the parts, which it syncs, and not the
// tokens, which it does not. So the landing table is read. A month lands whole or not at all, so the missing rows are
// whole months. They keep the batch's token, which each month remembers for itself: an earlier insert may still be
// under way. The batch's months are suspect until their rollups are reconciled.
//
// Replicas lose no token with their power, since Keeper has the last 50,000, for a week. So there the landed rows are
// sent again, too: the rollups are complete before the batch is committed, and no figure lacks a committed row.
func (in *insertion[R]) missingRows(ctx context.Context) (missing, landed []R, err error) {
	first, last := in.position(in.batch.First), in.position(in.batch.Last)
	months, err := in.sink.topic.table.LandedMonths(ctx, in.conn, first, last, monthsOf(in.rows))
	if err != nil {
		return nil, nil, err
	}
	for _, row := range in.rows {
		if months[clickhouse.RowMonth{Offset: row.Offset(), Month: row.Month()}] {
			landed = append(landed, row)
		} else {
			missing = append(missing, row)
		}
	}
	in.sink.log.Info("repeating a batch",
		"batch", in.batch.String(), "landed", len(landed), "missing", len(missing))
	return missing, landed, nil
}

// monthsOf returns the months of rows, each once.
func monthsOf[R Row](rows []R) []clickhouse.Month {
	months := map[clickhouse.Month]bool{}
	for _, row := range rows {
		months[row.Month()] = true
	}
	return slices.Sorted(maps.Keys(months))
}

// refusal makes a consume.ErrRefused that names the table or view, if the server refuses the rows.
func (in *insertion[R]) refusal(err error) error {
	refuser, refused := clickhouse.Refused(err)
	if !refused {
		return err
	}
	if refuser == "" {
		refuser = "table " + in.sink.topic.table.Name
	}
	return fmt.Errorf("%w by %s: %w", consume.ErrRefused, refuser, err)
}
