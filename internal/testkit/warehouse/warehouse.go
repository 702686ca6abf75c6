// Package warehouse provides databases and rows for tests of sql/clickhouse.
package warehouse

import (
	"strings"
	"sync"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/replica"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// Config returns the configuration of a fresh, empty database.
func Config(t testing.TB) clickhouse.Config {
	t.Helper()
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	return c
}

// Migrated returns a fresh database with our tables and the views that fill them.
func Migrated(t testing.TB) *clickhouse.Conn {
	t.Helper()
	return store.OpenWarehouse(t, store.Warehouse(t))
}

// Complete returns a fresh database with the named views too.
func Complete(t testing.TB) *clickhouse.Conn {
	t.Helper()
	return store.OpenWarehouse(t, store.CompleteWarehouse(t))
}

// Sharded returns a fresh database with our schema on a cluster of two shards, and its configuration.
func Sharded(t testing.TB) (*clickhouse.Conn, clickhouse.Config) {
	t.Helper()
	c := clickhouse.DefaultConfig()
	c.Cluster = testkit.Cluster
	c.Shards = strings.Join(testkit.ClickHouseShards(t), ";")
	conn := store.OpenWarehouse(t, c)
	migratedShards.Lock()
	defer migratedShards.Unlock()
	if migratedShards.schemas != nil {
		for n, statements := range migratedShards.schemas {
			store.RestoreSchema(t, Shard(t, conn, n), statements)
		}
		return conn, c
	}
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	for n := range conn.Shards() {
		statements, err := store.DumpSchema(t.Context(), Shard(t, conn, n))
		if err != nil {
			t.Fatal(err)
		}
		migratedShards.schemas = append(migratedShards.schemas, statements)
	}
	return conn, c
}

// migratedShards has the schema of each shard of this binary's cluster, once one database was migrated.
var migratedShards struct {
	sync.Mutex
	schemas [][]string
}

// Replicated returns a warehouse of one shard of two replicas, with their processes and the name of the database.
func Replicated(t testing.TB) (pair *replica.Pair, database string, c clickhouse.Config) {
	t.Helper()
	pair, database, servers := testkit.Replicas(t)
	c = clickhouse.DefaultConfig()
	c.Cluster, c.Shards = testkit.Cluster, strings.Join(servers, ",")
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	return pair, database, c
}

// Shard returns one shard of a cluster.
func Shard(t testing.TB, conn *clickhouse.Conn, n int) *clickhouse.Conn {
	t.Helper()
	shard, err := conn.Shard(n)
	if err != nil {
		t.Fatal(err)
	}
	return shard
}
