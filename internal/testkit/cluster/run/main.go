//go:build linux

// Command run starts the product on a cluster of this machine, and breaks what is named: the target cluster of
// make. The network is the command's own, and everything ends with it.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/answerscope/answerscope/internal/testkit/cluster"
)

func main() {
	cluster.RunNode()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: run ANSWERSCOPE: the path of the program")
		os.Exit(2)
	}
	cluster.Isolate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary string) (err error) {
	binary, err = filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "answerscope-cluster-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fmt.Fprintln(os.Stderr, "starting; it takes about a minute …")
	c, err := cluster.Start(ctx, dir, cluster.Options{Brokers: 3, Postgres: 2, Shards: 2, Replicas: 2, Keepers: 3})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	key := make([]byte, 32)
	rand.Read(key)
	env := []string{"ANSWERSCOPE_SECRET_KEYS=k1:" + base64.StdEncoding.EncodeToString(key)}
	migrate := func() error { return c.Migrate(ctx, binary, env...) }
	if err := migrate(); err != nil {
		return err
	}
	var services []cluster.Service
	for _, name := range []string{"collector", "pipeline", "ingest", "queryapi"} {
		services = append(services, cluster.Service{Name: name, Count: 2, Program: []string{binary, name}, Env: env})
	}
	if err := c.StartServices(ctx, services); err != nil {
		return err
	}
	printNodes(os.Stdout, c)
	return obey(ctx, c, migrate)
}

// printNodes prints what runs, and what one may do to it.
func printNodes(out io.Writer, c *cluster.Cluster) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NODE\tADDRESS\tPID\tFILES\tLOSE AND REMAKE IT")
	for _, n := range c.Nodes("") {
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", n.Name, n.HostPort(), n.PID(), n.Dir, losses(c, n))
	}
	_ = table.Flush()
	fmt.Fprintf(out, `
Balanced: collector http://%s, queryapi http://%s. From another terminal:
  nsenter --target %d --net curl http://%[2]s/api/v1/openapi.json
Any node may be killed, there too (kill -9 PID), while the others of its kind run. Commands here:
  nodes               this table
  kill NODE           kill -9
  off NODE            take the power of its host
  start NODE          with the files that it has
  lose-disk NODE      kill -9 of a broker or a ClickHouse, without its files
  migrate             fill a ClickHouse whose disk was lost, after its start
  cut NODE NODE       lose every packet between two hosts, until heal NODE NODE
  promote             kill the primary of PostgreSQL and promote its standby
  remake              make the other PostgreSQL its standby again
Ctrl-C ends all.
`, c.Balanced("collector"), c.Balanced("queryapi"), os.Getpid())
}

// losses are the commands by which a node is lost in each way, and made anew.
func losses(c *cluster.Cluster, n *cluster.Node) string {
	again := "; start " + n.Name
	ways := []string{"kill " + n.Name + again, "off " + n.Name + again}
	switch {
	case n == c.Primary():
		ways = []string{"promote; remake"}
	case n.Kind == "kafka":
		ways = append(ways, "lose-disk "+n.Name+again)
	case n.Kind == "clickhouse":
		ways = append(ways, "lose-disk "+n.Name+again+"; migrate")
	}
	return strings.Join(ways, " | ")
}

// obey runs the commands on stdin until ctx ends.
func obey(ctx context.Context, c *cluster.Cluster, migrate func() error) error {
	lines := make(chan string)
	go func() {
		for input := bufio.NewScanner(os.Stdin); input.Scan(); {
			lines <- input.Text()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case line := <-lines:
			if err := command(ctx, c, migrate, strings.Fields(line)); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
}

func command(ctx context.Context, c *cluster.Cluster, migrate func() error, words []string) error {
	arguments := map[string]int{
		"nodes": 0, "promote": 0, "remake": 0, "migrate": 0, "kill": 1, "off": 1, "start": 1, "lose-disk": 1, "cut": 2, "heal": 2,
	}
	if len(words) == 0 {
		return nil
	}
	if wanted, ok := arguments[words[0]]; !ok || len(words) != wanted+1 {
		return fmt.Errorf("%q is no command with its nodes", strings.Join(words, " "))
	}
	var nodes []*cluster.Node
	for _, name := range words[1:] {
		n := c.Node(name)
		if n == nil {
			return fmt.Errorf("no node %q", name)
		}
		nodes = append(nodes, n)
	}
	switch words[0] {
	case "kill":
		return nodes[0].Kill()
	case "migrate":
		return migrate()
	case "off":
		return nodes[0].PowerOff()
	case "start":
		return nodes[0].Start(ctx)
	case "lose-disk":
		return nodes[0].LoseDisk()
	case "cut":
		return c.Cut(words[1], words[2])
	case "heal":
		return c.Heal(words[1], words[2])
	case "promote":
		return c.Promote(ctx)
	case "remake":
		return c.Remake(ctx)
	}
	printNodes(os.Stdout, c)
	return nil
}
