package run

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// InPostgres opens a connection to the control plane of an environment, which begins with its address or with the data
// directory of a process that runs.
func InPostgres(t *testing.T, env []string, do func(context.Context, *pgx.Conn) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), Timeout)
	defer cancel()
	dsn, outside := strings.CutPrefix(env[0], "ANSWERSCOPE_POSTGRES_DSN=")
	if !outside {
		dir := strings.TrimPrefix(env[0], "ANSWERSCOPE_DATA_DIR=")
		set, err := engine.Open(ctx, engine.Options{
			DataDir: dir, Postgres: true, Owner: "test", Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return err
		}
		defer func() { _ = set.Stop(context.Background()) }() // joined: its owner may be gone
		dsn = set.Postgres
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return do(ctx, conn)
}

// JoinWarehouse opens the warehouse of a process that runs on a data directory.
func JoinWarehouse(t *testing.T, dir string) (warehouse *clickhouse.Conn, leave func()) {
	t.Helper()
	set, err := engine.Open(t.Context(), engine.Options{
		DataDir: dir, ClickHouse: true, Owner: "test", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := clickhouse.DefaultConfig()
	cfg.DSN = set.ClickHouse
	conn, err := clickhouse.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return conn, func() {
		if err := errors.Join(conn.Close(), set.Stop(context.Background())); err != nil {
			t.Error(err)
		}
	}
}
