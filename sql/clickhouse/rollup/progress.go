package rollup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// logProgress is the rollup without months: the largest offset of each partition.
const logProgress = "log_progress"

// Progress has the largest landed offset of each partition.
type Progress map[clickhouse.TopicPartition]int64

// LandedProgress computes the progress of a shard by the views of log_progress over all landing rows.
func LandedProgress(ctx context.Context, conn *clickhouse.Conn) (Progress, error) {
	const views = `
SELECT groupArray(as_select) AS texts
FROM system.tables
WHERE database = currentDatabase() AND target_database = currentDatabase() AND target_table = {table:String}
SETTINGS log_comment = 'views of log_progress'`
	var texts []string
	if err := conn.QueryRow(ctx, views, driver.Named("table", conn.Local(logProgress))).Scan(&texts); err != nil {
		return nil, fmt.Errorf("list views of log_progress: %w", err)
	}
	return progress(ctx, conn, strings.Join(texts, " UNION ALL "))
}

// StoredProgress reads the progress in a shard's log_progress.
func StoredProgress(ctx context.Context, conn *clickhouse.Conn) (Progress, error) {
	return progress(ctx, conn, "SELECT log_topic, log_partition, last_offset FROM "+conn.Local(logProgress))
}

func progress(ctx context.Context, conn *clickhouse.Conn, rows string) (Progress, error) {
	query := "SELECT log_topic, log_partition, max(last_offset) AS last FROM (" + rows + ") " +
		"GROUP BY log_topic, log_partition SETTINGS log_comment = 'progress'"
	var offsets []struct {
		clickhouse.TopicPartition
		Last int64 `ch:"last"`
	}
	err := clickhouse.Retry(ctx, func() error {
		offsets = nil
		return conn.Select(ctx, &offsets, query)
	})
	if err != nil {
		return nil, fmt.Errorf("read progress: %w", err)
	}
	p := Progress{}
	for _, o := range offsets {
		p[o.TopicPartition] = o.Last
	}
	return p, nil
}

// ReplaceProgress replaces the offsets of a shard's log_progress. The caller has the exclusive sink lock.
func ReplaceProgress(ctx context.Context, conn *clickhouse.Conn, p Progress) (err error) {
	table := conn.Local(logProgress)
	rebuilt, err := newShadow(ctx, conn, table)
	if err != nil {
		return fmt.Errorf("rebuild %s: %w", logProgress, err)
	}
	defer func() { err = errors.Join(err, rebuilt.drop(context.WithoutCancel(ctx))) }()
	var rows []string
	for log, last := range p {
		rows = append(rows, fmt.Sprintf("(%s, %d, %d)", clickhouse.QuoteText(log.Topic), log.Partition, last))
	}
	insert := fmt.Sprintf("INSERT INTO %s (log_topic, log_partition, last_offset) SETTINGS async_insert = 0 VALUES %s",
		rebuilt.table, strings.Join(rows, ", "))
	if err := conn.Exec(ctx, insert); err != nil {
		return fmt.Errorf("rebuild %s: %w", logProgress, err)
	}
	replace := "ALTER TABLE " + table + " REPLACE PARTITION tuple() FROM " + rebuilt.table + allReplicas
	if err := runToEnd(ctx, conn, replace); err != nil {
		return fmt.Errorf("replace %s: %w", logProgress, err)
	}
	return nil
}
