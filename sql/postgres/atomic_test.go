package postgres_test

import (
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A file and its version are one transaction: whatever stops a run in between, the next one goes on there.
func TestAMigrationAndItsVersionAreOne(t *testing.T) {
	t.Parallel()
	dsn := testkit.Postgres(t)
	conn := connected(t, dsn)
	if _, err := conn.Exec(t.Context(), "CREATE TABLE public.api_keys ()"); err != nil { // 0011 finds it and fails
		t.Fatal(err)
	}
	err := postgres.Migrate(t.Context(), dsn, func(uint, string) {})
	if err == nil || !strings.Contains(err.Error(), "already exists") || !strings.Contains(err.Error(), "0011_api_keys") || len(err.Error()) > 300 {
		t.Errorf("Migrate() = %v", err)
	}
	var version uint
	if err := conn.QueryRow(t.Context(), "SELECT version FROM private.schema_migrations").Scan(&version); err != nil || version != 10 {
		t.Errorf("version %d, %v; want 10, the last that was run", version, err)
	}
	if _, err := conn.Exec(t.Context(), "DROP TABLE public.api_keys"); err != nil {
		t.Fatal(err)
	}
	if err := postgres.Migrate(t.Context(), dsn, func(uint, string) {}); err != nil {
		t.Errorf("after the repair: %v", err)
	}
}
