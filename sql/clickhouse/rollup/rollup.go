// Package rollup compares the rollups, which are the tables that views fill from landing tables, with what their
// views make of the landing rows, and rebuilds a month of one that differs.
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

// A Rollup is a table that a materialized view fills from a landing table, each row in the month of the rows that it
// comes from. All of it is read from the server, so that the migration of the view is the one definition.
type Rollup struct {
	Table  string // that the view fills
	Source string // the landing table

	database string
	text     string // the view's SELECT
	columns  []rollupColumn
	summed   bool // merges of Table sum rows up; else they leave them alone
}

type rollupColumn struct {
	name   string
	typed  string
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

// viewTargets is no named view, since analysts do not ask it.
//
//go:embed view_targets.sql
var viewTargets string

// List is all the rollups that there are, but for log_progress, which has no months.
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
		r, err := rollupOf(row)
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

// summing finds the columns that an engine lists to sum, after the two names of a replicated table; without a list it
// sums every number beside the key.
var summing = regexp.MustCompile(`^(?:Replicated)?SummingMergeTree(?:\((?:'[^']*', '[^']*'(?:, )?)?(?:\(([^)]*)\))?\))? `)

func rollupOf(row rollupRow) (*Rollup, error) {
	if row.PartitionKey != "toYYYYMM(day)" {
		return nil, fmt.Errorf("partitioned by %q: want toYYYYMM(day)", row.PartitionKey)
	}
	r := &Rollup{Table: row.Table, Source: row.Source, database: row.Database, text: row.Text}
	var listed []string
	if match := summing.FindStringSubmatch(row.Engine); match != nil {
		r.summed = true
		if match[1] != "" {
			listed = strings.Split(match[1], ", ")
		}
	}
	for i, name := range row.Names {
		number := strings.HasPrefix(row.Types[i], "Int") || strings.HasPrefix(row.Types[i], "UInt") || strings.HasPrefix(row.Types[i], "Decimal")
		summed := r.summed && !row.Keys[i] && number && (listed == nil || slices.Contains(listed, name))
		r.columns = append(r.columns, rollupColumn{name, row.Types[i], summed})
	}
	if r.summed && len(r.Sums()) == 0 {
		return nil, fmt.Errorf("nothing is summed by %s", row.Engine)
	}
	return r, nil
}

// Sums names what a Checksum sums: columns, or the rows themselves where merges leave them alone.
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

// cast is the columns in the types of the table: a view's may be wider, and a row is compared as it was inserted.
func (r *Rollup) cast() string {
	var list []string
	for _, c := range r.columns {
		list = append(list, fmt.Sprintf("CAST(%s, %s) AS %[1]s", clickhouse.QuoteName(c.name), clickhouse.QuoteText(c.typed)))
	}
	return strings.Join(list, ", ")
}

// Owner restricts a comparison to an organization, or to one of its brands. Nil ids restrict nothing.
type Owner struct {
	OrganizationID clickhouse.UUID
	BrandID        clickhouse.UUID
}

// Months are those of which the rollup or its source has rows, the earliest first.
func (r *Rollup) Months(ctx context.Context, conn *clickhouse.Conn) ([]clickhouse.Month, error) {
	const partitions = `
SELECT arraySort(groupUniqArray(toInt64(partition_id)))
FROM system.parts
WHERE database = currentDatabase() AND table IN ({table:String}, {source:String}) AND active AND rows > 0
SETTINGS log_comment = 'months of rollup'`
	var numbers []int64
	err := clickhouse.Retry(ctx, func() error {
		return conn.QueryRow(ctx, partitions, driver.Named("table", r.Table), driver.Named("source", r.Source)).Scan(&numbers)
	})
	if err != nil {
		return nil, fmt.Errorf("list months of %s: %w", r.Table, err)
	}
	var months []clickhouse.Month
	for _, n := range numbers {
		months = append(months, clickhouse.Month(n))
	}
	return months, nil
}
