package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// Warehouse returns the configuration of a fresh database with the tables of sql/clickhouse and the views that fill
// them. Named views are left out: the API does not read them, and they take more than half of the time of a copy
// (180 ms, 80 without). The database is dropped when the test passed.
func Warehouse(t testing.TB) clickhouse.Config { return copyWarehouse(t, false) }

// CompleteWarehouse is a Warehouse with the named views, for analysts and for commands that check the schema.
func CompleteWarehouse(t testing.TB) clickhouse.Config { return copyWarehouse(t, true) }

func copyWarehouse(t testing.TB, complete bool) clickhouse.Config {
	t.Helper()
	dump := testkit.Once(t, "warehouse_"+Fingerprint(t, "sql/clickhouse"),
		func() ([]byte, error) { return migratedSchema(t) })
	var statements []string
	if err := json.Unmarshal(dump, &statements); err != nil {
		t.Fatal(err)
	}
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	if !complete {
		statements = slices.DeleteFunc(statements, func(s string) bool { return strings.HasPrefix(s, "CREATE VIEW ") })
	}
	RestoreSchema(t, OpenWarehouse(t, c), statements)
	return c
}

// RestoreSchema runs the statements of a DumpSchema in an empty database.
func RestoreSchema(t testing.TB, conn *clickhouse.Conn, statements []string) {
	t.Helper()
	var database string
	if err := conn.QueryRow(t.Context(), "SELECT currentDatabase()").Scan(&database); err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		statement = strings.ReplaceAll(statement, databaseMark, database)
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("copy warehouse: %s: %v", statement, err)
		}
	}
}

// OpenWarehouse connects to a warehouse until the test ends.
func OpenWarehouse(t testing.TB, c clickhouse.Config) *clickhouse.Conn {
	t.Helper()
	conn, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// databaseMark is the name of the database in dumped statements.
const databaseMark = "{the database}"

// migratedSchema migrates a database and returns its DumpSchema as JSON.
func migratedSchema(t testing.TB) ([]byte, error) {
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		return nil, err
	}
	statements, err := DumpSchema(t.Context(), OpenWarehouse(t, c))
	if err != nil {
		return nil, err
	}
	return json.Marshal(statements)
}

// DumpSchema returns the statements that make another database like a migrated one: tables, then views that fill them,
// then named views, then the rows by which a later migration knows what was done. Functions belong to the whole server.
func DumpSchema(ctx context.Context, conn *clickhouse.Conn) (statements []string, err error) {
	err = conn.QueryRow(ctx, `
		SELECT groupArray(replaceAll(create_table_query, currentDatabase(), '`+databaseMark+`'))
		FROM
		(
			SELECT create_table_query
			FROM system.tables
			WHERE database = currentDatabase()
			ORDER BY engine = 'View', engine = 'MaterializedView', name
		)`).Scan(&statements)
	if err != nil {
		return nil, fmt.Errorf("dump schema: %w", err)
	}
	var versions string
	err = conn.QueryRow(ctx, `
		SELECT 'INSERT INTO `+databaseMark+`.schema_migrations VALUES '
			|| arrayStringConcat(groupArray(toString((version, dirty, sequence))), ', ')
		FROM schema_migrations`).Scan(&versions)
	if err != nil {
		return nil, fmt.Errorf("dump versions of the schema: %w", err)
	}
	return append(statements, versions), nil
}
