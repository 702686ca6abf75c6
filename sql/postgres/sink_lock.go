package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The sink lock is an advisory lock of Postgres, one for each shard. A sink holds it shared from before a batch is
// planned until after it is committed; a process that rebuilds a table or freezes a month holds it exclusively, so
// that no batch is half done meanwhile.
//
// Before it the exclusive holder takes the rebuild lock, which purges hold shared while they delete rows: rows that a
// rebuild read before they were deleted would come back with it. A purge may take minutes and leaves the sink lock alone. Else
// an exclusive request would queue behind the purge, and every sink behind the request.
//
// The lock ends with its connection, but a plan stays. So the holder of the exclusive lock must also check that no
// partition has an open plan, and release the lock at once if one has.
//
// Every question about the lock is bounded by DB.sinkLockTimeout: after a network failure the kernel reports
// nothing for a quarter of an hour, and a batch that waits that long looks as if it were under way.

const (
	// sharedLockTimeout is how long a sink waits for the shared lock before it returns ErrSinksBusy, and retries.
	sharedLockTimeout = 15 * time.Second
	// maxSharedLocks bounds the connections that hold it: one for every batch under way.
	maxSharedLocks = 256
)

type tombstonesRow struct {
	Brands        []uuid.UUID `db:"brands"`
	Organizations []uuid.UUID `db:"organizations"`
	Months        []time.Time `db:"months"`
}

// ErrSinksBusy says that the sink lock was not free in time: batches were under way, or another process holds it
// exclusively. The caller may try again later.
var ErrSinksBusy = errors.New("the sinks are busy")

// SharedSinkLock is the lock under which a sink inserts a batch. It is not safe for concurrent use.
type SharedSinkLock struct {
	conn    *pgxpool.Conn
	shard   int
	timeout time.Duration
}

// LockSinksShared waits while another process holds the sink lock of a shard exclusively; after 15 s it returns
// ErrSinksBusy.
func (db *DB) LockSinksShared(ctx context.Context, shard int) (*SharedSinkLock, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedLockTimeout+db.sinkLockTimeout)
	defer cancel()
	conn, err := db.sinkLocks.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock sinks of shard %d: %w", shard, err)
	}
	if err := exec(ctx, conn, "lock_sinks_shared", shard); err != nil {
		discard(conn)
		return nil, fmt.Errorf("lock sinks of shard %d: %w", shard, busy(err))
	}
	return &SharedSinkLock{conn, shard, db.sinkLockTimeout}, nil
}

// Held is nil if the lock was held all the time since it was taken: once lost with its connection it stays lost. A
// sink asks after it has planned a batch. It may lose the lock after that, since the open plan then stops the others.
func (l *SharedSinkLock) Held(ctx context.Context) error {
	return held(ctx, l.conn.Conn(), l.shard, l.timeout)
}

func held(ctx context.Context, conn *pgx.Conn, shard int, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return wrap(conn.Ping(ctx), "lost the sink lock of shard %d", shard)
}

// Tombstones are the deletions and frozen months that a batch must respect.
type Tombstones struct {
	Brands        map[uuid.UUID]bool
	Organizations map[uuid.UUID]bool
	FrozenMonths  []time.Time // by their first day, UTC, in order
}

// Tombstones finds which of the given brands and organizations were deleted, and which months of a topic (without its
// prefix) are frozen. No month is frozen while the lock is held or a plan is open; a brand may be deleted at any time.
// An answer proves, as Held does, that the lock was not lost before.
func (l *SharedSinkLock) Tombstones(ctx context.Context, topic string, brands, organizations []uuid.UUID) (Tombstones, error) {
	return tombstonesBy(ctx, l.conn, l.timeout, topic, brands, organizations)
}

func tombstonesBy(ctx context.Context, conn querier, timeout time.Duration, topic string, brands, organizations []uuid.UUID) (Tombstones, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	row, err := queryOne[tombstonesRow](ctx, conn, "tombstones_of_batch", topic, brands, organizations)
	if err != nil {
		return Tombstones{}, err
	}
	return Tombstones{set(row.Brands), set(row.Organizations), row.Months}, nil
}

func set(ids []uuid.UUID) map[uuid.UUID]bool {
	all := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		all[id] = true
	}
	return all
}

// Release notes that the warehouse may have changed, and releases the lock. If the server does not confirm it, the
// connection is closed, and the lock ends with it.
func (l *SharedSinkLock) Release() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if unlocked, err := queryOne[bool](ctx, l.conn, "unlock_sinks_shared", l.shard); err != nil || !unlocked {
		discard(l.conn)
		return
	}
	l.conn.Release()
}

// ActiveSinks are the connections under which batches are being inserted. Once one is missing, the batch that it had
// before is in every table, unless its process has died.
func (db *DB) ActiveSinks(ctx context.Context) ([]int, error) {
	return queryAll[int](ctx, db, "sinks_at_work")
}

// discard closes a connection of the pool.
func discard(conn *pgxpool.Conn) {
	_ = closeConn(conn.Conn()) // the pool drops it in any case
	conn.Release()
}

// ExclusiveSinkLock keeps every sink of a shard from beginning a batch. It is not safe for concurrent use.
type ExclusiveSinkLock struct {
	conn    *pgx.Conn
	shard   int
	timeout time.Duration
}

// LockSinksExclusive waits until no purge is under way, then until no sink of a shard has a batch under way; after
// timeout for either it returns ErrSinksBusy. While it waits for sinks they begin no batch, because polling would never
// find all partitions of a busy log between two batches. If a batch hangs, records wait in the log for all of timeout:
// allow seconds, and more time between two tries.
func (db *DB) LockSinksExclusive(ctx context.Context, shard int, timeout time.Duration) (*ExclusiveSinkLock, error) {
	conn, err := db.openConn(ctx, timeout)
	if err != nil {
		return nil, fmt.Errorf("lock sinks of shard %d: %w", shard, err)
	}
	l := &ExclusiveSinkLock{conn, shard, db.sinkLockTimeout}
	if err = exec(ctx, conn, "lock_rebuild"); err != nil {
		err = fmt.Errorf("wait for purges: %w", busy(err))
	} else {
		err = l.AddShard(ctx, shard)
	}
	if err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// AddShard locks the sinks of another shard on the same connection, with the same timeout: if that is lost, so are all
// locks, and nothing is frozen.
func (l *ExclusiveSinkLock) AddShard(ctx context.Context, shard int) error {
	err := exec(ctx, l.conn, "lock_sinks_exclusive", shard)
	return wrap(busy(err), "lock sinks of shard %d", shard)
}

// Held is nil if the lock was held all the time since it was taken.
func (l *ExclusiveSinkLock) Held(ctx context.Context) error {
	return held(ctx, l.conn, l.shard, l.timeout)
}

// Tombstones is that of SharedSinkLock. A brand that is deleted later is purged later, too.
func (l *ExclusiveSinkLock) Tombstones(ctx context.Context, topic string, brands, organizations []uuid.UUID) (Tombstones, error) {
	return tombstonesBy(ctx, l.conn, l.timeout, topic, brands, organizations)
}

// Release notes that the warehouse may have changed, and lets the sinks go on. That the lock ends matters more: who
// keeps an answer of the warehouse keeps it for a short time.
func (l *ExclusiveSinkLock) Release() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = queryOne[int64](ctx, l.conn, "warehouse_changed")
	return closeConn(l.conn)
}

// HoldAfterExit keeps the lock for at most atMost even if this process is killed, because a statement that it sent to
// another server may still run there. No other statement may use l until end is called. An error of end says that the
// lock may have been lost before.
func (l *ExclusiveSinkLock) HoldAfterExit(ctx context.Context, db *DB, atMost time.Duration) (end func() error, err error) {
	// A server that checks its clients would otherwise end the session of a killed one.
	if _, err := l.conn.Exec(ctx, "SET client_connection_check_interval = 0"); err != nil {
		return nil, fmt.Errorf("hold the sink lock of shard %d: %w", l.shard, err)
	}
	statement, abort := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() {
		err := exec(statement, l.conn, "keep_connection_busy", atMost.Seconds())
		ended <- err
	}()
	cancel := func() error {
		defer abort()
		return l.cancelHold(ended, abort)
	}
	if err := l.waitUntilBusy(ctx, db, ended); err != nil {
		return nil, errors.Join(fmt.Errorf("hold the sink lock of shard %d: %w", l.shard, err), cancel())
	}
	return func() error { return wrap(cancel(), "lost the sink lock of shard %d", l.shard) }, nil
}

// waitUntilBusy waits until the server runs the statement: an idle connection would end with this process.
func (l *ExclusiveSinkLock) waitUntilBusy(ctx context.Context, db *DB, ended chan error) error {
	pid := int32(l.conn.PgConn().PID())
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		switch busy, err := queryOne[bool](ctx, db, "is_connection_busy", pid); {
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

// cancelHold cancels the statement and waits for its end; query_canceled proves that it was still running. A cancel
// request that the server handles late would cancel the next statement of the connection. So each one must be
// acknowledged; abort closes the connection where one is not.
func (l *ExclusiveSinkLock) cancelHold(ended chan error, abort func()) error {
	const retry = 50 * time.Millisecond // a request before the statement has begun cancels nothing
	for {
		ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
		_ = l.conn.PgConn().CancelRequest(ctx)
		isLate := ctx.Err() != nil // CancelRequest may return nil then
		cancel()
		if isLate {
			abort()
			return errors.Join(fmt.Errorf("the cancel request was not acknowledged within %s", l.timeout), <-ended)
		}
		select {
		case err := <-ended:
			if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "57014" {
				return nil
			}
			return errors.Join(errors.New("the statement had ended before"), err)
		case <-time.After(retry):
		}
	}
}

// LockPurge waits until no process holds a sink lock exclusively; after 15 s it returns ErrSinksBusy. Until release is
// called none gets one; sinks and other purges go on.
func (db *DB) LockPurge(ctx context.Context) (release func() error, err error) {
	conn, err := db.openConn(ctx, sharedLockTimeout)
	if err != nil {
		return nil, fmt.Errorf("lock for a purge: %w", err)
	}
	l := &ExclusiveSinkLock{conn: conn}
	if err := exec(ctx, conn, "lock_purge"); err != nil {
		return nil, errors.Join(fmt.Errorf("lock for a purge: %w", busy(err)), closeConn(conn))
	}
	return l.Release, nil
}

// busy is ErrSinksBusy if err is a lock timeout of the server.
func busy(err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "55P03" {
		return fmt.Errorf("%w: %w", ErrSinksBusy, err)
	}
	return err
}

// WarehouseVersion rises with every change of the warehouse that answerscope makes, after the change: of facts when the
// sink lock is released under which they were inserted, repaired or deleted, of dimensions when the mirror has copied
// them. What was read from a warehouse without replicas after a version was read is right as long as the version is the
// same, unless a process died between a change and its version; the next change raises it.
func (db *DB) WarehouseVersion(ctx context.Context) (int64, error) {
	return queryOne[int64](ctx, db, "warehouse_version")
}
