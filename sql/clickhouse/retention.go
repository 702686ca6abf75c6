package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// An Expiring table drops its oldest months.
type Expiring struct {
	Table string
	day   string // expression of the day of a row
}

// ExpiringDeadLetters expires dead letters by the time of their record.
var ExpiringDeadLetters = Expiring{"deadletters", "toDate(appended_at)"}

// ExpiringLanding expires rows of a landing table; the sums that views made of them stay.
func ExpiringLanding(table string) Expiring { return Expiring{table, "day"} }

// Expire makes all rows before a day expire, which is the first of a month, and no other. The server drops whole parts
// within minutes. The TTL names the day instead of an age, so that only months that the caller froze before expire.
func Expire(ctx context.Context, conn *Conn, e Expiring, before time.Time) error {
	return conn.EachShard(func(shard *Conn) error {
		return Expiring{conn.Local(e.Table), e.day}.expireShard(ctx, shard, before)
	})
}

func (e Expiring) expireShard(ctx context.Context, conn *Conn, before time.Time) error {
	ttl := e.ttl(DayOf(before))
	const engineOf = "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = {name:String}"
	var engine string
	if err := Retry(ctx, func() error {
		return conn.QueryRow(ctx, engineOf, clickhouse.Named("name", e.Table)).Scan(&engine)
	}); err != nil {
		return fmt.Errorf("read TTL of %s: %w", e.Table, err)
	}
	if !strings.Contains(engine, " TTL "+ttl+" ") {
		// Without materialize_ttl_after_modify = 0 every part of every month is mutated.
		alter := "ALTER TABLE " + QuoteName(e.Table) + " MODIFY TTL " + ttl +
			" SETTINGS materialize_ttl_after_modify = 0"
		if err := conn.Exec(ctx, alter); err != nil {
			return fmt.Errorf("set TTL of %s: %w", e.Table, err)
		}
	}
	return e.materialize(ctx, conn, before)
}

// Rows expire on one of these days: long ago, or after any row. Both are far from a turn of the year, for any time zone
// of the server, and before 2106, when a TTL would wrap around into the past.
const (
	expiredDay = "1971-07-01"
	futureDay  = "2100-07-01"
)

func (e Expiring) ttl(before Day) string {
	return fmt.Sprintf("if(%s < toDate('%s'), toDate('%s'), toDate('%s'))", e.day, before, expiredDay, futureDay)
}

// materialize applies the table's TTL to the parts of expired months.
func (e Expiring) materialize(ctx context.Context, conn *Conn, before time.Time) error {
	var partitions []string
	err := Retry(ctx, func() error {
		return conn.QueryRow(ctx, `
			SELECT arraySort(groupUniqArray(partition_id))
			FROM system.parts
			WHERE database = currentDatabase() AND table = {table:String} AND active AND rows > 0
			  AND toUInt32OrZero(partition) < {month:UInt32}
			  AND toYear(delete_ttl_info_max) != 1971`,
			clickhouse.Named("table", e.Table), clickhouse.Named("month", int(MonthOf(before)))).Scan(&partitions)
	})
	if err != nil {
		return fmt.Errorf("list expired months of %s: %w", e.Table, err)
	}
	if len(partitions) == 0 {
		return nil
	}
	if err := awaitMutations(ctx, conn, e.Table); err != nil {
		return err
	}
	for _, id := range partitions {
		alter := fmt.Sprintf("ALTER TABLE %s MATERIALIZE TTL IN PARTITION ID '%s' SETTINGS mutations_sync = 0",
			QuoteName(e.Table), id)
		if err := conn.Exec(ctx, alter); err != nil {
			return fmt.Errorf("expire month %s of %s: %w", id, e.Table, err)
		}
	}
	return awaitMutations(ctx, conn, e.Table)
}
