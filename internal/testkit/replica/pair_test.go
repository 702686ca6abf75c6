package replica_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// tables are a landing table and a rollup that a view fills.
var tables = []string{
	`CREATE TABLE t (d Date, n UInt64)
	ENGINE = ReplicatedMergeTree('/clickhouse/{database}/{shard}/t', '{replica}') PARTITION BY toYYYYMM(d) ORDER BY n`,
	`CREATE TABLE s (d Date, n UInt64)
	ENGINE = ReplicatedSummingMergeTree('/clickhouse/{database}/{shard}/s', '{replica}')
		PARTITION BY toYYYYMM(d) ORDER BY d`,
	`CREATE MATERIALIZED VIEW v TO s AS SELECT d, sum(n) AS n FROM t GROUP BY d`,
}

// Inserts at both replicas in turn, each repeated at the other one until it is acknowledged, are at both once, however
// often a replica is killed; a replica that lost its disk gets all again. There is one kill in fifty inserts, as
// many as ANSWERSCOPE_TEST_KILLS says.
func TestAPairCopiesEachInsertOnce(t *testing.T) {
	pair, database, dsns := testkit.Replicas(t)
	kills := 1
	if text := os.Getenv("ANSWERSCOPE_TEST_KILLS"); text != "" {
		kills, _ = strconv.Atoi(text)
	}
	var conns []driver.Conn
	for _, dsn := range dsns {
		conn := open(t, dsn)
		conns = append(conns, conn)
		create(t, conn)
	}
	inserts := 50 * kills
	again := make(chan error, 1)
	again <- nil
	for i := range inserts {
		if i%50 == 25 {
			if err := <-again; err != nil { // never both at once
				t.Fatal(err)
			}
			server := pair.Servers[rand.IntN(2)]
			go func() {
				server.Kill()
				again <- server.Again(context.WithoutCancel(t.Context()))
			}()
		}
		try := i
		wait.For(t, "an insert", func() bool {
			try++
			err := conns[try%2].Exec(t.Context(), fmt.Sprintf("INSERT INTO t SETTINGS async_insert = 0, "+
				"insert_deduplication_token = 'insert %d', deduplicate_blocks_in_dependent_materialized_views = 1 "+
				"SELECT '2026-11-01', %[1]d FROM numbers(10)", i))
			return err == nil
		})
	}
	if err := <-again; err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(10*inserts, 10*inserts*(inserts-1)/2, 10*inserts*(inserts-1)/2)
	for i, conn := range conns {
		wantRows(t, conn, want, "after kills, at", pair.Servers[i].Config.Replica)
	}
	if err := pair.LoseDisk(t.Context(), 1, database); err != nil {
		t.Fatal(err)
	}
	create(t, conns[1])
	wantRows(t, conns[1], want, "after its disk was lost, at b")
	t.Logf("%d inserts, %d kills", inserts, kills)
}

func open(t *testing.T, dsn string) driver.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func create(t *testing.T, conn driver.Conn) {
	t.Helper()
	for _, statement := range tables {
		wait.For(t, "the table", func() bool {
			err := conn.Exec(t.Context(), statement)
			if err != nil {
				t.Log(err)
			}
			return err == nil
		})
	}
}

// wantRows waits until a replica has fetched all, and compares its rows.
func wantRows(t *testing.T, conn driver.Conn, want string, when ...any) {
	t.Helper()
	wait.For(t, "the replica to catch up", func() bool {
		var err error
		for _, table := range []string{"t", "s"} {
			err = errors.Join(err, conn.Exec(t.Context(), "SYSTEM SYNC REPLICA "+table+" LIGHTWEIGHT"))
		}
		if err != nil {
			t.Log(err)
		}
		return err == nil
	})
	var got string
	question := "SELECT concat(toString(count()), ' ', toString(sum(n)), ' ', toString((SELECT sum(n) FROM s))) FROM t"
	if err := conn.QueryRow(t.Context(), question).Scan(&got); err != nil || got != want {
		t.Errorf("rows, their sum and the rollup %s, want %s; %v %v", got, want, fmt.Sprint(when...), err)
	}
}
