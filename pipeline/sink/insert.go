package sink

import (
	"context"
	"fmt"
	"hash/crc32"

	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// insert inserts the batch's dead letters, and then its rows under its token.
func (l *landing[R]) insert(ctx context.Context) error {
	select {
	case l.shard.writers <- struct{}{}:
		defer func() { <-l.shard.writers }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := l.insertDeadLetters(ctx); err != nil {
		return err
	}
	if err := l.checkOwnership(); err != nil { // by now the plan may have expired
		return err
	}
	rows, token := l.rows, l.Token()
	if l.expired() {
		var err error
		if rows, token, err = l.missingRows(ctx); err != nil {
			return err
		}
		if err := l.checkOwnership(); err != nil {
			return err
		}
	}
	if err := l.topic.table.Insert(ctx, l.conn, token, rows); err != nil {
		return l.refusal(err)
	}
	fault.Pass(fault.Inserted)
	return nil
}

// insertDeadLetters comes before the rows: a build that repeats the batch may decode a record that this one does not, and
// its row is dropped where the month has the token by then. Other dead letters have another token, for the same reason.
// So a record is in the landing table, in the dead letters, or in both, whichever build has inserted what of the batch.
func (l *landing[R]) insertDeadLetters(ctx context.Context) error {
	if len(l.deadLetters) == 0 {
		return nil
	}
	if err := l.checkOwnership(); err != nil {
		return err
	}
	which := crc32.NewIEEE()
	for i := range l.deadLetters {
		fmt.Fprintln(which, l.deadLetters[i].LogOffset)
	}
	return clickhouse.DeadLetters.Insert(ctx, l.conn, fmt.Sprintf("%s/letters/%08x", l.Token(), which.Sum32()), l.deadLetters)
}

// refusal is a consume.ErrRefused that names the table or view, if the server refuses the rows; else it is err.
func (l *landing[R]) refusal(err error) error {
	refuser, refused := clickhouse.Refused(err)
	if !refused {
		return err
	}
	if refuser == "" {
		refuser = "table " + l.topic.table.Name
	}
	return fmt.Errorf("%w by %s: %w", consume.ErrRefused, refuser, err)
}
