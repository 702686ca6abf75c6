package postgres_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
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
