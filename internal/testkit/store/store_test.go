package store_test

import (
	"slices"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestACopiedWarehouseIsAMigratedOne(t *testing.T) {
	t.Parallel()
	migrated := clickhouse.DefaultConfig()
	migrated.DSN = testkit.ClickHouse(t)
	if err := schema.Migrate(t.Context(), migrated, func(string) {}); err != nil {
		t.Fatal(err)
	}
	copied := store.CompleteWarehouse(t)
	if got, want := definitions(t, copied), definitions(t, migrated); !slices.Equal(got, want) {
		t.Errorf("the copy has another schema than the migrated database:\n%q\nwant\n%q", got, want)
	}
	if pending, err := schema.Pending(t.Context(), copied); err != nil || len(pending) > 0 {
		t.Errorf("pending in the copy: %v, %v", pending, err)
	}
}

// definitions are the statements that make the tables and views of a database.
func definitions(t *testing.T, of clickhouse.Config) (all []string) {
	t.Helper()
	err := store.OpenWarehouse(t, of).QueryRow(t.Context(), `
		SELECT arraySort(groupArray(replaceAll(create_table_query, currentDatabase() || '.', ''))) FROM system.tables
		WHERE database = currentDatabase() AND name != 'schema_migrations'`).Scan(&all)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestACopiedControlPlaneHasNothingPending(t *testing.T) {
	t.Parallel()
	a, b := store.ControlPlane(t), store.ControlPlane(t)
	if a.DSN == b.DSN {
		t.Errorf("two control planes have one address %s", a.DSN)
	}
	if pending, err := postgres.Pending(t.Context(), a.DSN); err != nil || len(pending) > 0 {
		t.Errorf("pending in the copy: %v, %v", pending, err)
	}
	store.OpenControlPlane(t, b)
}
