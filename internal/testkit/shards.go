package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit/replica"
)

// Cluster is the name of the cluster of ClickHouseShards.
const Cluster = replica.Cluster

// ClickHouseShards returns the native addresses of a fresh database (Atomic) on each server of a cluster of two shards,
// which they know as Cluster. They are dropped when the test passed.
func ClickHouseShards(t testing.TB) (dsns []string) {
	t.Helper()
	servers, err := shards()
	if err != nil {
		t.Fatal(err)
	}
	name := freshName(t)
	for _, server := range servers {
		dsns = append(dsns, createClickHouse(t, server, name))
	}
	return dsns
}

// shards are the addresses of two ClickHouse servers of this test binary that form a cluster. Few packages need them,
// so Serve does not share them.
var shards = sync.OnceValues(func() (servers []string, err error) {
	dir, err := own.makeDir()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	ports, err := replica.FreePorts(ctx, 2)
	if err != nil {
		return nil, err
	}
	servers = make([]string, len(ports))
	var starting errgroup.Group
	for i, port := range ports {
		starting.Go(func() (err error) {
			servers[i], err = own.startShard(ctx, filepath.Join(dir, fmt.Sprintf("shard-%d", i+1)), port, ports)
			return err
		})
	}
	return servers, starting.Wait()
})

func (e *engines) startShard(ctx context.Context, dir string, port int, ports []int) (dsn string, err error) {
	if err := listShards(dir, ports); err != nil {
		return "", err
	}
	a, err := e.startClickHouse(ctx, engine.ClickHouseConfig{Dir: dir, Port: port, NoSync: true, Log: quiet})
	return a["clickhouse"], err
}

// listShards configures a server for a cluster of one server a shard.
func listShards(dir string, ports []int) error {
	var shards [][]string
	for _, port := range ports {
		shards = append(shards, []string{fmt.Sprintf("127.0.0.1:%d", port)})
	}
	text := "<clickhouse><remote_servers>" + replica.RemoteServers(shards) + "</remote_servers></clickhouse>"
	return errors.Join(
		os.MkdirAll(filepath.Join(dir, "config.d"), 0o700),
		// An engine keeps the password that it finds; a cluster needs the same on all servers.
		os.WriteFile(filepath.Join(dir, "password"), []byte(replica.Secret), 0o600),
		os.WriteFile(filepath.Join(dir, "config.d", "cluster.xml"), []byte(text), 0o600))
}

// GrowingShards are servers of one test, a shard each, which may list fewer shards than there are.
type GrowingShards struct {
	dir     string
	ports   []int
	servers []*engine.ClickHouse
}

// NewGrowingShards returns servers that are not running.
func NewGrowingShards(t testing.TB, n int) *GrowingShards {
	t.Helper()
	ports, err := replica.FreePorts(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return &GrowingShards{t.TempDir(), ports, make([]*engine.ClickHouse, n)}
}

// Start starts a server that lists the first shards of the cluster, or starts it again, and returns its address.
func (g *GrowingShards) Start(t testing.TB, server, listed int) (dsn string) {
	t.Helper()
	dir := filepath.Join(g.dir, fmt.Sprintf("shard-%d", server+1))
	err := listShards(dir, g.ports[:listed])
	if running := g.servers[server]; running != nil {
		running.Kill() // in order it would wait for its clients
	}
	if err != nil {
		t.Fatal(err)
	}
	started, err := engine.StartClickHouse(t.Context(),
		engine.ClickHouseConfig{Dir: dir, Port: g.ports[server], NoSync: true, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(started.Kill)
	g.servers[server] = started
	return started.DSN()
}
