package rollup

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A Rollup is a table that a materialized view fills from a landing table, each row
// in the month of the rows that it comes from. All of it is as the server has it, so
// that what a figure is stays written in one place: the migration of its view.
type Rollup struct {
	Table  string // that the view fills
	Source string // the landing table

	database string
	text     string // the view's SELECT
	engine   string // of Table, with all that is said of it
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

// viewTargets is not among the named views: what tables there are is no question of
// an analyst's.
const viewTargets = `
SELECT
    target.name AS table,
    source.name AS source,
    currentDatabase() AS database,
    view.as_select AS text,
    target.engine_full AS engine,
    target.partition_key AS partition_key,
    columns.names AS names,
    columns.types AS types,
    columns.keys AS keys
FROM
(
    SELECT
        name,
        arrayJoin(arrayZip(dependencies_database, dependencies_table)) AS dependent
    FROM system.tables
    WHERE database = currentDatabase()
) AS source
INNER JOIN system.tables AS view ON view.database = source.dependent.1 AND view.name = source.dependent.2
INNER JOIN system.tables AS target ON target.database = view.target_database AND target.name = view.target_table
INNER JOIN
(
    SELECT
        table,
        groupArray(name) AS names,
        groupArray(type) AS types,
        groupArray(toBool(is_in_sorting_key OR is_in_partition_key)) AS keys
    FROM (SELECT * FROM system.columns WHERE database = currentDatabase() ORDER BY table, position)
    GROUP BY table
) AS columns ON columns.table = target.name
WHERE view.database = currentDatabase() AND target.database = currentDatabase()
ORDER BY source, table
SETTINGS log_comment = 'view targets'`

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

// summing reads of an engine which columns it sums: those that it lists, after the
// two names that a replicated table has, or every number beside the key.
var summing = regexp.MustCompile(`^(?:Replicated)?SummingMergeTree(?:\((?:'[^']*', '[^']*'(?:, )?)?(?:\(([^)]*)\))?\))? `)

func rollupOf(row rollupRow) (*Rollup, error) {
	if row.PartitionKey != "toYYYYMM(day)" {
		return nil, fmt.Errorf("partitioned by %q: want toYYYYMM(day)", row.PartitionKey)
	}
	r := &Rollup{Table: row.Table, Source: row.Source, database: row.Database, text: row.Text, engine: row.Engine}
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

// cast is the columns as the table has them: a view's may be of wider types, and a
// row is compared as it was inserted.
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

// condition is of the owner's rows; "" for all.
func (o Owner) condition() string {
	var conditions []string
	if o.OrganizationID != (clickhouse.UUID{}) {
		conditions = append(conditions, "organization_id = toUUID('"+o.OrganizationID.String()+"')")
	}
	if o.BrandID != (clickhouse.UUID{}) {
		conditions = append(conditions, "brand_id = toUUID('"+o.BrandID.String()+"')")
	}
	return strings.Join(conditions, " AND ")
}

// Months are those of which the rollup or its source has rows, the earliest first.
func (r *Rollup) Months(ctx context.Context, conn *clickhouse.Conn) ([]clickhouse.Month, error) {
	const partitions = `
SELECT DISTINCT toInt64(partition_id) AS month
FROM system.parts
WHERE database = currentDatabase() AND table IN ({table:String}, {source:String}) AND active AND rows > 0
ORDER BY month
SETTINGS log_comment = 'months of rollup'`
	params := struct {
		Table  string `ch:"table"`
		Source string `ch:"source"`
	}{r.Table, r.Source}
	var rows []struct {
		Month int64 `ch:"month"`
	}
	if err := clickhouse.Retry(ctx, func() error { return conn.Select(ctx, &rows, partitions, clickhouse.Bind(params)...) }); err != nil {
		return nil, fmt.Errorf("list months of %s: %w", r.Table, err)
	}
	var months []clickhouse.Month
	for _, row := range rows {
		months = append(months, clickhouse.Month(row.Month))
	}
	return months, nil
}
