package rollup

import (
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A statement whose connection was lost may run on at its server. The other replica does not know of it, so that the
// end is not seen before the first answers again.
func TestALostStatementIsAskedForWhereItRan(t *testing.T) {
	t.Parallel()
	servers := testkit.ClickHouseShards(t)
	var conns []*clickhouse.Conn
	for _, server := range servers {
		c := clickhouse.DefaultConfig()
		c.DSN = server
		conn, err := clickhouse.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const list = "CREATE TABLE schema_migrations (version Int64) ENGINE = Memory COMMENT 'of shard 1'"
		if err := conn.Exec(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	first := testkit.NewProxy(t, servers[0])
	c := clickhouse.DefaultConfig()
	c.Cluster, c.Shards = testkit.Cluster, first.DSN+","+servers[1]
	shard := openAtFirst(t, c, conns[0])
	ended := make(chan error, 1)
	go func() { ended <- runToEnd(t.Context(), shard, "SELECT sleepEachRow(0.1) FROM numbers(50) FORMAT Null") }()
	wait.For(t, "the statement to run", func() bool {
		var running uint64
		const others = "SELECT count() FROM system.processes WHERE startsWith(query, 'SELECT sleepEachRow')"
		return conns[0].QueryRow(t.Context(), others).Scan(&running) == nil && running > 0
	})
	first.Refuse()
	select {
	case err := <-ended:
		t.Fatalf("ended, for all that the other replica knows: %v", err)
	case <-time.After(500 * time.Millisecond): // five times the time between two questions
	}
	first.Accept()
	if err := <-ended; err == nil {
		t.Error("the lost connection is no error")
	}
}

// openAtFirst opens a shard until it uses its first server: on a busy machine that may be too slow to be chosen.
func openAtFirst(t *testing.T, c clickhouse.Config, first *clickhouse.Conn) (shard *clickhouse.Conn) {
	t.Helper()
	port := func(conn *clickhouse.Conn) (port uint16) {
		if err := conn.QueryRow(t.Context(), "SELECT tcpPort()").Scan(&port); err != nil {
			t.Log(err)
		}
		return port
	}
	wait.For(t, "the first server to be chosen", func() bool {
		all, err := clickhouse.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = all.Close() })
		if shard, err = all.Shard(0); err != nil {
			t.Fatal(err)
		}
		chosen := port(shard)
		return chosen != 0 && chosen == port(first)
	})
	return shard
}
