package schema_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// A replica whose disk is lost is added anew under its name: refused while the other server lists it, stopped before it
// has rows, filled, and part of the cluster once that server lists it again.
func TestAReplicaIsAddedAfterItsDiskWasLost(t *testing.T) {
	t.Parallel()
	pair, database, dsns := testkit.Replicas(t)
	c := clickhouse.DefaultConfig()
	c.Cluster, c.Shards = testkit.Cluster, strings.Join(dsns, ",")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(schema.Migrate(t.Context(), c, func(string) {}))
	conn := store.OpenWarehouse(t, c)
	must(clickhouse.Answers.Insert(t.Context(), warehouse.Shard(t, conn, 0), "a", []clickhouse.AnswerRow{warehouse.Answer(0, warehouse.Day)}))
	kept, lost := pair.Servers[0], pair.Servers[1]
	lost.Kill()
	must(os.RemoveAll(filepath.Join(lost.Config.Dir, "data")))
	must(lost.Again(t.Context()))
	must(lost.Exec(t.Context(), "CREATE DATABASE "+database+" ENGINE = Atomic"))

	host := clickhouse.HostOf(dsns[1])
	if n, err := schema.ShardOfReplica(t.Context(), c, host); err != nil || n != 0 {
		t.Errorf("the replica is of shard %d, %v", n, err)
	}
	add := func(ctx context.Context, progress func(string)) error {
		return schema.AddReplica(ctx, c, host, progress)
	}
	refused := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("add replica: %v, want %s", err, want)
		}
	}
	refused(add(t.Context(), func(string) {}), "list it in remote_servers and would ask it")
	both := kept.Config.Cluster[0]
	list := func(servers []string) {
		t.Helper()
		kept.Kill()
		kept.Config.Cluster = [][]string{servers}
		must(kept.Again(t.Context()))
	}
	list(both[:1])
	defer list(both)
	stopping, stop := context.WithCancel(t.Context())
	defer stop()
	wait.For(t, "ZooKeeper to forget the session of the killed server", func() bool {
		err := add(stopping, func(step string) {
			if strings.HasSuffix(step, "rows") {
				stop()
			}
		})
		return err == nil || !strings.Contains(err.Error(), "an earlier replica")
	})
	if stopping.Err() == nil {
		t.Error("no step was begun")
	}
	steps := 0
	refused(add(t.Context(), func(string) { steps++ }), "the replica is whole: list it in cluster answerscope")
	if steps == 0 {
		t.Error("a replica that was stopped before it had rows is taken for whole")
	}
	var n uint64
	must(store.OpenWarehouse(t, c.ForServer(dsns[1])).QueryRow(t.Context(), "SELECT count() FROM answers_local").Scan(&n))
	if n != 1 {
		t.Errorf("the replica has %d answers, want 1", n)
	}
	list(both)
	if steps, err := schema.PendingReplica(t.Context(), c, host); err != nil || len(steps) > 0 {
		t.Errorf("in the end remain %v, %v", steps, err)
	}
	must(add(t.Context(), func(string) {}))
}
