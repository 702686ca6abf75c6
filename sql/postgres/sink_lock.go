package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The sink lock is an advisory lock of PostgreSQL, one for each shard. A sink holds it shared from before a batch is
// planned until after it is committed; a process that rebuilds a table or freezes a month holds it exclusively, so
// that no batch is half done meanwhile.
//
// Before it the exclusive holder takes the rebuild lock, which purges hold shared while they delete rows: a rebuild
// would bring back rows that it read before they were deleted. A purge may take minutes, so it does not hold the sink
// lock: an exclusive request would queue behind the purge, and every sink behind the request.
//
// The lock ends with its connection, but a plan stays. So the holder of the exclusive lock must also check that no
// partition has an open plan, and release the lock at once if one has.
//
// Every question about the lock is bounded by DB.sinkLockTimeout: after a network failure the kernel reports nothing
// for a quarter of an hour, and a batch that waits that long looks as if it were under way.

const (
	// sharedLockTimeout bounds a sink's wait for the shared lock; it then returns ErrSinksBusy, and retries.
	sharedLockTimeout = 15 * time.Second
	// maxSharedLocks bounds the connections that hold it: one for every batch under way.
	maxSharedLocks = 256
)

// ErrSinksBusy reports that the sink lock was not free in time: batches were under way, or another process holds it
// exclusively. The caller may try again later.
var ErrSinksBusy = errors.New("the sinks are busy")

// sinkLock is a connection that holds the sink lock of a shard.
type sinkLock struct {
	conn    *pgx.Conn
	shard   int
	timeout time.Duration
}

// Held returns nil if the lock was held without a gap since it was taken: once lost with its connection it stays lost.
// A sink asks after it has planned a batch. It may lose the lock after that, since the open plan then stops the others.
func (l *sinkLock) Held(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	return wrap(l.conn.Ping(ctx), "lost the sink lock of shard %d", l.shard)
}

// Tombstones holds the deletions and frozen months that a batch must respect.
type Tombstones struct {
	Brands        map[uuid.UUID]bool
	Organizations map[uuid.UUID]bool
	FrozenMonths  []time.Time // by their first day, UTC, in order
}

// Tombstones returns which of the brands and organizations were deleted, and which months of a topic (without its
// prefix) are frozen. No month is frozen while the lock is held or a plan is open; a brand may be deleted at any time,
// and is purged then. A reply proves, as Held does, that the lock was not lost before.
func (l *sinkLock) Tombstones(
	ctx context.Context, topic string, brands, organizations []uuid.UUID,
) (Tombstones, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	row, err := queryOne[struct {
		Brands        []uuid.UUID `db:"brands"`
		Organizations []uuid.UUID `db:"organizations"`
		Months        []time.Time `db:"months"`
	}](ctx, l.conn, "tombstones_of_batch", topic, brands, organizations)
	return Tombstones{set(row.Brands), set(row.Organizations), row.Months}, err
}

// SharedSinkLock is the lock under which a sink inserts a batch. It is not safe for concurrent use.
type SharedSinkLock struct {
	sinkLock
	pooled *pgxpool.Conn
	batch  startedBatch
}

// A startedBatch has changed rows, or may have.
type startedBatch struct {
	number    int64 // 0: none
	topic     string
	partition int32
	brands    []uuid.UUID
	landed    bool
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
	l := &SharedSinkLock{sinkLock: sinkLock{conn.Conn(), shard, db.sinkLockTimeout}, pooled: conn}
	if err := exec(ctx, conn, "lock_sinks_shared", shard); err != nil {
		l.discard()
		return nil, fmt.Errorf("lock sinks of shard %d: %w", shard, busy(err))
	}
	return l, nil
}

// Start records, before anything of a batch is inserted, that rows of its topic (without its prefix) and brands may
// change from now on: cached results of them are not found again, and nothing of them is cached until the batch has
// landed. Only answers change by brand.
func (l *SharedSinkLock) Start(ctx context.Context, topic string, partition int32, brands []uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	if topic != TopicAnswers {
		brands = []uuid.UUID{uuid.Nil}
	}
	number, err := queryOne[int64](ctx, l.conn, "start_batch", topic, partition, brands)
	l.batch = startedBatch{number: number, topic: topic, partition: partition, brands: brands}
	return wrap(err, "start a batch of shard %d", l.shard)
}

// The topics of batches, as ingest/event names them.
const (
	TopicAnswers = "answers"
	TopicVisits  = "visits"
	TopicCrawls  = "crawls"
)

// Landed tells Release that every table has the batch.
func (l *SharedSinkLock) Landed() { l.batch.landed = true }

// Release releases the lock. It records that the batch has landed or, where none was started, that the warehouse may
// have changed. If the server does not confirm it, the connection is closed, and the lock ends with it.
func (l *SharedSinkLock) Release() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	b := l.batch
	if !b.landed {
		b.brands = nil // another batch will record it
	}
	unlocked, err := queryOne[bool](ctx, l.conn, "unlock_sinks_shared",
		l.shard, b.number, b.topic, b.partition, b.brands)
	if err != nil || !unlocked {
		l.discard()
		return
	}
	l.pooled.Release()
}

func (l *SharedSinkLock) discard() {
	_ = closeConn(l.conn) // the pool drops it in any case
	l.pooled.Release()
}

// ActiveSinks returns the connections under which batches are being inserted. Once one is missing, the batch that it
// had before is in every table, unless its process has died.
func (db *DB) ActiveSinks(ctx context.Context) ([]int, error) {
	return queryAll[int](ctx, db, "active_sinks")
}

// ExclusiveSinkLock keeps every sink of a shard from beginning a batch. It is not safe for concurrent use.
type ExclusiveSinkLock struct{ sinkLock }

// LockSinksExclusive waits until no purge is under way, then until no sink of a shard has a batch under way; after
// timeout for either it returns ErrSinksBusy. While it waits for sinks they begin no batch, because polling would never
// find all partitions of a busy log between two batches. If a batch hangs, records wait in the log for all of timeout:
// allow seconds, and more time between two tries.
func (db *DB) LockSinksExclusive(ctx context.Context, shard int, timeout time.Duration) (*ExclusiveSinkLock, error) {
	conn, err := db.openConn(ctx, timeout)
	if err != nil {
		return nil, fmt.Errorf("lock sinks of shard %d: %w", shard, err)
	}
	l := &ExclusiveSinkLock{sinkLock{conn, shard, db.sinkLockTimeout}}
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
	return wrap(busy(exec(ctx, l.conn, "lock_sinks_exclusive", shard)), "lock sinks of shard %d", shard)
}

// Release records that the warehouse may have changed, and releases the lock. The record is a best effort, because
// caches of the warehouse expire soon anyway.
func (l *ExclusiveSinkLock) Release() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = exec(ctx, l.conn, "warehouse_changed")
	return closeConn(l.conn)
}

// HoldAfterExit keeps the lock for at most atMost even if this process is killed, because a statement that it sent to
// another server may still run there. No other statement may use l until end is called. If end fails, the lock may
// have been lost before.
func (l *ExclusiveSinkLock) HoldAfterExit(
	ctx context.Context, db *DB, atMost time.Duration,
) (end func() error, err error) {
	// A server that checks its clients would otherwise end the session of a killed one.
	if _, err := l.conn.Exec(ctx, "SET client_connection_check_interval = 0"); err != nil {
		return nil, fmt.Errorf("hold the sink lock of shard %d: %w", l.shard, err)
	}
	statement, abort := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() {
		ended <- exec(statement, l.conn, "keep_connection_busy", atMost.Seconds())
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
			if sqlState(err) == "57014" {
				return nil
			}
			return errors.Join(errors.New("the statement had ended before"), err)
		case <-time.After(retry):
		}
	}
}

// LockPurge waits until no process holds a sink lock exclusively; after 15 s it returns ErrSinksBusy. No process gets
// one until release is called; sinks and other purges continue.
func (db *DB) LockPurge(ctx context.Context) (release func() error, err error) {
	conn, err := db.openConn(ctx, sharedLockTimeout)
	if err != nil {
		return nil, fmt.Errorf("lock for a purge: %w", err)
	}
	l := &ExclusiveSinkLock{sinkLock{conn: conn}}
	if err := exec(ctx, conn, "lock_purge"); err != nil {
		return nil, errors.Join(fmt.Errorf("lock for a purge: %w", busy(err)), closeConn(conn))
	}
	return l.Release, nil
}

// busy returns ErrSinksBusy if err is a lock timeout of the server.
func busy(err error) error {
	if sqlState(err) == "55P03" {
		return fmt.Errorf("%w: %w", ErrSinksBusy, err)
	}
	return err
}

// A WarehouseVersion is what results of the warehouse depend on. A result read after a version is right as long as the
// version is the same, if it was settled.
type WarehouseVersion struct {
	Changes int64 `db:"changes"` // of dimensions when the mirror has copied them, and repairs, purges and rebuilds
	Batch   int64 `db:"batch"`   // the newest that may have changed rows
	Settled bool  `db:"settled"` // no batch is under way, or was when its process died
}

// WarehouseVersion returns the version of results that depend on topics (without their prefix), and of answers on
// a brand's, or with the nil id on all.
func (db *DB) WarehouseVersion(ctx context.Context, brand uuid.UUID, topics ...string) (WarehouseVersion, error) {
	id := uuid.NullUUID{UUID: brand, Valid: brand != uuid.Nil}
	return queryOne[WarehouseVersion](ctx, db, "warehouse_version", topics, id)
}
