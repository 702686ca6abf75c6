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

// A Rebuild makes a month of a rollup again in a shadow schema, and replaces the month. It is not safe for concurrent
// use.
type Rebuild struct {
	conn   *clickhouse.Conn
	rollup *Rollup
	month  clickhouse.Month
	shadow *shadow
	filled Progress // of the landing rows that are in it
}

// Rebuild begins with an empty month.
func (r *Rollup) Rebuild(ctx context.Context, conn *clickhouse.Conn, month clickhouse.Month) (*Rebuild, error) {
	s, err := newShadow(ctx, conn, r.Table)
	if err != nil {
		return nil, fmt.Errorf("rebuild %s of %s: %w", month, r.Table, err)
	}
	return &Rebuild{conn, r, month, s, Progress{}}, nil
}

// RebuildTable rebuilds a rollup whose view was changed, each month that has landing rows and does not expire. No sink
// runs meanwhile.
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
	var months []int64
	err = conn.QueryRow(ctx, `
		SELECT arraySort(groupUniqArray(toInt64(partition_id)))
		FROM system.parts
		WHERE database = currentDatabase() AND table = {source:String} AND active AND rows > 0
		  AND toUInt32(partition_id) >= (
		        SELECT toUInt32OrZero(replaceAll(extract(any(engine_full), 'TTL if\\(day < toDate\\(.(\\d{4}-\\d{2})'), '-', ''))
		        FROM system.tables WHERE database = currentDatabase() AND name = {source:String})`,
		driver.Named("source", r.Source)).Scan(&months)
	if err != nil {
		return fmt.Errorf("list months to rebuild of %s: %w", table, err)
	}
	for _, month := range months {
		if err := r.rebuildMonth(ctx, conn, clickhouse.Month(month)); err != nil {
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

// Close drops what was made.
func (b *Rebuild) Close(ctx context.Context) error { return b.shadow.drop(ctx) }

// Checksums is of what has been rebuilt.
func (b *Rebuild) Checksums() *ChecksumCache {
	return &ChecksumCache{conn: b.conn, rollup: b.rollup, month: b.month, database: b.shadow.database, table: b.rollup.Table}
}

// MissingRows is how many landing rows of the month are not in the rebuild yet.
func (b *Rebuild) MissingRows(ctx context.Context) (rows uint64, err error) {
	fence, err := b.fence(ctx)
	if err != nil || len(fence) == 0 {
		return 0, err
	}
	question := fmt.Sprintf("SELECT count() FROM %s WHERE %s SETTINGS log_comment = 'missing of rebuild', max_query_size = 16777216",
		clickhouse.QuoteName(b.rollup.Source), b.between(fence))
	if err := b.conn.QueryRow(ctx, question).Scan(&rows); err != nil {
		return 0, fmt.Errorf("count rows that the rebuild of %s in %s lacks: %w", b.rollup.Table, b.month, err)
	}
	return rows, nil
}

// fence is the offset of each log up to which, inclusive, the landing rows of the month go now. A batch lands in a
// month as one part, and the batches of a partition in their order, so nothing is added below a fence later.
func (b *Rebuild) fence(ctx context.Context) (Progress, error) {
	return progress(ctx, b.conn, fmt.Sprintf("SELECT log_topic, log_partition, log_offset AS last_offset FROM %s WHERE %s",
		clickhouse.QuoteName(b.rollup.Source), ofMonth(b.month, Owner{})))
}

// Fill adds what has landed since it was last called, through the view's SELECT.
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

// between is the condition of the month's rows at or below a fence that are not filled in yet.
func (b *Rebuild) between(fence Progress) string {
	var logs []string
	for log, last := range fence {
		condition := fmt.Sprintf("log_topic = %s AND log_partition = %d AND log_offset <= %d", clickhouse.QuoteText(log.Topic), log.Partition, last)
		if from, ok := b.filled[log]; ok {
			condition += fmt.Sprintf(" AND log_offset > %d", from)
		}
		logs = append(logs, "("+condition+")")
	}
	slices.Sort(logs)
	return ofMonth(b.month, Owner{}) + " AND (" + strings.Join(append(logs, "0"), " OR ") + ")"
}

// Replace puts the rebuilt month in the place of the old one, and returns when the server is done with it. The caller
// has the exclusive sink lock: rows inserted meanwhile would be lost. The table's tokens stay.
func (b *Rebuild) Replace(ctx context.Context) error {
	parts, err := b.Checksums().parts(ctx)
	if err != nil {
		return err
	}
	table, partition := clickhouse.QuoteName(b.rollup.Table), "PARTITION ID "+clickhouse.QuoteText(b.month.Partition())
	replace := fmt.Sprintf("ALTER TABLE %s REPLACE %s FROM %s SETTINGS alter_sync = 1", table, partition, b.shadow.table)
	if len(parts) == 0 { // by nothing no partition can be replaced, and one that is dropped forgets its tokens
		replace = fmt.Sprintf("ALTER TABLE %s DELETE IN %s WHERE 1 SETTINGS mutations_sync = 1", table, partition)
	}
	if err := finished(ctx, b.conn, replace); err != nil {
		return fmt.Errorf("replace %s of %s: %w", b.month, b.rollup.Table, err)
	}
	return nil
}

// finished runs a statement that the server continues when its client is gone, and returns once it does not run any
// more: after its answer or, if the connection was lost, when the server does not list it.
func finished(ctx context.Context, conn *clickhouse.Conn, statement string) error {
	id := fmt.Sprintf("answerscope-%016x", rand.Uint64())
	err := conn.Exec(driver.Context(ctx, driver.WithQueryID(id)), statement)
	if _, answered := errors.AsType[*driver.Exception](err); err == nil || answered {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goneTimeout)
	defer cancel()
	for {
		var running uint64
		asked := conn.QueryRow(ctx, "SELECT count() FROM system.processes WHERE query_id = {id:String}", driver.Named("id", id)).Scan(&running)
		if asked == nil && running == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("statement %s may still run: %w", id, errors.Join(ctx.Err(), asked)))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// goneTimeout bounds the wait for a statement that has lost its connection.
const goneTimeout = time.Minute
