package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
	"github.com/answerscope/answerscope/sql/postgres"
)

// errChanged is returned when landing rows that the rebuild had already read have changed, as by a purge.
var errChanged = errors.New("landing rows changed below the fence, as when a brand is purged; try again later")

// repair rebuilds a cell's month and replaces the old one.
func (r *shardRun) repair(ctx context.Context, c *cell) (err error) {
	rebuilt, err := c.rollup.Rebuild(ctx, r.conn, c.month)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rebuilt.Close(context.WithoutCancel(ctx))) }()
	// Rows of every organization, also in a narrower scope: a month is replaced as a whole.
	expected, actual := c.rollup.Expected(r.conn, c.month, rollup.Owner{}), rebuilt.Checksums()
	return r.locked(ctx, work{
		prepare: func(ctx context.Context) error {
			if err := rebuilt.Fill(ctx, backgroundThreads); err != nil {
				return err
			}
			if _, _, err := actual.Checksum(ctx, backgroundThreads); err != nil {
				return err
			}
			_, _, err := expected.Checksum(ctx, backgroundThreads)
			return err
		},
		unread: func(ctx context.Context) (uint64, error) {
			rows, err := unread(ctx, expected, actual)
			if err != nil {
				return 0, err
			}
			missing, err := rebuilt.MissingRows(ctx)
			return rows + missing, err
		},
		do: func(ctx context.Context, lock *postgres.ExclusiveSinkLock) error {
			if err := rebuilt.Fill(ctx, foregroundThreads); err != nil {
				return err
			}
			if err := r.verify(ctx, c, expected, actual); err != nil {
				return err
			}
			return r.replaceLocked(ctx, lock, rebuilt.Replace)
		},
	})
}

// verify compares the rebuilt month with the view's result over all landing rows, and checks that the month was not
// frozen meanwhile.
func (r *shardRun) verify(ctx context.Context, c *cell, expected, actual *rollup.ChecksumCache) error {
	want, have, err := r.lockedChecksums(ctx, expected, actual)
	if err != nil {
		return err
	}
	if !want.Equal(have) {
		return fmt.Errorf("repair %s of %s: %w", c.month, c.rollup.Table, errChanged)
	}
	frozen, err := r.reconciler.frozen(ctx, c.topic, c.month)
	if err == nil && frozen[c.month.First()] {
		err = fmt.Errorf("repair %s of %s: the month was frozen meanwhile", c.month, c.rollup.Table)
	}
	return err
}

// replaceLocked calls replace while the sinks stand still, until the server has replaced the table or refused: a batch
// inserted in between would be lost with the old table. It continues when ctx ends.
func (r *shardRun) replaceLocked(
	ctx context.Context, lock *postgres.ExclusiveSinkLock, replace func(context.Context) error,
) (err error) {
	if err := lock.Held(ctx); err != nil {
		return err
	}
	end, err := lock.HoldAfterExit(ctx, r.reconciler.db, r.reconciler.cfg.outlast)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.reconciler.cfg.outlast*5/6)
	defer cancel()
	return replace(ctx)
}
