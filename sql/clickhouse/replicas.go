package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// replicas are the servers of one shard. One of them takes every statement until it is lost, so that a lookup sees what
// was inserted before; the next one catches up first.
type replicas struct {
	shard int
	names []string
	nodes []driver.Conn

	current  atomic.Int32  // index in nodes; none: -1
	choosing chan struct{} // has room for the one caller that looks for a server
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

// use calls do with the current server. After an error that is not the server's answer, the next call chooses anew.
func use[T any](ctx context.Context, r *replicas, do func(driver.Conn) (T, error)) (result T, err error) {
	node, err := r.node(ctx)
	if err != nil {
		return result, err
	}
	result, err = do(node)
	r.judge(ctx, node, err)
	return result, err
}

func (r *replicas) do(ctx context.Context, do func(driver.Conn) error) error {
	_, err := use(ctx, r, func(node driver.Conn) (struct{}, error) { return struct{}{}, do(node) })
	return err
}

// node is the current server; without one, the first that answers and has caught up.
func (r *replicas) node(ctx context.Context) (driver.Conn, error) {
	if i := r.current.Load(); i >= 0 {
		return r.nodes[i], nil
	}
	select { // to catch up may take minutes, which not every ctx has
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
		err := node.Ping(ctx)
		if err == nil {
			err = syncReplica(ctx, node)
		}
		if err == nil {
			r.current.Store(int32(i))
			return node, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", r.names[i], err))
	}
	return nil, fmt.Errorf("no server of shard %d: %w", r.shard, errors.Join(errs...))
}

// readOnly is the error code TABLE_IS_READ_ONLY, of a replica that has lost Keeper.
const readOnly = 242

// judge gives up the current server after an error that is not its answer.
func (r *replicas) judge(ctx context.Context, node driver.Conn, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	if refused, ok := errors.AsType[*clickhouse.Exception](err); ok && refused.Code != shuttingDown && refused.Code != readOnly {
		return
	}
	r.current.CompareAndSwap(int32(slices.Index(r.nodes, node)), -1)
}

func (r *replicas) catchUp(ctx context.Context) error {
	return r.do(ctx, func(node driver.Conn) error { return syncReplica(ctx, node) })
}

// syncReplica waits until a server has fetched what its tables lack of other replicas: parts, not merges (LIGHTWEIGHT).
func syncReplica(ctx context.Context, node driver.Conn) error {
	var tables []string
	err := node.QueryRow(ctx, "SELECT groupArray(name) FROM system.tables WHERE database = currentDatabase() AND startsWith(engine, 'Replicated')").Scan(&tables)
	if err != nil {
		return fmt.Errorf("list replicated tables: %w", err)
	}
	for _, table := range tables {
		if err := node.Exec(ctx, "SYSTEM SYNC REPLICA "+QuoteName(table)+" LIGHTWEIGHT"); err != nil {
			return fmt.Errorf("sync replica of %s: %w", table, err)
		}
	}
	return nil
}

// Query asks the current server.
func (r *replicas) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	return use(ctx, r, func(node driver.Conn) (driver.Rows, error) { return node.Query(ctx, query, args...) })
}

// Select asks the current server for all rows.
func (r *replicas) Select(ctx context.Context, dest any, query string, args ...any) error {
	return r.do(ctx, func(node driver.Conn) error { return node.Select(ctx, dest, query, args...) })
}

// QueryRow asks the current server for one row.
func (r *replicas) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	node, err := r.node(ctx)
	if err != nil {
		return noRow{err}
	}
	row := node.QueryRow(ctx, query, args...)
	r.judge(ctx, node, row.Err())
	return row
}

// PrepareBatch begins an insert at the current server.
func (r *replicas) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	return use(ctx, r, func(node driver.Conn) (driver.Batch, error) {
		batch, err := node.PrepareBatch(ctx, query, opts...) //nolint:clickhouselint // the caller closes it
		if err != nil {
			return nil, err
		}
		return judged{batch, func(err error) { r.judge(ctx, node, err) }}, nil
	})
}

// Exec runs a statement at the current server.
func (r *replicas) Exec(ctx context.Context, query string, args ...any) error {
	return r.do(ctx, func(node driver.Conn) error { return node.Exec(ctx, query, args...) })
}

// Ping asks the current server.
func (r *replicas) Ping(ctx context.Context) error {
	return r.do(ctx, func(node driver.Conn) error { return node.Ping(ctx) })
}

// Close closes the connections to all servers of the shard.
func (r *replicas) Close() error {
	var errs []error
	for _, node := range r.nodes {
		errs = append(errs, node.Close())
	}
	return errors.Join(errs...)
}

// judged is a batch whose sending shows whether its server is lost.
type judged struct {
	driver.Batch
	judge func(error)
}

// Flush sends a part.
func (b judged) Flush() error {
	err := b.Batch.Flush()
	b.judge(err)
	return err
}

// Send sends.
func (b judged) Send() error {
	err := b.Batch.Send()
	b.judge(err)
	return err
}

// noRow is the row of a shard without a server.
type noRow struct{ err error }

// Err is the cause.
func (r noRow) Err() error { return r.err }

// Scan is the cause.
func (r noRow) Scan(...any) error { return r.err }

// ScanStruct is the cause.
func (r noRow) ScanStruct(any) error { return r.err }
