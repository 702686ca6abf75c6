package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// Warehouse returns the configuration of a fresh database with the tables of sql/clickhouse and the views that fill
// them. Named views are left out: the API does not read them, and they take more than half of the time of a copy (180 ms, 80 without). The
// database is dropped when the test passed.
func Warehouse(t testing.TB) clickhouse.Config { return copyWarehouse(t, false) }

// CompleteWarehouse is a Warehouse with the named views, for analysts and for commands that check the schema.
func CompleteWarehouse(t testing.TB) clickhouse.Config { return copyWarehouse(t, true) }

func copyWarehouse(t testing.TB, complete bool) clickhouse.Config {
	t.Helper()
	dump := testkit.Once(t, "warehouse_"+Fingerprint(t, "sql/clickhouse"), func() ([]byte, error) { return dumpSchema(t) })
	var statements []string
	if err := json.Unmarshal(dump, &statements); err != nil {
		t.Fatal(err)
	}
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	conn := OpenWarehouse(t, c)
	database := c.DSN[strings.LastIndex(c.DSN, "/")+1:]
	for _, statement := range statements {
		if strings.HasPrefix(statement, "CREATE VIEW ") && !complete {
			continue
		}
		statement = strings.ReplaceAll(statement, databaseMark, database+".")
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("copy warehouse: %s: %v", statement, err)
		}
	}
	return c
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

// databaseMark is the name of the database, with its dot, in dumped statements.
const databaseMark = "{database}."

// dumpSchema migrates a database and returns the statements, as JSON, that make another
// one alike: tables, then views that fill them, then named views, then the rows by which
// a later migration knows what was done. Functions belong to the whole server.
func dumpSchema(t testing.TB) ([]byte, error) {
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		return nil, err
	}
	conn := OpenWarehouse(t, c)
	var statements []string
	err := conn.QueryRow(t.Context(), `
		SELECT groupArray(replaceAll(create_table_query, currentDatabase() || '.', '`+databaseMark+`'))
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
	err = conn.QueryRow(t.Context(), `
		SELECT 'INSERT INTO `+databaseMark+`schema_migrations VALUES '
			|| arrayStringConcat(groupArray(toString((version, dirty, sequence))), ', ')
		FROM schema_migrations`).Scan(&versions)
	if err != nil {
		return nil, fmt.Errorf("dump versions of the schema: %w", err)
	}
	return json.Marshal(append(statements, versions))
}
