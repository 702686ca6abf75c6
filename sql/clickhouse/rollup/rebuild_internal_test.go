package rollup

import (
	"errors"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

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
	// Blocks of a row keep it below the engine's limit of 3 s of sleep in a block, and the engine's own endless
	// statement, which sleeps too, has another text.
	const statement = "SELECT sleepEachRow(0.1) FROM numbers(600) FORMAT Null SETTINGS max_block_size = 1"
	running := func() (n uint64) {
		const processes = "SELECT count() FROM system.processes WHERE query = {statement:String}"
		if err := conns[0].QueryRow(t.Context(), processes, driver.Named("statement", statement)).Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	if n := running(); n != 0 {
		t.Fatalf("%d run before it is sent", n)
	}
	ended := make(chan error, 1)
	go func() { ended <- runToEnd(t.Context(), shard, statement) }()
	wait.For(t, "the statement to run", func() bool { return running() == 1 || len(ended) > 0 })
	first.Refuse()
	wait.For(t, "five questions to the first replica", func() bool { return first.Refused() >= 5 || len(ended) > 0 })
	select {
	case err := <-ended:
		t.Fatalf("ended, for all that the other replica knows: %v", err)
	default:
	}
	first.Accept()
	err := <-ended
	if _, answered := errors.AsType[*driver.Exception](err); err == nil || answered {
		t.Errorf("the lost connection is no error: %v", err)
	}
	if n := running(); n != 0 {
		t.Errorf("%d run after the end", n)
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
