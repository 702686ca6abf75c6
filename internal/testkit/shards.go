package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit/replica"
)

// Cluster is the name of the cluster of ClickHouseShards.
const Cluster = "answerscope"

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
	servers, errs := make([]string, len(ports)), make([]error, len(ports))
	var wg sync.WaitGroup
	for i, port := range ports {
		wg.Go(func() {
			servers[i], errs[i] = own.startShard(ctx, filepath.Join(dir, fmt.Sprintf("shard-%d", i+1)), port, ports)
		})
	}
	wg.Wait()
	return servers, errors.Join(errs...)
})

func (e *engines) startShard(ctx context.Context, dir string, port int, ports []int) (dsn string, err error) {
	var text strings.Builder
	text.WriteString("<clickhouse><remote_servers><" + Cluster + "><secret>of the tests</secret>")
	for _, port := range ports {
		fmt.Fprintf(&text, "<shard><internal_replication>true</internal_replication>"+
			"<replica><host>127.0.0.1</host><port>%d</port></replica></shard>", port)
	}
	text.WriteString("</" + Cluster + "></remote_servers></clickhouse>")
	err = errors.Join(
		os.MkdirAll(filepath.Join(dir, "config.d"), 0o700),
		// An engine keeps the password that it finds; a cluster needs the same on all servers.
		os.WriteFile(filepath.Join(dir, "password"), []byte("of the tests\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "config.d", "cluster.xml"), []byte(text.String()), 0o600))
	if err != nil {
		return "", err
	}
	a, err := e.startClickHouse(ctx, engine.ClickHouseConfig{Dir: dir, Port: port, NoSync: true, Log: quiet})
	return a["clickhouse"], err
}
