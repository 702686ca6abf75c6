package clickhouse

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// insertSettings makes an insert with a token safe to repeat: the landing table and every view target take only the
// blocks that they lack. That holds while the same rows make the same blocks, so nothing here may depend on the load of
// the server: one thread, no asynchronous inserts, no two-level aggregation (each bucket is a block), blocks never cut.
//
// Rows without a token may be inserted twice: each time they make a new part, with a quorum of its own.
func insertSettings(token string) clickhouse.Settings {
	deduplicate := "enable"
	if token == "" {
		deduplicate = "disable"
	}
	return clickhouse.Settings{
		"deduplicate_insert":                                 deduplicate,
		"insert_deduplication_token":                         token,
		"deduplicate_blocks_in_dependent_materialized_views": 1,
		"materialized_views_ignore_errors":                   0,
		"async_insert":                                       0,
		"max_insert_threads":                                 1,
		"max_threads":                                        1,
		"parallel_view_processing":                           0,
		"group_by_two_level_threshold":                       0,
		"group_by_two_level_threshold_bytes":                 0,
		"max_block_size":                                     1 << 20,
		"max_insert_block_size":                              1 << 20,
		"min_insert_block_size_rows":                         1 << 20,
		"min_insert_block_size_bytes":                        0,
		"max_partitions_per_insert_block":                    0,
		"low_cardinality_allow_in_native_format":             0, // the server builds dictionaries more cheaply
		"log_comment":                                        "insert " + token,
	}
}

// quorumTimeout is how long an insert waits for its quorum, in milliseconds. Its end is unknown then.
const quorumTimeout = 10_000

// A Table inserts rows of one Go type.
type Table[R any] struct {
	Name    string
	columns []string
	fill    func(batch driver.Batch, rows []R) error // at most RowsPerFlush rows
}

func table[R any](name string) Table[R] {
	var columns []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		if !f.Anonymous {
			columns = append(columns, "`"+f.Tag.Get("ch")+"`")
		}
	}
	return Table[R]{name, columns, fillRows[R]}
}

// InDatabase returns the table of that name in another database of the server.
func (t Table[R]) InDatabase(database string) Table[R] {
	t.Name = QuoteName(database) + "." + t.Name
	return t
}

// statement begins an insert into the server's part of the table.
func (t Table[R]) statement(conn *Conn) string {
	return "INSERT INTO " + conn.Local(t.Name) + " (" + strings.Join(t.columns, ", ") + ")"
}

func fillRows[R any](batch driver.Batch, rows []R) error {
	for i := range rows {
		if err := batch.AppendStruct(&rows[i]); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

// Insert sends rows, which the server takes as one block. The same token requires the same rows in the same order: a
// repeated insert adds only the blocks that the server lacks. Inserting no rows does nothing.
//
// On a cluster, facts need the conn of a shard, and dimensions are inserted at every shard.
func (t Table[R]) Insert(ctx context.Context, conn *Conn, token string, rows []R) error {
	if len(rows) == 0 {
		return nil
	}
	if conn.shards != nil {
		if !IsDimension(t.Name) {
			return fmt.Errorf("insert %d rows into %s: want the conn of a shard", len(rows), t.Name)
		}
		return conn.EachShard(func(shard *Conn) error { return t.Insert(ctx, shard, token, rows) })
	}
	settings := insertSettings(token)
	if r, ok := conn.Server.(*replicas); ok && len(r.nodes) > 1 {
		// All replicas have an acknowledged insert, also in the tables that views fill. A query may reach any of them;
		// and with the only copy of a part its rows would be lost for good, as Keeper still has their token.
		settings["insert_quorum"], settings["insert_quorum_timeout"] = len(r.nodes), quorumTimeout
		settings["insert_quorum_parallel"] = 1
	}
	return t.insert(ctx, conn, settings, rows)
}

// Complete inserts rows of a repeated batch without a quorum. Where they have landed, the table of each view adds those
// that it lacks. A part whose second copy was lost with a disk never reaches its quorum, although the replica that was
// made anew has the part. Settle waits until all replicas have the rows.
func (t Table[R]) Complete(ctx context.Context, shard *Conn, token string, rows []R) error {
	return t.insert(ctx, shard, insertSettings(token), rows)
}

func (t Table[R]) insert(ctx context.Context, conn *Conn, settings clickhouse.Settings, rows []R) (err error) {
	ctx, span := openSpan(ctx, "INSERT", t.Name)
	defer func() { endSpan(span, err, semconv.DBCollectionName(t.Name), semconv.DBOperationBatchSize(len(rows))) }()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(settings))
	batch, err := conn.PrepareBatch(ctx, t.statement(conn))
	if err != nil {
		return fmt.Errorf("prepare insert into %s: %w", t.Name, err)
	}
	defer batch.Close()
	sent := false
	defer func() {
		if !sent {
			_ = batch.Abort() // Close would insert the rows that were flushed
		}
	}()
	for chunk := range slices.Chunk(rows, RowsPerFlush) {
		if err := batch.Flush(); err != nil { // the chunk before
			return fmt.Errorf("send %d rows for %s (why a server breaks off is in its log): %w", len(rows), t.Name, err)
		}
		if err := t.fill(batch, chunk); err != nil {
			return fmt.Errorf("encode %d rows for %s: %w: %w", len(rows), t.Name, errUnencodable, err)
		}
	}
	sent = true
	if err := batch.Send(); err != nil {
		return fmt.Errorf("insert %d rows into %s: %w", len(rows), t.Name, err)
	}
	return nil
}

// RowsPerFlush bounds the encoded rows of an insert in memory. The server makes one block of all.
const RowsPerFlush = 2048

// columnar declares a table whose rows are encoded a column at a time, without reflection and with little garbage.
func columnar[R any](name string, columns ...tableColumn[R]) Table[R] {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return Table[R]{name, names, func(batch driver.Batch, rows []R) error {
		for i, c := range columns {
			if err := c.append(batch.Column(i), rows); err != nil {
				return fmt.Errorf("column %s: %w", c.name, err)
			}
		}
		return nil
	}}
}

// A tableColumn appends one column of rows.
type tableColumn[R any] struct {
	name   string
	append func(dest driver.BatchColumn, rows []R) error
}

func column[R, V any](name string, value func(R) V) tableColumn[R] {
	pool := sync.Pool{New: func() any { return new([RowsPerFlush]V) }} // the driver copies them
	return tableColumn[R]{"`" + name + "`", func(dest driver.BatchColumn, rows []R) error {
		buffer := pool.Get().(*[RowsPerFlush]V)
		defer pool.Put(buffer)
		values := buffer[:len(rows)]
		defer clear(values)
		for i, row := range rows {
			values[i] = value(row)
		}
		return dest.Append(values)
	}}
}
