package schema

import (
	"context"
	"fmt"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Dump is the schema as the server has it, in one text: tables, views and our functions, by name.
func Dump(ctx context.Context, conn *clickhouse.Conn) (string, error) {
	var objects []struct {
		Name   string `ch:"name"`
		Create string `ch:"create"`
	}
	err := conn.Select(ctx, &objects, `
		SELECT name, replaceAll(formatQuery(create_table_query), currentDatabase() || '.', '') AS create
		FROM system.tables
		WHERE database = currentDatabase() AND name != 'schema_migrations'
		ORDER BY name
		UNION ALL
		SELECT name, create_query AS create
		FROM system.functions
		WHERE origin = 'SQLUserDefined' AND startsWith(name, 'answerscope_')
		ORDER BY name`)
	if err != nil {
		return "", fmt.Errorf("read clickhouse schema: %w", err)
	}
	var b strings.Builder
	for _, o := range objects {
		fmt.Fprintf(&b, "-- %s\n%s;\n\n", o.Name, strings.TrimSpace(o.Create))
	}
	return b.String(), nil
}
