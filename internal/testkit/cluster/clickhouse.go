//go:build linux

package cluster

import (
	"fmt"
	"strings"

	"github.com/answerscope/answerscope/internal/testkit/replica"
)

// secret is the password of every login and of the cluster.
const secret = replica.Secret

// ports of ClickHouse and ZooKeeper; the last two are those of an ensemble's members.
const (
	nativePort, partsPort                  = 9000, 9009
	keeperPort, followerPort, electionPort = 2181, 2888, 3888
)

// addKeepers adds the ensemble of ZooKeeper in which replicas meet.
func (c *Cluster) addKeepers(members int) {
	var peers []string
	for n := range members {
		peers = append(peers, fmt.Sprintf("%s3%d:%d:%d", network, n+1, followerPort, electionPort))
	}
	for n := range members {
		node := c.add("zookeeper", fmt.Sprintf("zk-%d", n+1), fmt.Sprintf("3%d", n+1), keeperPort)
		node.keeper = &replica.ZooKeeperConfig{
			Dir: node.Dir, Host: node.Address, Port: node.Port, ID: n + 1, Peers: peers,
		}
	}
}

// addShards adds the servers of ClickHouse: ch-1a is the first replica of the first shard.
func (c *Cluster) addShards(shards, replicas int) {
	list := make([][]string, shards)
	for shard := range shards {
		for n := range replicas {
			letter := string(rune('a' + n))
			node := c.add("clickhouse", fmt.Sprintf("ch-%d%s", shard+1, letter), fmt.Sprintf("%d%d", shard+1, n+1), nativePort)
			node.server = &replica.Config{
				Dir: node.Dir, Host: node.Address, Native: nativePort, Parts: partsPort,
				Shard: fmt.Sprint(shard + 1), Replica: letter, Keepers: c.Addresses("zookeeper"), Cluster: list,
			}
			list[shard] = append(list[shard], node.HostPort())
		}
	}
}

// ShardDSNs returns the addresses of servers for ANSWERSCOPE_CLICKHOUSE_SHARDS.
func (c *Cluster) ShardDSNs() string {
	var shards []string
	for _, n := range c.Nodes("clickhouse") {
		address := dsn("clickhouse", "answerscope", n.HostPort(), "")
		if n.server.Replica == "a" {
			shards = append(shards, address)
		} else {
			shards[len(shards)-1] += "," + address
		}
	}
	return strings.Join(shards, ";")
}
