package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A replica is added while no other server lists it, since a query would else ask it before it has all rows. Then it
// gets its shard's number, and all servers list it.

// ShardOfReplica returns the shard, counted from 0, whose macro a server has.
func ShardOfReplica(ctx context.Context, c clickhouse.Config, host string) (shard int, err error) {
	macro := func(c clickhouse.Config) (text string, err error) {
		conn, err := clickhouse.Open(ctx, c)
		if err != nil {
			return "", err
		}
		defer conn.Close()
		err = conn.QueryRow(ctx, "SELECT anyIf(substitution, macro = 'shard') FROM system.macros").Scan(&text)
		return text, err
	}
	added, err := c.AtHost(host)
	if err != nil {
		return 0, err
	}
	want, err := macro(added)
	if err != nil {
		return 0, fmt.Errorf("read the macros of %s: %w", host, err)
	}
	for n, replicas := range c.ShardServers() {
		at := slices.IndexFunc(replicas, func(dsn string) bool { return dsn != added.DSN })
		if at < 0 {
			continue
		}
		name, err := macro(c.ForServer(replicas[at]))
		if err != nil {
			return 0, fmt.Errorf("read the macros of shard %d: %w", n, err)
		}
		if want != "" && name == want {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s has macro shard %q: want that of a shard of the cluster", host, want)
}

// replicaGrowth is a cluster that gets a replica.
type replicaGrowth struct {
	servers
	layout
	added, leader server
	whole         bool
	unlisted      []string // servers that do not list the replica in remote_servers
}

func openReplicaGrowth(ctx context.Context, c clickhouse.Config, host string) (g replicaGrowth, err error) {
	if g.servers, err = openServers(ctx, c, false); err != nil {
		return g, err
	}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	isNew := func(s server) bool { return clickhouse.HostOf(s.DSN) == host }
	for server := range g.each() {
		if isNew(server) {
			g.added = server
		}
	}
	if g.added.conn == nil {
		return g, fmt.Errorf("%s is no server of the addresses", host)
	}
	others := slices.DeleteFunc(slices.Clone(g.servers[g.added.shard]), isNew)
	if err := leaderFirst(ctx, others); err != nil {
		return g, err
	}
	g.leader = others[0]
	if g.layout, err = layoutOf(c).ofTables(ctx, g.leader.conn); err != nil {
		return g, err
	}
	if g.whole, err = g.added.numbered(ctx); err != nil {
		return g, err
	}
	if g.unlisted, err = g.servers.unlisted(ctx, g.layout, isNew); err != nil {
		return g, err
	}
	if n := len(slices.Collect(g.each())) - 1; !g.whole && len(g.unlisted) < n {
		return g, fmt.Errorf("%s lacks rows, and %d servers list it in remote_servers and would ask it: take it out "+
			"there until it is whole", host, n-len(g.unlisted))
	}
	return g, nil
}

// PendingReplica lists the steps that remain until the replica at a host is part of the cluster of c.
func PendingReplica(ctx context.Context, c clickhouse.Config, host string) (steps []string, err error) {
	g, err := openReplicaGrowth(ctx, c, host)
	if err != nil {
		return nil, err
	}
	defer g.close()
	if !g.whole {
		tables, err := followSteps(ctx, g.layout, g.leader.conn, g.added.conn)
		if err != nil {
			return nil, err
		}
		for _, d := range tables {
			steps = append(steps, shardStep(g.added.shard, "replica "+d.name))
		}
		steps = append(steps, shardStep(g.added.shard, "rows"), shardStep(g.added.shard, numberStep))
	}
	for _, unlisted := range g.unlisted {
		steps = append(steps, "list it in remote_servers of "+unlisted)
	}
	return steps, nil
}

// AddReplica does the steps that it can do. It may be killed and run again at any point.
func AddReplica(ctx context.Context, c clickhouse.Config, host string, progress func(step string)) error {
	g, err := openReplicaGrowth(ctx, c, host)
	if err != nil {
		return err
	}
	defer g.close()
	report := func(step string) { progress(shardStep(g.added.shard, step)) }
	if !g.whole {
		if err := g.forget(ctx); err != nil {
			return err
		}
		if err := follow(ctx, g.layout, g.leader.conn, g.added.conn, report); err != nil {
			return err
		}
		report("rows")
		if err := g.fill(ctx); err != nil {
			return err
		}
		if err := (servers{{g.added}}).number(ctx, progress); err != nil {
			return err
		}
	}
	if len(g.unlisted) > 0 {
		return fmt.Errorf("the replica is whole: list it in cluster %s in remote_servers of %s, and run this again",
			g.cluster, strings.Join(g.unlisted, ", "))
	}
	return nil
}

// forget has Keeper forget an earlier replica of the same name whose disk was lost: the new tables have other parts.
func (g *replicaGrowth) forget(ctx context.Context) error {
	tables, err := objects(ctx, g.added.conn)
	if err != nil || slices.ContainsFunc(tables, object.replicated) {
		return err
	}
	var name, database string
	const identity = "SELECT getMacro('replica'), currentDatabase()"
	if err := g.added.conn.QueryRow(ctx, identity).Scan(&name, &database); err != nil {
		return fmt.Errorf("read the macros of %s: %w", g.added, err)
	}
	err = g.leader.conn.Exec(ctx, fmt.Sprintf("SYSTEM DROP REPLICA %s FROM DATABASE %s",
		clickhouse.QuoteText(name), clickhouse.QuoteName(database)))
	if hasCode(err, proto.ErrTableWasNotDropped) { // it is active
		return fmt.Errorf("keeper still has a session of an earlier replica %q: run this again in a minute: %w",
			name, err)
	}
	return err
}

// fill waits until the replica has what the others had when it began.
func (g *replicaGrowth) fill(ctx context.Context) error {
	tables, err := objects(ctx, g.added.conn)
	if err != nil {
		return err
	}
	for _, o := range tables {
		if !o.replicated() {
			continue
		}
		for {
			err := g.added.conn.Exec(ctx, "SYSTEM SYNC REPLICA "+clickhouse.QuoteName(o.Name))
			if err == nil {
				break
			}
			if !hasCode(err, proto.ErrTimeoutExceeded) { // a large table takes longer than receive_timeout
				return fmt.Errorf("fill %s at %s: %w", o.Name, g.added, err)
			}
		}
	}
	return nil
}

// hasCode reports whether an error is ClickHouse's refusal with that code.
func hasCode(err error, code proto.Error) bool {
	refusal, ok := errors.AsType[*driver.Exception](err)
	return ok && proto.Error(refusal.Code) == code
}

func (o object) replicated() bool { return strings.HasPrefix(o.Engine, "Replicated") }
