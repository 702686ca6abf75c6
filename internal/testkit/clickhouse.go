package testkit

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// ClickHouse returns the native address of a fresh database (Atomic) on a real ClickHouse. The database is dropped when
// the test passed.
func ClickHouse(t testing.TB) (dsn string) {
	t.Helper()
	return createClickHouse(t, address(t, "clickhouse", "clickhouse"), freshName(t))
}

// ClickHouseHTTP returns the host:port and the credentials of the HTTP interface of the server that ClickHouse's
// databases are on.
func ClickHouseHTTP(t testing.TB) (hostport string, user *url.Userinfo) {
	t.Helper()
	u, err := url.Parse(address(t, "clickhouse", "clickhouse"))
	if err != nil {
		t.Fatal(err)
	}
	return address(t, "clickhouse", "clickhouse_http"), u.User
}

func createClickHouse(t testing.TB, server, name string) (dsn string) {
	t.Helper()
	if err := execClickHouse(t.Context(), server, "CREATE DATABASE "+name+" ENGINE = Atomic"); err != nil {
		t.Fatalf("create clickhouse database %s: %v", name, err)
	}
	dsn = withDatabase(server, name)
	cleanUp(t, dsn, func(ctx context.Context) error {
		return execClickHouse(ctx, server, "DROP DATABASE "+name+" SYNC")
	})
	return dsn
}

func execClickHouse(ctx context.Context, dsn, statement string) error {
	options, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return err
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return err
	}
	return errors.Join(conn.Exec(ctx, statement), conn.Close())
}
