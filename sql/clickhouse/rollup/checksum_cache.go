package rollup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A ChecksumCache computes the checksum of a month on one side of a rollup, and caches it by part. A part never
// changes, so only new and merged parts are read again: few enough to do it under the sink lock. It is not safe for
// concurrent use.
type ChecksumCache struct {
	conn     *clickhouse.Conn
	rollup   *Rollup
	month    clickhouse.Month
	owner    Owner
	database string
	table    string // whose parts are read: the rollup's own table, or its source
	entries  []entry
}

// An entry has the checksum of some parts.
type entry struct {
	parts    []string
	checksum Checksum
}

// Expected computes checksums of the view's SELECT over the landing rows of a month.
func (r *Rollup) Expected(conn *clickhouse.Conn, month clickhouse.Month, owner Owner) *ChecksumCache {
	return &ChecksumCache{conn: conn, rollup: r, month: month, owner: owner, database: r.database, table: r.Source}
}

// Actual computes checksums of the rollup's rows of a month.
func (r *Rollup) Actual(conn *clickhouse.Conn, month clickhouse.Month, owner Owner) *ChecksumCache {
	return &ChecksumCache{conn: conn, rollup: r, month: month, owner: owner, database: r.database, table: r.Table}
}

type part struct {
	Name string `ch:"name"`
	Rows uint64 `ch:"rows"`
}

// parts lists the active parts of the month.
func (c *ChecksumCache) parts(ctx context.Context) ([]part, error) {
	const active = `
SELECT name, rows
FROM system.parts
WHERE database = {database:String} AND table = {table:String} AND partition_id = {partition:String} AND active
ORDER BY rows DESC, name
SETTINGS log_comment = 'parts of month'`
	var parts []part
	err := clickhouse.Retry(ctx, func() error {
		return c.conn.Select(ctx, &parts, active, driver.Named("database", c.database),
			driver.Named("table", c.table), driver.Named("partition", c.month.Partition()))
	})
	if err != nil {
		return nil, fmt.Errorf("list parts of %s in %s: %w", c.table, c.month, err)
	}
	return parts, nil
}

// Unread estimates how many rows the next Checksum reads.
func (c *ChecksumCache) Unread(ctx context.Context) (rows uint64, err error) {
	parts, err := c.parts(ctx)
	for _, p := range c.forget(parts) {
		rows += p.Rows
	}
	return rows, err
}

// Checksum reads the parts that are not in the cache. stable is false if parts were merged meanwhile: then rows may be
// missing, and the caller tries again. Rows that are inserted meanwhile are left out.
func (c *ChecksumCache) Checksum(ctx context.Context, threads int) (total Checksum, stable bool, err error) {
	parts, err := c.parts(ctx)
	if err != nil {
		return Checksum{}, false, err
	}
	for _, group := range groups(c.forget(parts)) {
		if err := c.read(ctx, group, threads); err != nil {
			return Checksum{}, false, err
		}
	}
	total = c.rollup.zero()
	for _, e := range c.entries {
		total.add(e.checksum)
	}
	// A part that is still active was active while it was read: parts do not become active again.
	entries := len(c.entries)
	if parts, err = c.parts(ctx); err != nil {
		return Checksum{}, false, err
	}
	c.forget(parts)
	return total, len(c.entries) == entries, nil
}

// forget drops entries with inactive parts, and returns the parts that have not been read.
func (c *ChecksumCache) forget(parts []part) (unread []part) {
	active := make(map[string]bool, len(parts))
	for _, p := range parts {
		active[p.Name] = true
	}
	c.entries = slices.DeleteFunc(c.entries, func(e entry) bool {
		return slices.ContainsFunc(e.parts, func(name string) bool { return !active[name] })
	})
	for _, e := range c.entries {
		for _, name := range e.parts {
			delete(active, name)
		}
	}
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return !active[p.Name] })
}

const (
	largePartRows = 200_000   // such a part is read alone, so that it is not read again when a small one is merged
	groupRows     = 1_000_000 // bounds the memory for small parts that are read together
	groupParts    = 500       // bounds the length of the query
)

// groups divides parts, the largest first, into groups that are read together.
func groups(parts []part) [][]part {
	var all [][]part
	var last []part
	var rows uint64
	for _, p := range parts {
		if p.Rows >= largePartRows {
			all = append(all, []part{p})
			continue
		}
		if len(last) == groupParts || rows+p.Rows > groupRows {
			all = append(all, last)
			last, rows = nil, 0
		}
		last = append(last, p)
		rows += p.Rows
	}
	if len(last) > 0 {
		all = append(all, last)
	}
	return all
}

func (c *ChecksumCache) read(ctx context.Context, parts []part, threads int) error {
	var e entry
	var quoted []string
	for _, p := range parts {
		e.parts = append(e.parts, p.Name)
		quoted = append(quoted, clickhouse.QuoteText(p.Name))
	}
	condition := monthCondition(c.month, c.owner) + " AND _part IN (" + strings.Join(quoted, ", ") + ")"
	rows, filters := c.rollup.actual(c.database, condition), driver.Settings(nil)
	if c.table == c.rollup.Source {
		rows, filters = c.rollup.expected(condition)
	}
	var err error
	if e.checksum, err = c.rollup.checksum(ctx, c.conn, rows, filters, threads); err != nil {
		return fmt.Errorf("checksum %s of %s: %w", c.month, c.rollup.Table, err)
	}
	c.entries = append(c.entries, e)
	return nil
}
