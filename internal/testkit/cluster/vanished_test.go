//go:build all

// Tests of this package need root, and are slow: make test-crash runs them.

package cluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/cluster"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Hosts vanish from the network while each of two databases runs a query. The client's system receives nothing: without
// probes ClickHouse would be waited for five minutes, and PostgreSQL much longer.
func TestHostsThatVanishAreGivenUp(t *testing.T) {
	if !cluster.Isolated(t) {
		return
	}
	c := start(t, cluster.Options{Shards: 1, Replicas: 1, Postgres: 1})
	execute(t, c, "CREATE ROLE answerscope_service")
	toPostgres := postgres.DefaultConfig()
	toPostgres.DSN = c.PostgresDSN("postgres")
	db, err := postgres.Open(t.Context(), toPostgres)
	must(t, err)
	defer db.Close()
	toClickHouse := clickhouse.DefaultConfig()
	toClickHouse.DSN = c.ShardDSNs()
	warehouse, err := clickhouse.Open(t.Context(), toClickHouse)
	must(t, err)
	defer warehouse.Close()

	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, errors.New("it is still waited for"))
	defer cancel()
	fromPostgres, fromClickHouse := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := db.Exec(ctx, "SELECT pg_sleep(60)")
		fromPostgres <- err
	}()
	go func() {
		fromClickHouse <- warehouse.Exec(ctx, "SELECT sleepEachRow(1) FROM numbers(60) SETTINGS max_block_size = 1")
	}()
	superuser := connect(t, c)
	wait.For(t, "both queries to run", func() bool {
		var inPostgres bool
		var inClickHouse uint64
		must(t, errors.Join(
			superuser.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'").
				Scan(&inPostgres),
			warehouse.QueryRow(ctx,
				"SELECT count() FROM system.processes WHERE query LIKE '%numbers(60)%'").Scan(&inClickHouse)))
		return inPostgres && inClickHouse > 1
	})
	must(t, superuser.Close(ctx))
	must(t, c.Cut("pg-1", cluster.Gateway))
	must(t, c.Cut("ch-1a", cluster.Gateway))
	if err := <-fromPostgres; ctx.Err() != nil || !postgres.IsTransient(err) {
		t.Errorf("postgres: %v, %v", err, context.Cause(ctx))
	}
	if err := <-fromClickHouse; ctx.Err() != nil || !clickhouse.IsTransient(err) {
		t.Errorf("clickhouse: %v, %v", err, context.Cause(ctx))
	}
}
