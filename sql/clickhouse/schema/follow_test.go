package schema

import (
	"net/url"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A new replica gets what its leader has now, without the steps in between; later what replicated tables do not copy.
// (On the embedded engines no table copies anything by itself, so that columns stay as they are.)
func TestAReplicaFollowsItsLeader(t *testing.T) {
	c := clickhouse.DefaultConfig()
	servers := testkit.ClickHouseShards(t)
	c.Cluster, c.Shards = testkit.Cluster, strings.Join(servers, ";")
	l := layout{cluster: testkit.Cluster}
	quiet := func(string) {}
	all, err := openServers(t.Context(), c, false)
	if err != nil {
		t.Fatal(err)
	}
	defer all.close()
	leader, from, to := all[0][0], all[0][0].conn, all[1][0].conn
	follows := func() {
		t.Helper()
		if err := follow(t.Context(), l, from, to, quiet); err != nil {
			t.Fatal(err)
		}
		if steps, err := followSteps(t.Context(), l, from, to); err != nil || len(steps) > 0 {
			t.Fatalf("behind by %v, %v after it has followed", steps, err)
		}
	}
	if steps, err := followSteps(t.Context(), l, from, to); err != nil || len(steps) > 0 {
		t.Errorf("behind by %v, %v before there is anything", steps, err)
	}
	if err := migrateServer(t.Context(), leader.Config, l, quiet); err != nil {
		t.Fatal(err)
	}
	follows()
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
		"CREATE TABLE foreign (n UInt8) ENGINE = MergeTree ORDER BY n",
		"CREATE TABLE prompt_daily_local (n UInt8) ENGINE = MergeTree ORDER BY n", // dropped by a migration
	} {
		if err := to.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	files = release{"migrate/9999_drop.up.sql": "DROP TABLE IF EXISTS prompt_daily;\n"}
	defer func() { files = clickhouse.Files }()
	steps, err := followSteps(t.Context(), l, from, to)
	if err != nil || len(steps) != 5 {
		t.Errorf("behind by %v, %v", steps, err)
	}
	follows()
	var left uint64
	if err := to.QueryRow(t.Context(), "SELECT sum(name = 'foreign') + 10 * sum(name = 'prompt_daily_local') FROM "+
		"system.tables WHERE database = currentDatabase()").Scan(&left); err != nil || left != 1 {
		t.Errorf("left are %d, %v; want only the table that is not of this schema", left, err)
	}
}

func TestTheAddressesAreTheServersOfTheCluster(t *testing.T) {
	c := clickhouse.DefaultConfig()
	servers := testkit.ClickHouseShards(t)
	check := func(shards, cluster string) error {
		c.Shards, c.Cluster = shards, cluster
		all, err := openServers(t.Context(), c, false)
		if err != nil {
			t.Fatal(err)
		}
		defer all.close()
		_, err = all.unlisted(t.Context(), layoutOf(c))
		return err
	}
	for _, c := range []struct{ shards, cluster, want string }{
		{servers[0] + ";" + servers[1], testkit.Cluster, ""},
		{servers[1] + ";" + servers[0], testkit.Cluster, "knows cluster"},
		{servers[0], testkit.Cluster, "knows cluster"},
		{servers[0] + "," + servers[1], testkit.Cluster, "want macros shard and replica"},
		{servers[0] + ";" + servers[1], "unheard_of", "no such cluster"},
	} {
		if err := check(c.shards, c.cluster); (err == nil) != (c.want == "") || err != nil &&
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
	for _, c := range []struct {
		macros [][]macros
		ok     bool
	}{
		{[][]macros{{{"a", "1"}, {"a", "2"}}, {{"b", "1"}, {"b", "2"}}}, true},
		{[][]macros{{{"a", "1"}, {"a", "1"}}, {{"b", "1"}, {"b", "2"}}}, false},
		{[][]macros{{{"a", "1"}, {"a", "2"}}, {{"a", "3"}, {"a", "4"}}}, false},
		{[][]macros{{{"a", "1"}, {"b", "2"}}, {{"c", "1"}, {"c", "2"}}}, false},
		{[][]macros{{{"a", "1"}, {"a", ""}}, {{"b", "1"}, {"b", "2"}}}, false},
	} {
		if err := checkMacros(c.macros); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.macros, err)
		}
	}
}

// A process starts without a lost replica, but not without a shard, and not with the shards in another order.
func TestALostReplicaIsLeftOut(t *testing.T) {
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
		if pending, err := Pending(t.Context(), c); len(pending) > 0 || (err == nil) != (says == "") || err != nil &&
			!strings.Contains(err.Error(), says) {
			t.Errorf("pending %v, %v; want %q", pending, err, says)
		}
	}
	c.Shards = lost.String() + "," + servers[0] + ";" + servers[1]
	conn, err := clickhouse.Open(t.Context(), c.ForServer(servers[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := (layout{cluster: c.Cluster, replicated: true}).ofTables(t.Context(), conn); err == nil ||
		!strings.Contains(err.Error(), "is not replicated") {
		t.Errorf("a replica of tables that copy nothing: %v", err)
	}
	if stands, err := (layout{cluster: c.Cluster}).ofTables(t.Context(), conn); err != nil || stands.replicated {
		t.Errorf("%+v, %v", stands, err)
	}
}
