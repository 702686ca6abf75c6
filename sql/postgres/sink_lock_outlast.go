package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

var (
	keepConnectionBusy = query[none]("keep_connection_busy")
	isConnectionBusy   = query[bool]("is_connection_busy")
)

// Outlast keeps the lock for at most so long even if this process is killed, because a statement that it sent to
// another server may still run there. Until end is called nothing else may be asked of l. An error of end says that
// the lock may have been lost before.
func (l *ExclusiveSinkLock) Outlast(ctx context.Context, db *DB, atMost time.Duration) (end func() error, err error) {
	// Else a server that checks its clients would see that this one is gone.
	if _, err := l.conn.Exec(ctx, "SET client_connection_check_interval = 0"); err != nil {
		return nil, fmt.Errorf("outlast the sink lock of shard %d: %w", l.shard, err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := keepConnectionBusy.run(context.WithoutCancel(ctx), l.conn, atMost.Seconds())
		ended <- err
	}()
	if err := l.waitUntilBusy(ctx, db, ended); err != nil {
		return nil, errors.Join(fmt.Errorf("outlast the sink lock of shard %d: %w", l.shard, err), l.endBusy(ended))
	}
	return func() error { return wrap(l.endBusy(ended), "lost the sink lock of shard %d", l.shard) }, nil
}

// waitUntilBusy waits until the server runs the statement: an idle connection would end with this process.
func (l *ExclusiveSinkLock) waitUntilBusy(ctx context.Context, db *DB, ended chan error) error {
	pid := int32(l.conn.PgConn().PID())
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		switch busy, err := isConnectionBusy.one(ctx, db, pid); {
		case err != nil:
			return err
		case busy:
			return nil
		}
		select {
		case err := <-ended:
			ended <- err
			return fmt.Errorf("the statement ended at once: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// endBusy cancels the statement. Only the server's word that it was cancelled proves that it ran until now.
func (l *ExclusiveSinkLock) endBusy(ended chan error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = l.conn.PgConn().CancelRequest(ctx) // one that comes too early is lost, and sent again
		cancel()
		select {
		case err := <-ended:
			if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "57014" {
				return nil
			}
			return errors.Join(errors.New("the statement had ended before"), err)
		case <-tick.C:
		}
	}
}
