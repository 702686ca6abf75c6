package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
)

// A file and its version are one: whatever stops a run in between, the next one
// knows what is there.
func TestAMigrationAndItsVersionAreOne(t *testing.T) {
	t.Parallel()
	dsn := testkit.Postgres(t)
	conn, err := connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), mustRead("roles.sql")); err != nil {
		t.Fatal(err)
	}
	m, err := migrator(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.Migrate(10), closed(m)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE public.api_keys ()"); err != nil { // the next file will find it there and fail
		t.Fatal(err)
	}
	err = Migrate(t.Context(), dsn, func(uint, string) {})
	if err == nil || !strings.Contains(err.Error(), "already exists") || len(err.Error()) > 300 {
		t.Errorf("Migrate() = %v", err)
	}
	var version uint
	var dirty bool
	if err := conn.QueryRow(t.Context(), "SELECT version, dirty FROM private.schema_migrations").Scan(&version, &dirty); err != nil || version != 10 || dirty {
		t.Errorf("version %d, dirty %v, %v; want 10, as it was", version, dirty, err)
	}
	if _, err := conn.Exec(t.Context(), "DROP TABLE public.api_keys"); err != nil {
		t.Fatal(err)
	}
	if err := Migrate(t.Context(), dsn, func(uint, string) {}); err != nil {
		t.Errorf("after the repair: %v", err)
	}
}
