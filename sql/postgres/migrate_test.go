package postgres_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/migration"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// migrated is a fresh database with the schema: a pool as the service, and the address with a superuser's credentials.
func migrated(t testing.TB) (*postgres.DB, string) {
	t.Helper()
	c := store.ControlPlane(t)
	return store.OpenControlPlane(t, c), c.DSN
}

func open(t testing.TB, dsn string) *postgres.DB {
	t.Helper()
	c := postgres.DefaultConfig()
	c.DSN = dsn
	return store.OpenControlPlane(t, c)
}

// connected is one connection as the superuser.
func connected(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func TestMigrateTwiceDoesNothingTheSecondTime(t *testing.T) {
	t.Parallel()
	dsn := testkit.Postgres(t)
	before, err := postgres.Pending(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	listener := connected(t, dsn)
	if _, err := listener.Exec(t.Context(), "LISTEN pgrst"); err != nil {
		t.Fatal(err)
	}
	var first, second []string
	for _, steps := range []*[]string{&first, &second} {
		err := postgres.Migrate(t.Context(), dsn, func(_ uint, name string) { *steps = append(*steps, name) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(before) == 0 || !slices.Equal(before, first) {
		t.Errorf("pending %v, then did %v", before, first)
	}
	if len(second) > 0 {
		t.Errorf("the second run did %v", second)
	}
	if _, err := listener.Exec(t.Context(), "NOTIFY pgrst, 'end'"); err != nil {
		t.Fatal(err)
	}
	// the first run has told a running /rest/v1, and the second has not
	for _, want := range []string{"reload schema", "end"} {
		if n, err := listener.WaitForNotification(t.Context()); err != nil || n.Payload != want {
			t.Errorf("notified of %v, %v; want %s", n, err, want)
		}
	}
	if after, err := postgres.Pending(t.Context(), dsn); err != nil || len(after) > 0 {
		t.Errorf("pending %v, %v after migration", after, err)
	}
	if _, err := connected(t, dsn).Exec(t.Context(),
		"UPDATE private.schema_migrations SET version = version + 1"); err != nil {
		t.Fatal(err)
	}
	if after, err := postgres.Pending(t.Context(), dsn); !errors.Is(err, postgres.ErrNewer) || len(after) > 0 {
		t.Errorf("pending %v, %v after a newer release", after, err)
	}
	if err := postgres.Migrate(t.Context(), dsn, func(uint, string) {}); !errors.Is(err, postgres.ErrNewer) {
		t.Errorf("migrated after a newer release: %v", err)
	}
}

// Roles belong to the cluster and versions to the database: neither databases that
// migrate at once nor several runs on one of them may trip over each other.
func TestManyMigrateAtOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	done := map[string]int{}
	var wg sync.WaitGroup
	for range 3 {
		dsn := testkit.Postgres(t)
		for range 2 {
			wg.Go(func() {
				err := postgres.WithMigrationLock(t.Context(), dsn, func() error {
					return postgres.Migrate(t.Context(), dsn, func(_ uint, name string) {
						mu.Lock()
						defer mu.Unlock()
						done[name]++
					})
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for name, times := range done {
		if times != 3 {
			t.Errorf("%s was run %d times on 3 databases", name, times)
		}
	}
}

// A file and its version are one transaction: whatever stops a run in between, the next one goes on there.
func TestAMigrationAndItsVersionAreOne(t *testing.T) {
	t.Parallel()
	dsn := testkit.Postgres(t)
	conn := connected(t, dsn)
	if _, err := conn.Exec(t.Context(), "CREATE TABLE public.api_keys ()"); err != nil { // 0011 finds it and fails
		t.Fatal(err)
	}
	err := postgres.Migrate(t.Context(), dsn, func(uint, string) {})
	if err == nil || !strings.Contains(err.Error(), "already exists") ||
		!strings.Contains(err.Error(), "0011_api_keys") || len(err.Error()) > 300 {
		t.Errorf("Migrate() = %v", err)
	}
	var version uint
	if err := conn.QueryRow(t.Context(), "SELECT version FROM private.schema_migrations").Scan(&version); err != nil ||
		version != 10 {
		t.Errorf("version %d, %v; want 10, the last that was run", version, err)
	}
	if _, err := conn.Exec(t.Context(), "DROP TABLE public.api_keys"); err != nil {
		t.Fatal(err)
	}
	if err := postgres.Migrate(t.Context(), dsn, func(uint, string) {}); err != nil {
		t.Errorf("after the repair: %v", err)
	}
}

// Once, a database whose migrations were rewritten since was changed by half and then failed, or was taken for current.
func TestASchemaOfOtherFilesIsRefusedUnchanged(t *testing.T) {
	t.Parallel()
	dsn := testkit.Postgres(t)
	if err := postgres.MigrateTo(t.Context(), dsn, 42, func(uint, string) {}); err != nil {
		t.Fatal(err)
	}
	conn := connected(t, dsn)
	for _, c := range []struct {
		change string
		want   error
	}{
		{"SELECT", nil},
		{"UPDATE private.schema_migrations SET files = 'others'", migration.ErrOtherFiles},
		{"UPDATE private.schema_migrations SET files = NULL", nil}, // as it was once left
		{"ALTER TABLE public.brands ADD COLUMN once text", migration.ErrOtherFiles},
		{"ALTER TABLE public.brands DROP COLUMN once", nil},
		{"UPDATE private.schema_migrations SET version = 41", migration.ErrOtherFiles},
	} {
		if _, err := conn.Exec(t.Context(), c.change); err != nil {
			t.Fatal(err)
		}
		if _, err := postgres.Pending(t.Context(), dsn); !errors.Is(err, c.want) {
			t.Errorf("after %s: %v, want %v", c.change, err, c.want)
		}
	}
	if err := postgres.Migrate(t.Context(), dsn, func(uint, string) {}); !errors.Is(err, migration.ErrOtherFiles) {
		t.Errorf("Migrate() = %v", err)
	}
}

// A file of a number is one text from its first push on: what follows it is a file of its own. The list grows by
// -update, which changes no line.
func TestMigrationsStayAsTheyAre(t *testing.T) {
	const list = "testdata/migrations.sha256"
	known, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	text := string(known)
	for _, store := range []string{"../postgres", "../clickhouse"} {
		names, err := filepath.Glob(store + "/migrate/*.up.sql")
		if err != nil || len(names) == 0 {
			t.Fatalf("%v, %v", names, err)
		}
		for _, name := range names {
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprintf("%x  %s\n", sha256.Sum256(file), name)
			switch {
			case strings.Contains(text, line):
			case *update && !strings.Contains(text, name):
				text += line
			default:
				t.Errorf("%s is not as it was: a migration that databases have run does not change; add another, "+
					"and run with -update", name)
			}
		}
	}
	if *update {
		if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
