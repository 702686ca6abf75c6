package sink

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"

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
	rows := in.rows
	if in.Repeated && len(rows) > 0 {
		var err error
		if rows, err = in.missingRows(ctx); err != nil {
			return err
		}
	}
	if err := in.checkOwnership(); err != nil {
		return err
	}
	if err := in.topic.table.Insert(ctx, in.conn, in.Token(), rows); err != nil {
		err = in.refusal(err)
		in.Repeated = in.Repeated || !errors.Is(err, consume.ErrRefused) // what was refused is to be refused again
		return err
	}
	fault.Pass(fault.Inserted)
	return nil
}

// insertDeadLetters inserts them before the rows. Another build may repeat the batch and decode a record that this one
// could not: its row is then dropped where the month already has the batch's token, and the dead letter is what
// remains. That build has other dead letters, so their token names them. In the end a record is in the landing table,
// among the dead letters, or in both, never in neither.
func (in *insertion[R]) insertDeadLetters(ctx context.Context) error {
	if len(in.deadLetters) == 0 {
		return nil
	}
	if err := in.checkOwnership(); err != nil {
		return err
	}
	which := crc32.NewIEEE()
	for i := range in.deadLetters {
		fmt.Fprintln(which, in.deadLetters[i].LogOffset)
	}
	return clickhouse.DeadLetters.Insert(ctx, in.conn, fmt.Sprintf("%s/letters/%08x", in.Token(), which.Sum32()), in.deadLetters)
}

// refusal is a consume.ErrRefused that names the table or view, if the server refuses the rows; else it is err.
func (in *insertion[R]) refusal(err error) error {
	refuser, refused := clickhouse.Refused(err)
	if !refused {
		return err
	}
	if refuser == "" {
		refuser = "table " + in.topic.table.Name
	}
	return fmt.Errorf("%w by %s: %w", consume.ErrRefused, refuser, err)
}
