package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A shard is added in an order in which no query fails or lacks rows: it gets its tables and dimensions while no other
// server knows it, then all servers list it, then it gets its number, without which no process starts with its address.

// growth is a cluster whose last shard is being added.
type growth struct {
	servers
	layout
	unlisted []string // servers of other shards that do not list the last one in remote_servers
}

// last has the servers of the shard that is being added.
func (g *growth) last() []server { return g.servers[len(g.servers)-1] }

func (g *growth) step(name string) string { return shardStep(len(g.servers)-1, name) }

// openGrowth connects to all servers, and refuses a shard that cannot be added. Close its servers after use.
func openGrowth(ctx context.Context, c clickhouse.Config) (g growth, err error) {
	if g.servers, err = openServers(ctx, c, false); err != nil {
		return g, err
	}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	if g.layout, err = layoutOf(c).ofTables(ctx, g.servers[0][0].conn); err != nil {
		return g, err
	}
	for n, replicas := range g.servers[:len(g.servers)-1] {
		steps, err := pendingOfShard(ctx, g.layout, replicas)
		if err != nil {
			return g, fmt.Errorf("shard %d: %w", n, err)
		}
		if len(steps) > 0 {
			return g, fmt.Errorf("shard %d is behind this binary (%s is pending); run: answerscope migrate",
				n, steps[0])
		}
	}
	return g, errors.Join(g.checkList(ctx), g.checkEmpty(ctx))
}

// checkList wants the new servers to list the whole cluster, and the others to list it with or without the new shard.
func (g *growth) checkList(ctx context.Context) (err error) {
	g.unlisted, err = g.servers.unlisted(ctx, g.layout, func(s server) bool { return s.shard == len(g.servers)-1 })
	return err
}

// unlisted returns the hosts of servers whose remote_servers lack the new ones; those must list all.
func (s servers) unlisted(ctx context.Context, l layout, isNew func(server) bool) (hosts []string, err error) {
	members, err := s.members(ctx)
	if err == nil && l.replicated {
		err = s.checkMacros(ctx)
	}
	if err != nil {
		return nil, err
	}
	var before []member
	i := 0
	for server := range s.each() {
		if !isNew(server) {
			before = append(before, members[i])
		}
		i++
	}
	for server := range s.each() {
		err := server.checkMembers(ctx, l.cluster, members)
		if err != nil && !isNew(server) && server.checkMembers(ctx, l.cluster, before) == nil {
			hosts = append(hosts, clickhouse.HostOf(server.DSN))
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return hosts, nil
}

// checkEmpty refuses facts at a server that was never part of the cluster: they would be counted.
func (g *growth) checkEmpty(ctx context.Context) error {
	for _, server := range g.last() {
		numbered, err := server.numbered(ctx)
		if err != nil || numbered {
			return err
		}
		const facts = `
			SELECT ifNull(sum(total_rows), 0) FROM system.tables
			WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree')
			  AND name != 'schema_migrations' AND NOT startsWith(name, 'dimension_')`
		var rows uint64
		if err := server.conn.QueryRow(ctx, facts).Scan(&rows); err != nil {
			return fmt.Errorf("count the rows of %s: %w", server, err)
		}
		if rows > 0 {
			return fmt.Errorf("%s has %d rows of its own: want an empty database", server, rows)
		}
	}
	return nil
}

// PendingShard lists the steps that remain until the last shard of c is part of the cluster.
func PendingShard(ctx context.Context, c clickhouse.Config) (steps []string, err error) {
	g, err := openGrowth(ctx, c)
	if err != nil {
		return nil, err
	}
	defer g.close()
	pending, err := pendingOfShard(ctx, g.layout, g.last())
	if err != nil {
		return nil, err
	}
	complete := true // it has its tables
	for _, name := range pending {
		steps = append(steps, g.step(name))
		complete = complete && name == numberStep
	}
	for _, table := range dimensions() {
		rows := uint64(1)
		if complete {
			count := "SELECT count() FROM (" + missingRows(g.layout, table) + ")"
			if err := g.last()[0].conn.QueryRow(ctx, count).Scan(&rows); err != nil {
				return nil, fmt.Errorf("compare %s: %w", table, err)
			}
		}
		if rows > 0 {
			steps = append(steps, g.step("rows of "+table))
		}
	}
	for _, host := range g.unlisted {
		steps = append(steps, "list it in remote_servers of "+host)
	}
	return steps, nil
}

// AddShard does the steps that it can do. It may be killed and run again at any point.
func AddShard(ctx context.Context, c clickhouse.Config, progress func(step string)) error {
	g, err := openGrowth(ctx, c)
	if err != nil {
		return err
	}
	defer g.close()
	added := servers{g.last()}
	_, err = migrateShard(ctx, g.layout, g.last(), func(step string) { progress(g.step(step)) })
	if err != nil {
		return err
	}
	progress(g.step("rows of dimensions"))
	if err := added.fillDimensions(ctx, g.layout); err != nil {
		return err
	}
	if len(g.unlisted) > 0 {
		return fmt.Errorf("the shard is prepared: append it to cluster %s in remote_servers of %s, and run this again",
			g.cluster, strings.Join(g.unlisted, ", "))
	}
	return added.number(ctx, progress)
}
