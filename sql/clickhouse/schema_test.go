package clickhouse_test

import (
	"context"
	"flag"
	"os"
	"sync"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

var update = flag.Bool("update", false, "rewrite schema.golden.sql")

func TestMain(m *testing.M) { testkit.Main(m) }

// migrated is a fresh database with our schema.
func migrated(t *testing.T) *clickhouse.Conn {
	t.Helper()
	return store.OpenWarehouse(t, store.Warehouse(t))
}

func config(t *testing.T) clickhouse.Config {
	t.Helper()
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	return c
}

func open(t *testing.T, c clickhouse.Config) *clickhouse.Conn {
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

func TestSchemaIsTheGolden(t *testing.T) {
	got, err := clickhouse.Schema(t.Context(), migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("schema.golden.sql", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("schema.golden.sql")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the server's schema is not schema.golden.sql; review the change and run with -update. The server has:\n%s", got)
	}
}

func TestMigrateTwiceDoesNothingTheSecondTime(t *testing.T) {
	c := config(t)
	before, err := clickhouse.Pending(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(before) == 0 {
		t.Error("an empty database has nothing pending")
	}
	var steps []string
	for range 2 {
		steps = nil
		if err := clickhouse.Migrate(t.Context(), c, func(step string) { steps = append(steps, step) }); err != nil {
			t.Fatal(err)
		}
	}
	if len(steps) > 0 {
		t.Errorf("the second run did %v", steps)
	}
	if after, err := clickhouse.Pending(t.Context(), c); err != nil || len(after) > 0 {
		t.Errorf("pending %v, %v after migration", after, err)
	}
}

// A migration that was killed leaves its version dirty: the next run must pick
// it up without help.
func TestMigrateMendsAHalfMigration(t *testing.T) {
	c := config(t)
	conn := open(t, c)
	if err := clickhouse.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, statement := range []string{
		"DROP VIEW answer_daily_view",
		"TRUNCATE TABLE schema_migrations",
		"INSERT INTO schema_migrations (version, dirty, sequence) VALUES (2, 1, 1)",
	} {
		if err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if pending, err := clickhouse.Pending(ctx, c); err != nil || len(pending) == 0 {
		t.Errorf("pending %v, %v with a dirty version", pending, err)
	}
	if err := clickhouse.Migrate(ctx, c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	var views uint64
	if err := conn.QueryRow(ctx, "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'answer_daily_view'").Scan(&views); err != nil || views != 1 {
		t.Errorf("%d answer_daily_view, %v; want 1", views, err)
	}
}

// Functions belong to the server: databases that migrate at once must not trip
// over each other.
func TestDatabasesMigrateAtTheSameTime(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		c := config(t)
		wg.Go(func() {
			if err := clickhouse.Migrate(t.Context(), c, func(string) {}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
