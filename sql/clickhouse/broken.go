package clickhouse

import (
	"context"
	"fmt"
)

// A BrokenPart is one that the server could not read, mostly at its start, and has set aside: its rows are in no
// answer.
type BrokenPart struct {
	Table  string `ch:"table"`
	Month  string `ch:"month"` // as 2026-03; "" where the name of the part does not say it, all of a table without months
	Name   string `ch:"name"`
	Reason string `ch:"reason"`
}

// BrokenParts are those that stand in the directories of detached parts, of all shards.
func BrokenParts(ctx context.Context, conn *Conn) (all []BrokenPart, err error) {
	const broken = `
SELECT table, replaceRegexpOne(ifNull(partition_id, ''), '^(....)(..)$', '\\1-\\2') AS month, name, ifNull(reason, '') AS reason
FROM system.detached_parts
WHERE database = currentDatabase() AND startsWith(reason, 'broken')
ORDER BY table, month, name
SETTINGS log_comment = 'broken parts'`
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
