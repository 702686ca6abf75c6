package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// replicas are the servers of one shard. One of them runs every statement until it is lost, so that a lookup sees
// earlier inserts; the next one catches up first.
type replicas struct {
	shard int
	names []string
	nodes []driver.Conn

	current  atomic.Int32  // index in nodes; -1: none
	choosing chan struct{} // a semaphore for the one caller that chooses a server
}

func newReplicas(c Config, shard int, dsns []string) (*replicas, error) {
	r := &replicas{shard: shard, choosing: make(chan struct{}, 1)}
	r.current.Store(-1)
	for _, dsn := range dsns {
		o, err := options(c.ForServer(dsn))
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		node, err := clickhouse.Open(o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open clickhouse %s: %w", o.Addr[0], err), r.Close())
		}
		r.names, r.nodes = append(r.names, o.Addr[0]), append(r.nodes, node)
	}
	return r, nil
}

// use calls do with the current server. After a failure of the connection, the next call chooses another one.
func use[T any](ctx context.Context, r *replicas, do func(driver.Conn) (T, error)) (result T, err error) {
	node, err := r.node(ctx)
	if err != nil {
		return result, err
	}
	result, err = do(node)
	r.noteError(ctx, node, err)
	return result, err
}

func (r *replicas) do(ctx context.Context, do func(driver.Conn) error) error {
	_, err := use(ctx, r, func(node driver.Conn) (struct{}, error) { return struct{}{}, do(node) })
	return err
}

// node returns the current server; without one, the first that answers and has caught up.
func (r *replicas) node(ctx context.Context) (driver.Conn, error) {
	if i := r.current.Load(); i >= 0 {
		return r.nodes[i], nil
	}
	select { // catching up may take minutes, longer than the deadline of some callers
	case r.choosing <- struct{}{}:
		defer func() { <-r.choosing }()
	case <-ctx.Done():
		return nil, fmt.Errorf("no server of shard %d yet: %w", r.shard, ctx.Err())
	}
	if i := r.current.Load(); i >= 0 {
		return r.nodes[i], nil
	}
	var errs []error
	for i, node := range r.nodes {
		err := ping(ctx, node)
		if err == nil {
			err = r.sync(ctx, node)
		}
		if err == nil {
			r.current.Store(int32(i))
			return node, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", r.names[i], err))
	}
	return nil, fmt.Errorf("no server of shard %d: %w", r.shard, errors.Join(errs...))
}

// noteError gives up the current server if an error is not its answer to the statement.
func (r *replicas) noteError(ctx context.Context, node driver.Conn, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	if _, answered := errors.AsType[*clickhouse.Exception](err); answered && !HasCode(err, leaving...) {
		return
	}
	r.current.CompareAndSwap(int32(slices.Index(r.nodes, node)), -1)
}

// leaving has the codes of a server that shuts down, has lost Keeper or its disk. It has to catch up before it is used
// again.
var leaving = []proto.Error{
	proto.ErrAborted, proto.ErrTableIsReadOnly, proto.ErrKeeperException, proto.ErrNoZookeeper,
	proto.ErrUnexpectedZookeeperError, proto.ErrUnknownTable,
}

// settle waits until every server has all parts that exist. An insert whose end is unknown may have come to one alone.
func (r *replicas) settle(ctx context.Context) error {
	for i, node := range r.nodes {
		if err := r.sync(ctx, node); err != nil {
			return fmt.Errorf("%s may lack rows: %w", r.names[i], err)
		}
	}
	return nil
}

func (r *replicas) catchUp(ctx context.Context) error {
	return r.do(ctx, func(node driver.Conn) error { return r.sync(ctx, node) })
}

// sync waits until a server has fetched the missing parts, but not merges, of its tables (LIGHTWEIGHT). One without a
// number was made anew and is not filled yet.
func (r *replicas) sync(ctx context.Context, node driver.Conn) error {
	var tables []string
	var number string
	err := node.QueryRow(ctx, `
		SELECT groupArrayIf(name, startsWith(engine, 'Replicated')), anyIf(comment, name = 'schema_migrations')
		FROM system.tables WHERE database = currentDatabase()`).Scan(&tables, &number)
	switch {
	case err != nil:
		return fmt.Errorf("list replicated tables: %w", err)
	case number == "" && len(r.nodes) > 1:
		return errors.New("it is new, or has lost its disk, and is not filled yet: see Growing in docs/scaling.md")
	}
	return syncTables(ctx, node, tables...)
}

// syncTables waits half a minute for the missing parts of each table. The server goes on to fetch them after that.
func syncTables(ctx context.Context, node Server, tables ...string) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"receive_timeout": 30}))
	for _, table := range tables {
		if err := node.Exec(ctx, "SYSTEM SYNC REPLICA "+QuoteName(table)+" LIGHTWEIGHT"); err != nil {
			return fmt.Errorf("sync replica of %s, whose system.replication_queue has what it lacks: %w", table, err)
		}
	}
	return nil
}

func (r *replicas) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	return use(ctx, r, func(node driver.Conn) (driver.Rows, error) { return node.Query(ctx, query, args...) })
}

func (r *replicas) Select(ctx context.Context, dest any, query string, args ...any) error {
	return r.do(ctx, func(node driver.Conn) error { return node.Select(ctx, dest, query, args...) })
}

func (r *replicas) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	node, err := r.node(ctx)
	if err != nil {
		return errorRow{err}
	}
	row := node.QueryRow(ctx, query, args...)
	r.noteError(ctx, node, row.Err())
	return row
}

func (r *replicas) PrepareBatch(
	ctx context.Context, query string, opts ...driver.PrepareBatchOption,
) (driver.Batch, error) {
	return use(ctx, r, func(node driver.Conn) (driver.Batch, error) {
		batch, err := node.PrepareBatch(ctx, query, opts...) //nolint:clickhouselint // the caller closes it
		if err != nil {
			return nil, err
		}
		return observedBatch{batch, func(err error) { r.noteError(ctx, node, err) }}, nil
	})
}

func (r *replicas) Exec(ctx context.Context, query string, args ...any) error {
	return r.do(ctx, func(node driver.Conn) error { return node.Exec(ctx, query, args...) })
}

// Ping returns once one server answers, which may not be the current one.
func (r *replicas) Ping(ctx context.Context) (err error) {
	answers := make(chan error, len(r.nodes))
	for _, node := range r.nodes {
		go func() { answers <- ping(ctx, node) }()
	}
	for range r.nodes {
		if err = <-answers; err == nil {
			return nil
		}
	}
	return err
}

func (r *replicas) Close() error {
	var errs []error
	for _, node := range r.nodes {
		errs = append(errs, node.Close())
	}
	return errors.Join(errs...)
}

// observedBatch is a batch whose errors are noted.
type observedBatch struct {
	driver.Batch
	note func(error)
}

func (b observedBatch) Flush() error {
	err := b.Batch.Flush()
	b.note(err)
	return err
}

func (b observedBatch) Send() error {
	err := b.Batch.Send()
	b.note(err)
	return err
}

// errorRow is the row of a shard without a server.
type errorRow struct{ err error }

func (r errorRow) Err() error           { return r.err }
func (r errorRow) Scan(...any) error    { return r.err }
func (r errorRow) ScanStruct(any) error { return r.err }
