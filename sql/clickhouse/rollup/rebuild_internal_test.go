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
	}
	first := testkit.NewProxy(t, servers[0])
	c := clickhouse.DefaultConfig()
	c.Cluster, c.Shards = testkit.Cluster, first.DSN+","+servers[1]
	all, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	shard, err := all.Shard(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := shard.Exec(t.Context(), "SELECT 1"); err != nil { // chooses the first
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- runToEnd(t.Context(), shard, "SELECT sleepEachRow(0.1) FROM numbers(50) FORMAT Null") }()
	wait.For(t, "the statement to run", func() bool {
		var running uint64
		const others = "SELECT count() FROM system.processes WHERE startsWith(query_id, 'answerscope-')"
		return shard.QueryRow(t.Context(), others).Scan(&running) == nil && running > 0
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
