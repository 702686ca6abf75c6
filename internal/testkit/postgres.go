package testkit

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Postgres returns the address of a fresh database, with a superuser's credentials, on a real PostgreSQL. Roles are the
// server's and so are shared between databases. The database is dropped when the test passed.
func Postgres(t testing.TB) (dsn string) {
	t.Helper()
	return CopyPostgres(t, "template1")
}

// CopyPostgres is Postgres with a copy of the database template, which must have no connections.
func CopyPostgres(t testing.TB, template string) (dsn string) {
	t.Helper()
	server, name := address(t, "postgres", "postgres"), freshName(t)
	if err := execPostgres(t.Context(), server, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatalf("create postgres database %s: %v", name, err)
	}
	dsn = withDatabase(server, name)
	cleanUp(t, dsn, func(ctx context.Context) error {
		return execPostgres(ctx, server, "DROP DATABASE "+name+" WITH (FORCE)")
	})
	return dsn
}

// CreatePostgres creates a database that lives as long as the server.
func CreatePostgres(t testing.TB, name string) (dsn string, err error) {
	t.Helper()
	server := address(t, "postgres", "postgres")
	return withDatabase(server, name), execPostgres(t.Context(), server, "DROP DATABASE IF EXISTS "+name,
		"CREATE DATABASE "+name)
}

func execPostgres(ctx context.Context, dsn string, queries ...string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, query := range queries {
		if _, err := conn.Exec(ctx, query); err != nil {
			return err
		}
	}
	return nil
}
