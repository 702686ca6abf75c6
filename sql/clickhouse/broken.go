package clickhouse

import (
	"context"
	"fmt"
)

// A BrokenPart is one that the server could not read, mostly at its start, and has set aside.
type BrokenPart struct {
	Table  string `ch:"table"`
	Month  string `ch:"month"` // as 2026-03; "" where the name of the part does not say it, all of a table without months
	Name   string `ch:"name"`
	Reason string `ch:"reason"`
	Merged bool   `ch:"merged"` // of parts that the server has taken into use again, so that no row is lost; false once these are forgotten
}

// BrokenParts are those that stand in the directories of detached parts, of all shards.
func BrokenParts(ctx context.Context, conn *Conn) (all []BrokenPart, err error) {
	// Sources are older: a part that is inserted after a start may have the number of one that is lost.
	const broken = `
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
			return shard.Select(ctx, &parts, broken)
		})
		all = append(all, parts...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list broken parts: %w", err)
	}
	return all, nil
}
