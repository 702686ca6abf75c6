package clickhouse

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// surplusRows are of one part, by their numbers in it.
type surplusRows struct {
	Part string   `ch:"part"`
	Rows []uint64 `ch:"numbers"`
}

// surplusAtOnce bounds the text of a statement.
const surplusAtOnce = 100_000

// surplusTries is how often they are looked for: some stay where parts are merged meanwhile, or where there are more.
const surplusTries = 20

// SurplusRows counts those of a month of a landing table, on one shard: rows that stand there already, of a batch that
// was inserted twice. It reads the keys of the month in their order.
func SurplusRows(ctx context.Context, conn *Conn, landing string, month Month) (rows uint64, err error) {
	question := fmt.Sprintf("SELECT toUInt64(sum(rows - 1)) FROM (SELECT count() AS rows FROM %s WHERE _partition_id = {month:String} GROUP BY %s HAVING rows > 1)",
		QuoteName(conn.Local(landing)), landings[landing].key)
	err = Retry(ctx, func() error {
		return conn.QueryRow(surplusContext(ctx, "count surplus"), question, clickhouse.Named("month", month.Partition())).Scan(&rows)
	})
	if err != nil {
		return 0, fmt.Errorf("look for surplus rows in %s of %s: %w", month, landing, err)
	}
	return rows, nil
}

// DeleteSurplusRows deletes them: of equal ones all but the first on the log. Inserts and merges go on meanwhile: a row
// is named by its part and its number in it, so that nothing is deleted of a part that is merged by then.
func DeleteSurplusRows(ctx context.Context, conn *Conn, landing string, month Month) (deleted uint64, err error) {
	table := QuoteName(conn.Local(landing))
	question := fmt.Sprintf(`
SELECT part, groupArray(number) AS numbers
FROM (
    SELECT arrayJoin(arraySlice(arraySort(groupArray((log_topic, log_partition, log_offset, _part, _part_offset))), 2)) AS row, row.4 AS part, row.5 AS number
    FROM %s
    WHERE _partition_id = {month:String}
    GROUP BY %s
    HAVING count() > 1
    LIMIT %d
)
GROUP BY part`, table, landings[landing].key, surplusAtOnce)
	for range surplusTries {
		var surplus []surplusRows
		if err := conn.Select(surplusContext(ctx, "find surplus"), &surplus, question, clickhouse.Named("month", month.Partition())); err != nil {
			return deleted, fmt.Errorf("find surplus rows in %s of %s: %w", month, landing, err)
		}
		if len(surplus) == 0 {
			return deleted, nil
		}
		var conditions []string
		for _, of := range surplus {
			deleted += uint64(len(of.Rows))
			numbers := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(of.Rows)), ", "), "[]")
			conditions = append(conditions, fmt.Sprintf("_part = %s AND _part_offset IN (%s)", QuoteText(of.Part), numbers))
		}
		statement := fmt.Sprintf("ALTER TABLE %s DELETE IN PARTITION ID %s WHERE %s SETTINGS mutations_sync = 1",
			table, QuoteText(month.Partition()), strings.Join(conditions, " OR "))
		if err := conn.Exec(surplusContext(ctx, "delete surplus"), statement); err != nil {
			return deleted, fmt.Errorf("delete surplus rows in %s of %s: %w", month, landing, err)
		}
	}
	return deleted, fmt.Errorf("delete surplus rows in %s of %s: some are left after %d tries; merges or inserts may have been in the way", month, landing, surplusTries)
}

func surplusContext(ctx context.Context, comment string) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"log_comment": comment, "optimize_aggregation_in_order": 1, "max_threads": 1, "max_query_size": 16 << 20,
	}))
}
