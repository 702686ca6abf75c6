// Package rollup compares rollups, the tables that views fill from landing tables, with their view's SELECT over the
// landing rows, and rebuilds a month that differs.
package rollup

import (
	"context"
	_ "embed" // view_targets.sql
	"fmt"
	"regexp"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A Rollup is a table that a materialized view fills from a landing table, each row in the month of its source rows. It
// is read from the server, so that the migration of the view is the only definition.
type Rollup struct {
	Table  string // target of the view
	Source string // the landing table

	database string
	text     string // the view's SELECT
	columns  []column
	summed   bool // merges of Table sum rows; else they keep them
}

type column struct {
	name   string
	typ    string
	summed bool
}

type rollupRow struct {
	Table        string   `ch:"table"`
	Source       string   `ch:"source"`
	Database     string   `ch:"database"`
	Text         string   `ch:"text"`
	Engine       string   `ch:"engine"`
	PartitionKey string   `ch:"partition_key"`
	Names        []string `ch:"names"`
	Types        []string `ch:"types"`
	Keys         []bool   `ch:"keys"`
}

// viewTargets is not in query/, since analysts do not need it.
//
//go:embed view_targets.sql
var viewTargets string

// List returns all rollups except log_progress, which has no months.
func List(ctx context.Context, conn *clickhouse.Conn) ([]*Rollup, error) {
	var rows []rollupRow
	if err := clickhouse.Retry(ctx, func() error { return conn.Select(ctx, &rows, viewTargets) }); err != nil {
		return nil, fmt.Errorf("list rollups: %w", err)
	}
	var rollups []*Rollup
	for _, row := range rows {
		if strings.HasPrefix(row.Table, logProgress) {
			continue
		}
		r, err := newRollup(row)
		if err != nil {
			return nil, fmt.Errorf("read rollup %s: %w", row.Table, err)
		}
		if slices.ContainsFunc(rollups, func(other *Rollup) bool { return other.Table == r.Table }) {
			return nil, fmt.Errorf("read rollup %s: several views fill it", row.Table)
		}
		rollups = append(rollups, r)
	}
	return rollups, nil
}

// summingEngine finds the summed columns in an engine's arguments, after the two names of a replicated table. An engine
// without a list sums every number outside the key.
var summingEngine = regexp.MustCompile(
	`^(?:Replicated)?SummingMergeTree(?:\((?:'[^']*', '[^']*'(?:, )?)?(?:\(([^)]*)\))?\))? `)

func newRollup(row rollupRow) (*Rollup, error) {
	if row.PartitionKey != "toYYYYMM(day)" {
		return nil, fmt.Errorf("partitioned by %q: want toYYYYMM(day)", row.PartitionKey)
	}
	r := &Rollup{Table: row.Table, Source: row.Source, database: row.Database, text: row.Text}
	var listed []string
	if match := summingEngine.FindStringSubmatch(row.Engine); match != nil {
		r.summed = true
		if match[1] != "" {
			listed = strings.Split(match[1], ", ")
		}
	}
	for i, name := range row.Names {
		typ := row.Types[i]
		number := strings.HasPrefix(typ, "Int") || strings.HasPrefix(typ, "UInt") || strings.HasPrefix(typ, "Decimal")
		summed := r.summed && !row.Keys[i] && number && (listed == nil || slices.Contains(listed, name))
		r.columns = append(r.columns, column{name, typ, summed})
	}
	if r.summed && len(r.Sums()) == 0 {
		return nil, fmt.Errorf("nothing is summed by %s", row.Engine)
	}
	return r, nil
}

// Sums returns the names of a Checksum's sums: columns, or the rows themselves if merges keep them.
func (r *Rollup) Sums() []string {
	if !r.summed {
		return []string{"rows"}
	}
	var names []string
	for _, c := range r.columns {
		if c.summed {
			names = append(names, c.name)
		}
	}
	return names
}

// cast converts the columns to the types of the table: the types of a view may be wider, and a row is compared as
// inserted.
func (r *Rollup) cast() string {
	var list []string
	for _, c := range r.columns {
		name := clickhouse.QuoteName(c.name)
		list = append(list, "CAST("+name+", "+clickhouse.QuoteText(c.typ)+") AS "+name)
	}
	return strings.Join(list, ", ")
}

// Owner restricts a comparison to an organization, or to one of its brands. Nil ids restrict nothing.
type Owner struct {
	OrganizationID clickhouse.UUID
	BrandID        clickhouse.UUID
}

// Months returns the months in which the rollup or its source has rows, the earliest first.
func (r *Rollup) Months(ctx context.Context, conn *clickhouse.Conn) ([]clickhouse.Month, error) {
	const partitions = `
SELECT arraySort(groupUniqArray(toInt64(partition_id)))
FROM system.parts
WHERE database = currentDatabase() AND table IN ({table:String}, {source:String}) AND active AND rows > 0
SETTINGS log_comment = 'months of rollup'`
	var numbers []int64
	err := clickhouse.Retry(ctx, func() error {
		table, source := driver.Named("table", r.Table), driver.Named("source", r.Source)
		return conn.QueryRow(ctx, partitions, table, source).Scan(&numbers)
	})
	if err != nil {
		return nil, fmt.Errorf("list months of %s: %w", r.Table, err)
	}
	return months(numbers), nil
}

func months(numbers []int64) []clickhouse.Month {
	list := make([]clickhouse.Month, len(numbers))
	for i, n := range numbers {
		list[i] = clickhouse.Month(n)
	}
	return list
}
