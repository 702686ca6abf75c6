package replica

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Pair is one shard of two replicas, and the ZooKeeper in which they meet, on this machine.
type Pair struct {
	Servers   [2]*Server
	ZooKeeper *ZooKeeper
}

// StartPair starts a pair in a directory.
func StartPair(ctx context.Context, dir string) (*Pair, error) {
	ports, err := FreePorts(ctx, 5)
	if err != nil {
		return nil, err
	}
	const host = "127.0.0.1"
	var servers []string
	for _, port := range ports[:2] {
		servers = append(servers, fmt.Sprintf("%s:%d", host, port))
	}
	p := &Pair{}
	zookeeper := ZooKeeperConfig{Dir: filepath.Join(dir, "zookeeper"), Host: host, Port: ports[4]}
	if p.ZooKeeper, err = StartZooKeeper(ctx, zookeeper); err != nil {
		return nil, err
	}
	var starting errgroup.Group
	for i, name := range []string{"a", "b"} {
		starting.Go(func() (err error) {
			p.Servers[i], err = Start(ctx, Config{
				Dir: filepath.Join(dir, name), Host: host, Native: ports[i], Parts: ports[2+i],
				Shard: "1", Replica: name, Keepers: []string{p.ZooKeeper.Address}, Cluster: [][]string{servers},
			})
			return err
		})
	}
	if err := starting.Wait(); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// Kill ends all processes at once.
func (p *Pair) Kill() {
	for _, server := range p.Servers {
		if server != nil {
			server.Kill()
		}
	}
	p.ZooKeeper.Kill()
}

// Create creates a database on both servers, and returns its addresses.
func (p *Pair) Create(ctx context.Context, database string) (dsns []string, err error) {
	for _, server := range p.Servers {
		err = errors.Join(err, server.Exec(ctx, "CREATE DATABASE "+database+" ENGINE = Atomic"))
		dsns = append(dsns, server.DSN(database))
	}
	return dsns, err
}

// LoseDisk kills a server, removes its disk, starts it empty and lets ZooKeeper forget what it had. A replica that is
// dead counts as active until its session has ended, some seconds later.
func (p *Pair) LoseDisk(ctx context.Context, lost int, database string) error {
	server, other := p.Servers[lost], p.Servers[1-lost]
	server.Kill()
	if err := os.RemoveAll(server.Config.data()); err != nil {
		return err
	}
	for {
		err := other.Exec(ctx, "SYSTEM DROP REPLICA '"+server.Config.Replica+"' FROM DATABASE "+database)
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "code: 305") || ctx.Err() != nil { // it is active
			return err
		}
		<-time.After(100 * time.Millisecond)
	}
	if err := server.Again(ctx); err != nil {
		return err
	}
	return server.Exec(ctx, "CREATE DATABASE "+database+" ENGINE = Atomic")
}

// FreePorts are ports without a listener.
func FreePorts(ctx context.Context, n int) (ports []int, err error) {
	for range n {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // held until all are chosen
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
