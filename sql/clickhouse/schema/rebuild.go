package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// rebuildMark ends the comment of a view's target in a migration that changes the view. It is removed once the target
// has been rebuilt, so the next run continues a killed one.
const rebuildMark = " [rebuild]"

// rebuildStep is the prefix of a marked table's step.
const rebuildStep = "rebuild "

// Rebuilds reports whether one of the pending steps rebuilds rollups from their landing rows.
func Rebuilds(pending []string) bool {
	return slices.ContainsFunc(pending, func(step string) bool {
		if _, serverStep, ok := strings.Cut(step, shardSeparator); ok {
			step = serverStep
		}
		if name := step + ".up.sql"; slices.Contains(migrationNames(), name) {
			return strings.Contains(mustRead("migrate/"+name), rebuildMark)
		}
		return strings.HasPrefix(step, rebuildStep)
	})
}

// A markedTable is a rollup with the mark in its comment, or the Distributed table over it.
type markedTable struct {
	Name   string `ch:"name"`
	Engine string `ch:"engine"`
	Text   string `ch:"text"` // the comment without the mark
}

func markedForRebuild(ctx context.Context, conn *clickhouse.Conn) (tables []markedTable, err error) {
	err = conn.Select(ctx, &tables, `
		SELECT name, engine, replaceOne(comment, '`+rebuildMark+`', '') AS text
		FROM system.tables
		WHERE database = currentDatabase() AND endsWith(comment, '`+rebuildMark+`')
		ORDER BY name DESC`)
	if err != nil {
		return nil, fmt.Errorf("list tables to rebuild: %w", err)
	}
	return tables, nil
}

// rebuildMarked rebuilds the marked rollups of a server. No sink may run meanwhile.
func rebuildMarked(ctx context.Context, conn *clickhouse.Conn, progress func(step string)) error {
	tables, err := markedForRebuild(ctx, conn)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if table.Engine != "Distributed" {
			if err := rollup.RebuildTable(ctx, conn, table.Name); err != nil {
				return err
			}
		}
		name, comment := clickhouse.QuoteName(table.Name), clickhouse.QuoteText(table.Text)
		if err := conn.Exec(ctx, "ALTER TABLE "+name+" MODIFY COMMENT "+comment); err != nil {
			return fmt.Errorf("remove the rebuild mark of %s: %w", table.Name, err)
		}
		progress(rebuildStep + table.Name)
	}
	return nil
}
