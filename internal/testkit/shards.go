package testkit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/answerscope/answerscope/deploy/engine"
)

// Cluster is the name of the cluster of ClickHouseShards.
const Cluster = "answerscope"

// shards are two ClickHouse servers of this test binary that form a cluster. Few
// packages need them, so Serve does not share them.
var shards = sync.OnceValues(func() (servers []addresses, err error) {
	dir, err := own.makeDir()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	ports, err := freePorts(ctx, 2)
	if err != nil {
		return nil, err
	}
	servers, errs := make([]addresses, len(ports)), make([]error, len(ports))
	var wg sync.WaitGroup
	for i, port := range ports {
		wg.Go(func() {
			servers[i], errs[i] = own.startShard(ctx, filepath.Join(dir, fmt.Sprintf("shard-%d", i+1)), port, ports)
		})
	}
	wg.Wait()
	return servers, errors.Join(errs...)
})

func (e *engines) startShard(ctx context.Context, dir string, port int, ports []int) (addresses, error) {
	if err := os.MkdirAll(filepath.Join(dir, "config.d"), 0o700); err != nil {
		return addresses{}, err
	}
	// An engine keeps the password that it finds; a cluster needs the same on all servers.
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte("of the tests\n"), 0o600); err != nil {
		return addresses{}, err
	}
	var text strings.Builder
	text.WriteString("<clickhouse><remote_servers><" + Cluster + "><secret>of the tests</secret>")
	for _, port := range ports {
		fmt.Fprintf(&text, "<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>%d</port></replica></shard>", port)
	}
	text.WriteString("</" + Cluster + "></remote_servers></clickhouse>")
	if err := os.WriteFile(filepath.Join(dir, "config.d", "cluster.xml"), []byte(text.String()), 0o600); err != nil {
		return addresses{}, err
	}
	c, err := engine.StartClickHouse(ctx, engine.ClickHouseConfig{Dir: dir, Port: port, NoSync: true, Log: quiet})
	if err != nil {
		return addresses{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stops = append(e.stops, c.Stop)
	return addresses{ClickHouse: c.DSN(), ClickHouseHTTP: c.HTTPAddr()}, nil
}

// freePorts are ports without a listener.
func freePorts(ctx context.Context, n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // held until all are chosen
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, err
		}
		number, err := strconv.Atoi(port)
		if err != nil {
			return nil, err
		}
		ports = append(ports, number)
	}
	return ports, nil
}

// ClickHouseShards returns the native addresses of a fresh database (Atomic) on
// each server of a cluster of two shards, which they know as Cluster. They are
// dropped when the test passed.
func ClickHouseShards(t testing.TB) (dsns []string) {
	t.Helper()
	servers, err := shards()
	if err != nil {
		t.Fatal(err)
	}
	name := freshName(t)
	for i, a := range servers {
		if err := a.execClickHouse(t.Context(), "CREATE DATABASE "+name+" ENGINE = Atomic"); err != nil {
			t.Fatalf("create clickhouse database %s on shard %d: %v", name, i, err)
		}
		dsn := withPath(a.ClickHouse, name)
		cleanUp(t, "clickhouse", name, dsn, func(ctx context.Context) error {
			return a.execClickHouse(ctx, "DROP DATABASE "+name+" SYNC")
		})
		dsns = append(dsns, dsn)
	}
	return dsns
}
