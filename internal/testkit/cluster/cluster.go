//go:build linux

// Package cluster starts a cluster on this machine, each node on a host of its own, and breaks it: it kills nodes,
// loses their disks, cuts the network between hosts and promotes PostgreSQL's standby. Hosts are network namespaces on
// a bridge. Processes, namespaces and addresses end with the process that made them.
//
// A package whose tests use it has
//
//	func TestMain(m *testing.M) { cluster.Main(m) }
package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/replica"
)

// Options are the numbers of engines.
type Options struct {
	Brokers  int // of Kafka; three have min.insync.replicas 2
	Postgres int // 1, or 2: a primary and its synchronous standby

	Shards   int // of ClickHouse
	Replicas int // of each shard
	Keepers  int // of ZooKeeper: more than one replica needs one, and three survive the loss of one
}

// A Cluster has running nodes.
type Cluster struct {
	dir     string
	nodes   []*Node
	primary *Node // of PostgreSQL
	standby *Node
	bridge  *bridge

	balanced map[string]string // host:port before the nodes of each service
	services int               // nodes of services
}

// Start starts the engines of a cluster with its files in dir. Call it in a process with a network of its own: see
// Isolated and Isolate. Close ends every node.
func Start(ctx context.Context, dir string, o Options) (*Cluster, error) {
	c := &Cluster{dir: dir, balanced: map[string]string{}}
	err := os.Chmod(dir, 0o755) // PostgreSQL runs as another user, who must pass
	if err == nil {
		c.bridge, err = newBridge()
	}
	if err == nil {
		err = c.start(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start cluster: %w", err), c.Close())
	}
	return c, nil
}

// start starts engines at once, since brokers wait for each other.
func (c *Cluster) start(ctx context.Context, o Options) error {
	c.addBrokers(o.Brokers)
	c.addKeepers(o.Keepers)
	c.addShards(o.Shards, o.Replicas)
	if err := c.addPostgres(o.Postgres); err != nil {
		return err
	}
	for _, n := range c.nodes {
		if err := c.bridge.addHost(n); err != nil {
			return err
		}
	}
	starting, startCtx := errgroup.WithContext(ctx)
	for _, n := range c.nodes {
		if n != c.standby {
			starting.Go(func() error { return n.Start(startCtx) })
		}
	}
	err := starting.Wait()
	if err == nil && c.standby != nil {
		err = c.Remake(ctx)
	}
	return err
}

// Close ends every node at once. Nothing of them is kept.
func (c *Cluster) Close() error {
	var errs []error
	for _, n := range slices.Backward(c.nodes) {
		errs = append(errs, n.Kill())
	}
	return errors.Join(errs...)
}

// Nodes returns the nodes of a kind: kafka, postgres, clickhouse, zookeeper, or the name of a service; all for "".
func (c *Cluster) Nodes(kind string) (nodes []*Node) {
	for _, n := range c.nodes {
		if kind == "" || n.Kind == kind {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// Addresses returns host:port of the nodes of a kind.
func (c *Cluster) Addresses(kind string) (addresses []string) {
	for _, n := range c.Nodes(kind) {
		addresses = append(addresses, n.HostPort())
	}
	return addresses
}

// Env returns the settings with which processes of the product reach the cluster as a login of PostgreSQL: answerscope,
// or postgres for migrate.
func (c *Cluster) Env(login string) (env []string) {
	if brokers := c.Addresses("kafka"); len(brokers) > 0 {
		env = append(env, "ANSWERSCOPE_KAFKA_BROKERS="+strings.Join(brokers, ","),
			fmt.Sprintf("ANSWERSCOPE_KAFKA_REPLICAS=%d", len(brokers)))
	}
	switch servers := len(c.Nodes("clickhouse")); {
	case servers > 1:
		env = append(env, "ANSWERSCOPE_CLICKHOUSE_SHARDS="+c.ShardDSNs(),
			"ANSWERSCOPE_CLICKHOUSE_CLUSTER="+replica.Cluster)
	case servers == 1: // its tables are those of no cluster
		env = append(env, "ANSWERSCOPE_CLICKHOUSE_DSN="+c.ShardDSNs())
	}
	if len(c.Nodes("postgres")) > 0 {
		env = append(env, "ANSWERSCOPE_POSTGRES_DSN="+c.PostgresDSN(login),
			"ANSWERSCOPE_POSTGRES_GATEWAY_DSN="+c.PostgresDSN("authenticator"))
	}
	return env
}

// Main runs a node if that is what this process is for, and else the tests of a binary. It does not return.
func Main(m *testing.M) {
	RunNode()
	testkit.Main(m)
}

// RunNode runs the hidden subcommand of this process, if it has one, and then does not return.
func RunNode() {
	engine.Main()
	replica.Main()
	if len(os.Args) != 3 || os.Args[1] != nodeCommand {
		return
	}
	if err := runNode(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// add adds a node whose address ends in a number.
func (c *Cluster) add(kind, name, number string, port int) *Node {
	n := &Node{Name: name, Kind: kind, Address: network + number, Port: port, Dir: filepath.Join(c.dir, name)}
	c.nodes = append(c.nodes, n)
	return n
}
