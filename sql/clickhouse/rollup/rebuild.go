package rollup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A Rebuild rebuilds a month of a rollup in a shadow schema, and replaces the month. It is not safe for concurrent use.
type Rebuild struct {
	conn   *clickhouse.Conn
	rollup *Rollup
	month  clickhouse.Month
	shadow *shadow
	filled Progress // up to which landing rows have been added
}

// Rebuild starts the rebuild of a month, which is empty at first.
func (r *Rollup) Rebuild(ctx context.Context, conn *clickhouse.Conn, month clickhouse.Month) (*Rebuild, error) {
	s, err := newShadow(ctx, conn, r.Table)
	if err != nil {
		return nil, fmt.Errorf("rebuild %s of %s: %w", month, r.Table, err)
	}
	return &Rebuild{conn, r, month, s, Progress{}}, nil
}

// RebuildTable rebuilds a rollup whose view has changed, in each month with landing rows that do not expire. No sink
// may run meanwhile.
func RebuildTable(ctx context.Context, conn *clickhouse.Conn, table string) error {
	rollups, err := List(ctx, conn)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rollups, func(r *Rollup) bool { return r.Table == table })
	if i < 0 {
		return fmt.Errorf("rebuild %s: no view fills it", table)
	}
	r := rollups[i]
	var numbers []int64
	err = conn.QueryRow(ctx, `
		SELECT arraySort(groupUniqArray(toInt64(partition_id)))
		FROM system.parts
		WHERE database = currentDatabase() AND table = {source:String} AND active AND rows > 0
		  AND toUInt32(partition_id) >= (
		        SELECT toUInt32OrZero(replaceAll(
		            extract(any(engine_full), 'TTL if\\(day < toDate\\(.(\\d{4}-\\d{2})'), '-', ''))
		        FROM system.tables WHERE database = currentDatabase() AND name = {source:String})`,
		driver.Named("source", r.Source)).Scan(&numbers)
	if err != nil {
		return fmt.Errorf("list months to rebuild of %s: %w", table, err)
	}
	for _, month := range months(numbers) {
		if err := r.rebuildMonth(ctx, conn, month); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rollup) rebuildMonth(ctx context.Context, conn *clickhouse.Conn, month clickhouse.Month) error {
	b, err := r.Rebuild(ctx, conn, month)
	if err != nil {
		return err
	}
	if err = b.Fill(ctx, 1); err == nil {
		err = b.Replace(ctx)
	}
	return errors.Join(err, b.Close(context.WithoutCancel(ctx)))
}

// Close drops the shadow schema.
func (b *Rebuild) Close(ctx context.Context) error { return b.shadow.drop(ctx) }

// Checksums computes checksums of the rebuilt rows.
func (b *Rebuild) Checksums() *ChecksumCache {
	c := b.rollup.Actual(b.conn, b.month, Owner{})
	c.database = b.shadow.database
	return c
}

// MissingRows counts the landing rows of the month that are not in the rebuild yet.
func (b *Rebuild) MissingRows(ctx context.Context) (rows uint64, err error) {
	fence, err := b.fence(ctx)
	if err != nil || len(fence) == 0 {
		return 0, err
	}
	query := "SELECT count() FROM " + clickhouse.QuoteName(b.rollup.Source) + " WHERE " + b.between(fence) +
		" SETTINGS log_comment = 'missing of rebuild', max_query_size = 16777216"
	if err := b.conn.QueryRow(ctx, query).Scan(&rows); err != nil {
		return 0, fmt.Errorf("count rows that the rebuild of %s in %s lacks: %w", b.rollup.Table, b.month, err)
	}
	return rows, nil
}

// fence returns the last offset of each partition among the landing rows of the month. A batch lands in a month as one
// part, and the batches of a partition in their order, so no row is added at or below a fence later.
func (b *Rebuild) fence(ctx context.Context) (Progress, error) {
	return progress(ctx, b.conn, "SELECT log_topic, log_partition, log_offset AS last_offset FROM "+
		clickhouse.QuoteName(b.rollup.Source)+" WHERE "+monthCondition(b.month, Owner{}))
}

// Fill adds the rows that have landed since the last call, by the view's SELECT.
func (b *Rebuild) Fill(ctx context.Context, threads int) error {
	fence, err := b.fence(ctx)
	if err != nil || maps.Equal(fence, b.filled) {
		return err
	}
	text, filters := b.rollup.expected(b.between(fence))
	settings := limited("rebuild "+b.rollup.Table, threads)
	maps.Copy(settings, filters)
	maps.Copy(settings, driver.Settings{
		"async_insert":                0,
		"max_insert_threads":          1,
		"min_insert_block_size_rows":  1 << 20,
		"min_insert_block_size_bytes": 0,
	})
	var columns []string
	for _, c := range b.rollup.columns {
		columns = append(columns, clickhouse.QuoteName(c.name))
	}
	list := strings.Join(columns, ", ")
	fill := fmt.Sprintf("INSERT INTO %s (%s) SELECT %[2]s FROM (%s)", b.shadow.table, list, text)
	if err := b.conn.Exec(driver.Context(ctx, driver.WithSettings(settings)), fill); err != nil {
		return fmt.Errorf("rebuild %s of %s: %w", b.month, b.rollup.Table, err)
	}
	b.filled = fence
	return nil
}

// between is the condition for the month's rows at or below a fence that have not been added.
func (b *Rebuild) between(fence Progress) string {
	var logs []string
	for log, last := range fence {
		condition := fmt.Sprintf("log_topic = %s AND log_partition = %d AND log_offset <= %d",
			clickhouse.QuoteText(log.Topic), log.Partition, last)
		if from, ok := b.filled[log]; ok {
			condition += fmt.Sprintf(" AND log_offset > %d", from)
		}
		logs = append(logs, "("+condition+")")
	}
	slices.Sort(logs)
	return monthCondition(b.month, Owner{}) + " AND (" + strings.Join(append(logs, "0"), " OR ") + ")"
}

// Replace replaces the old month by the rebuilt one, and waits for all replicas. The caller holds the exclusive sink
// lock: rows that are inserted meanwhile would be lost. The table keeps its tokens.
func (b *Rebuild) Replace(ctx context.Context) error {
	parts, err := b.Checksums().parts(ctx)
	if err != nil {
		return err
	}
	table, partition := clickhouse.QuoteName(b.rollup.Table), "PARTITION ID "+clickhouse.QuoteText(b.month.Partition())
	replace := "ALTER TABLE " + table + " REPLACE " + partition + " FROM " + b.shadow.table + allReplicas
	if len(parts) == 0 { // REPLACE needs a source partition, and DROP PARTITION would forget the tokens
		replace = fmt.Sprintf("ALTER TABLE %s DELETE IN %s WHERE 1 SETTINGS mutations_sync = 2", table, partition)
	}
	if err := runToEnd(ctx, b.conn, replace); err != nil {
		return fmt.Errorf("replace %s of %s: %w", b.month, b.rollup.Table, err)
	}
	return nil
}

// runToEnd runs a statement that the server continues without its client, and waits for its end: the answer or, if the
// connection is lost, its absence in the list of every replica, of which each may have run it.
func runToEnd(ctx context.Context, conn *clickhouse.Conn, statement string) error {
	id := fmt.Sprintf("answerscope-%016x", rand.Uint64())
	err := conn.Exec(driver.Context(ctx, driver.WithQueryID(id)), statement)
	if _, answered := errors.AsType[*driver.Exception](err); err == nil || answered {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout)
	defer cancel()
	for {
		var running uint64
		listErr := conn.EachReplica(func(server *clickhouse.Conn) error {
			const processes = "SELECT {others:UInt64} + count() FROM system.processes WHERE query_id = {id:String}"
			others, named := driver.Named("others", running), driver.Named("id", id)
			return server.QueryRow(ctx, processes, others, named).Scan(&running)
		})
		if listErr == nil && running == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("statement %s may still run: %w", id, errors.Join(ctx.Err(), listErr)))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// allReplicas are the settings of a change that all replicas have at its end. Without the second a replica that is away
// would be waited for two minutes, while the sinks stand still.
const allReplicas = " SETTINGS alter_sync = 2, replication_wait_for_inactive_replica_timeout = 5"

// statementTimeout bounds the wait for a statement whose connection was lost.
const statementTimeout = time.Minute
