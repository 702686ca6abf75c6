package schema

import (
	"net/url"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A replica that is new gets what its leader has as it is now, not the way there; later what replicated tables do not tell
// each other. (On the embedded engines no table copies anything by itself, so that columns stay as they are.)
func TestAReplicaFollowsItsLeader(t *testing.T) {
	c := clickhouse.DefaultConfig()
	servers := testkit.ClickHouseShards(t)
	c.Cluster, c.Shards = testkit.Cluster, strings.Join(servers, ";")
	l := layout{cluster: testkit.Cluster}
	quiet := func(string) {}
	leader, follower := servers[0], servers[1]
	follows := func() {
		t.Helper()
		if err := follow(t.Context(), c, l, leader, follower, quiet); err != nil {
			t.Fatal(err)
		}
		if steps, err := behind(t.Context(), c, l, leader, follower); err != nil || len(steps) > 0 {
			t.Fatalf("behind by %v, %v after it has followed", steps, err)
		}
	}
	if steps, err := behind(t.Context(), c, l, leader, follower); err != nil || len(steps) > 0 {
		t.Errorf("behind by %v, %v before there is anything", steps, err)
	}
	if err := migrateServer(t.Context(), c.At(leader), l, quiet); err != nil {
		t.Fatal(err)
	}
	follows()
	to, err := clickhouse.Open(t.Context(), c.At(follower))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	from, err := clickhouse.Open(t.Context(), c.At(leader))
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	if a, err := Dump(t.Context(), from); err != nil {
		t.Fatal(err)
	} else if b, err := Dump(t.Context(), to); err != nil || a != b {
		t.Errorf("the replica's schema is another one, %v", err)
	}
	for _, statement := range []string{
		"ALTER TABLE answers_local MODIFY SETTING min_bytes_for_wide_part = 123",
		"ALTER TABLE answers_local MODIFY COMMENT 'it''s another'",
		"DROP VIEW visit_daily_view",
		"CREATE MATERIALIZED VIEW visit_daily_view TO visit_daily_local AS SELECT organization_id FROM visits_local",
	} {
		if err := from.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range []string{
		"CREATE TABLE somebodys (n UInt8) ENGINE = MergeTree ORDER BY n",
		"CREATE TABLE prompt_daily_local (n UInt8) ENGINE = MergeTree ORDER BY n", // that a migration has dropped
	} {
		if err := to.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	files = release{"migrate/9999_drop.up.sql": "DROP TABLE IF EXISTS prompt_daily;\n"}
	defer func() { files = clickhouse.Files }()
	steps, err := behind(t.Context(), c, l, leader, follower)
	if err != nil || len(steps) != 5 {
		t.Errorf("behind by %v, %v", steps, err)
	}
	follows()
	var left uint64
	if err := to.QueryRow(t.Context(), "SELECT sum(name = 'somebodys') + 10 * sum(name = 'prompt_daily_local') FROM system.tables WHERE database = currentDatabase()").Scan(&left); err != nil || left != 1 {
		t.Errorf("left are %d, %v; want only what is somebody's", left, err)
	}
}

func TestAClusterIsWhatItsServersSay(t *testing.T) {
	c := clickhouse.DefaultConfig()
	servers := testkit.ClickHouseShards(t)
	c.Cluster = testkit.Cluster
	for shards, says := range map[string]string{
		servers[0] + ";" + servers[1]: "",
		servers[1] + ";" + servers[0]: "knows cluster",
		servers[0]:                    "knows cluster",
		servers[0] + "," + servers[1]: "want macros shard and replica",
	} {
		c.Shards = shards
		if err := checkCluster(t.Context(), c); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %q", err, says)
		}
	}
	c.Shards, c.Cluster = servers[0]+";"+servers[1], "unheard_of"
	if err := checkCluster(t.Context(), c); err == nil || !strings.Contains(err.Error(), "no such cluster") {
		t.Error(err)
	}
	for paths, want := range map[string]bool{
		"0/a/1 0/a/2 1/b/1 1/b/2": true,
		"0/a/1 0/a/1 1/b/1 1/b/2": false,
		"0/a/1 0/a/2 1/a/3 1/a/4": false,
		"0/a/1 0/b/2 1/c/1 1/c/2": false,
		"0/a/1 0/a/ 1/b/1 1/b/2":  false,
	} {
		c.Shards = "a,b;c,d"
		if err := checkMacros(c, strings.Fields(paths)); (err == nil) != want {
			t.Errorf("%s: %v", paths, err)
		}
	}
}

// A replica that is lost keeps nobody from starting; a shard that is, does, and so do shards in another order.
func TestWhoStartsDoesWithoutALostReplica(t *testing.T) {
	c := clickhouse.DefaultConfig()
	servers := testkit.ClickHouseShards(t)
	c.Cluster, c.Shards = testkit.Cluster, strings.Join(servers, ";")
	if err := Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	lost, err := url.Parse(servers[0])
	if err != nil {
		t.Fatal(err)
	}
	lost.Host = "127.0.0.1:1"
	for shards, says := range map[string]string{
		lost.String() + "," + servers[0] + ";" + servers[1]: "",
		lost.String() + ";" + servers[1]:                    "shard 0",
		servers[1] + ";" + servers[0]:                       "in the order that they had",
	} {
		c.Shards = shards
		if pending, err := Pending(t.Context(), c); len(pending) > 0 || (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("pending %v, %v; want %q", pending, err, says)
		}
	}
	c.Shards = lost.String() + "," + servers[0] + ";" + servers[1]
	if _, err := (layout{cluster: c.Cluster, replicated: true}).asFound(t.Context(), c.At(servers[0])); err == nil || !strings.Contains(err.Error(), "is not replicated") {
		t.Errorf("a replica of tables that copy nothing: %v", err)
	}
	if stands, err := (layout{cluster: c.Cluster}).asFound(t.Context(), c.At(servers[0])); err != nil || stands.replicated {
		t.Errorf("%+v, %v", stands, err)
	}
}
