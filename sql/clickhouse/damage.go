package clickhouse

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// A BrokenPart is a part that the server could not read, mostly at its start, and has set aside.
type BrokenPart struct {
	Table  string `ch:"table"`
	Month  string `ch:"month"` // as 2026-03; "" if unknown, or if the table has no months: then any row may be missing
	Name   string `ch:"name"`
	Reason string `ch:"reason"`
	Merged bool   `ch:"merged"` // its sources are in use again: no row is lost; false once these are forgotten
}

// BrokenParts lists the broken parts in the directories of detached parts, of all shards.
func BrokenParts(ctx context.Context, conn *Conn) (all []BrokenPart, err error) {
	// Sources are older: a part that is inserted after a start may have the number of a lost one.
	const query = `
SELECT
    b.table AS table,
    replaceRegexpOne(ifNull(b.partition_id, ''), '^(....)(..)$', '\\1-\\2') AS month,
    b.name AS name,
    ifNull(b.reason, '') AS reason,
    any(ifNull(b.level, 0)) > 0
        AND countIf(p.min_block_number <= b.min_block_number AND b.min_block_number <= p.max_block_number) > 0
        AND countIf(p.min_block_number <= b.max_block_number AND b.max_block_number <= p.max_block_number) > 0 AS merged
FROM system.detached_parts AS b
LEFT JOIN (SELECT * FROM system.parts WHERE database = currentDatabase()) AS p
    ON p.table = b.table AND p.partition_id = b.partition_id AND p.modification_time <= b.modification_time
WHERE b.database = currentDatabase() AND startsWith(b.reason, 'broken')
GROUP BY ALL
ORDER BY table, month, name
SETTINGS log_comment = 'broken parts', join_use_nulls = 1`
	err = conn.EachShard(func(shard *Conn) error {
		var parts []BrokenPart
		err := Retry(ctx, func() error {
			parts = nil
			return shard.Select(ctx, &parts, query)
		})
		all = append(all, parts...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list broken parts: %w", err)
	}
	return all, nil
}

// surplusRows are rows of one part, by their numbers in it.
type surplusRows struct {
	Part    string   `ch:"part"`
	Numbers []uint64 `ch:"numbers"`
}

const (
	surplusLimit = 100_000 // rows in one statement, whose length it bounds
	surplusTries = 20      // some rows stay where parts are merged meanwhile, or where there are more than the limit
)

// SurplusRows counts the surplus rows in a month of a landing table, on one shard: rows that exist twice, since a batch
// was inserted twice. It reads the keys of the month in their order.
func SurplusRows(ctx context.Context, conn *Conn, landing string, month Month) (rows uint64, err error) {
	query := fmt.Sprintf(`
SELECT toUInt64(sum(rows - 1))
FROM (SELECT count() AS rows FROM %s WHERE _partition_id = {month:String} GROUP BY %s HAVING rows > 1)`,
		QuoteName(conn.Local(landing)), landings[landing].key)
	ctx = surplusContext(ctx, "count surplus")
	err = Retry(ctx, func() error {
		return conn.QueryRow(ctx, query, clickhouse.Named("month", month.Partition())).Scan(&rows)
	})
	if err != nil {
		return 0, fmt.Errorf("look for surplus rows in %s of %s: %w", month, landing, err)
	}
	return rows, nil
}

// DeleteSurplusRows deletes surplus rows: of equal ones all but the first on the log. Inserts and merges continue
// meanwhile: a row is named by its part and its number there, so nothing is deleted of a part that was merged.
func DeleteSurplusRows(ctx context.Context, conn *Conn, landing string, month Month) (deleted uint64, err error) {
	table := QuoteName(conn.Local(landing))
	query := fmt.Sprintf(`
SELECT part, groupArray(number) AS numbers
FROM (
    SELECT
        arraySort(groupArray((log_topic, log_partition, log_offset, _part, _part_offset))) AS equal,
        arrayJoin(arraySlice(equal, 2)) AS row,
        row.4 AS part,
        row.5 AS number
    FROM %s
    WHERE _partition_id = {month:String}
    GROUP BY %s
    HAVING count() > 1
    LIMIT %d
)
GROUP BY part`, table, landings[landing].key, surplusLimit)
	for range surplusTries {
		var surplus []surplusRows
		named := clickhouse.Named("month", month.Partition())
		if err := conn.Select(surplusContext(ctx, "find surplus"), &surplus, query, named); err != nil {
			return deleted, fmt.Errorf("find surplus rows in %s of %s: %w", month, landing, err)
		}
		if len(surplus) == 0 {
			return deleted, nil
		}
		var conditions []string
		for _, rows := range surplus {
			deleted += uint64(len(rows.Numbers))
			numbers := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(rows.Numbers)), ", "), "[]")
			condition := fmt.Sprintf("_part = %s AND _part_offset IN (%s)", QuoteText(rows.Part), numbers)
			conditions = append(conditions, condition)
		}
		statement := fmt.Sprintf("ALTER TABLE %s DELETE IN PARTITION ID %s WHERE %s SETTINGS mutations_sync = 2",
			table, QuoteText(month.Partition()), strings.Join(conditions, " OR "))
		if err := conn.Exec(surplusContext(ctx, "delete surplus"), statement); err != nil {
			return deleted, fmt.Errorf("delete surplus rows in %s of %s: %w", month, landing, err)
		}
	}
	return deleted, fmt.Errorf("delete surplus rows in %s of %s: some are left after %d tries; "+
		"merges or inserts may have been in the way", month, landing, surplusTries)
}

func surplusContext(ctx context.Context, comment string) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"log_comment": comment, "optimize_aggregation_in_order": 1, "max_threads": 1, "max_query_size": 16 << 20,
	}))
}

// Backup writes the database into a directory of that name below the server's backups.allowed_path.
func Backup(ctx context.Context, conn *Conn, database, name string) error {
	if err := conn.Exec(ctx, fmt.Sprintf("BACKUP DATABASE %s TO File('%s')", database, name)); err != nil {
		return fmt.Errorf("back up clickhouse: %w", err)
	}
	return nil
}

// Restore fills the database, which must have no tables, from a directory that Backup wrote.
func Restore(ctx context.Context, conn *Conn, database, name string) error {
	if err := conn.Exec(ctx, fmt.Sprintf("RESTORE DATABASE %s FROM File('%s')", database, name)); err != nil {
		return fmt.Errorf("restore clickhouse: %w", err)
	}
	return nil
}
