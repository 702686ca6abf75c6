package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/answerscope/answerscope/internal/testkit"
)

// secret is the password of every server and of the cluster.
const secret = "of the tests"

// addShard adds the nth of several shards of one ClickHouse server.
func (c *Cluster) addShard(n, shards int) error {
	var text strings.Builder
	text.WriteString("<clickhouse><remote_servers><" + testkit.Cluster + "><secret>" + secret + "</secret>")
	for shard := range shards {
		fmt.Fprintf(&text, "<shard><internal_replication>true</internal_replication>"+
			"<replica><host>%s%d1</host><port>9000</port></replica></shard>", network, shard+1)
	}
	text.WriteString("</" + testkit.Cluster + "></remote_servers></clickhouse>")
	name := fmt.Sprintf("ch-%da", n)
	node := &Node{Name: name, Kind: "clickhouse", Address: fmt.Sprintf("%s%d1", network, n), Port: 9000, Dir: c.dirOf(name)}
	c.nodes = append(c.nodes, node)
	return errors.Join(
		os.MkdirAll(filepath.Join(node.Dir, "config.d"), 0o755),
		os.WriteFile(filepath.Join(node.Dir, "password"), []byte(secret+"\n"), 0o600),
		os.WriteFile(filepath.Join(node.Dir, "config.d", "cluster.xml"), []byte(text.String()), 0o600))
}

// ShardDSNs returns the addresses of shards for ANSWERSCOPE_CLICKHOUSE_SHARDS.
func (c *Cluster) ShardDSNs() string {
	var shards []string
	for _, n := range c.Nodes("clickhouse") {
		shards = append(shards, dsn("clickhouse", "answerscope", n.HostPort(), ""))
	}
	return strings.Join(shards, ";")
}
