package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A member is a server of a cluster by its own name, and its shard, counted from 1.
type member struct {
	Shard uint32 `ch:"shard"`
	Name  string `ch:"name"`
}

// serverName is unique to a server.
const serverName = "concat(hostName(), ':', toString(tcpPort()), ' ', toString(serverUUID()))"

// members lists the servers of the configuration.
func (s servers) members(ctx context.Context) (all, numbered []member, err error) {
	for server := range s.each() {
		m := member{Shard: uint32(server.shard + 1)}
		if err := server.conn.QueryRow(ctx, "SELECT "+serverName).Scan(&m.Name); err != nil {
			return nil, nil, fmt.Errorf("read the name of %s: %w", server, err)
		}
		all = append(all, m)
		if server.numbered {
			numbered = append(numbered, m)
		}
	}
	return all, numbered, nil
}

// remoteServers lists the servers of a cluster in a server's remote_servers. A query of all replicas counts each as a
// shard, in the configured order.
func (s server) remoteServers(ctx context.Context, cluster string) (members []member, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read cluster %s at %s: %w", cluster, s, err)
		}
	}()
	configured := fmt.Sprintf(`
		SELECT groupArray(shard_num)
		FROM (SELECT shard_num FROM system.clusters WHERE cluster = '%s' ORDER BY shard_num, replica_num)`, cluster)
	var shards []uint32
	if err = s.conn.QueryRow(ctx, configured).Scan(&shards); err != nil {
		return nil, err
	}
	if len(shards) == 0 {
		return nil, errors.New("it knows no such cluster: want it in its remote_servers")
	}
	names := fmt.Sprintf(`
		SELECT _shard_num AS shard, %s AS name
		FROM clusterAllReplicas('%s', system.one)
		ORDER BY shard`, serverName, cluster)
	if err = s.conn.Select(ctx, &members, names); err != nil {
		return nil, err
	}
	for i := range members {
		n := members[i].Shard
		if n < 1 || int(n) > len(shards) {
			return nil, fmt.Errorf("server %d of %d answered", n, len(shards))
		}
		members[i].Shard = shards[n-1]
	}
	return members, nil
}

// unlisted compares the addresses with the cluster in the servers' configuration: if they differ, a query would leave
// out rows or count them twice. Only new servers may be missing there; it returns which are to be listed, and where.
func (s servers) unlisted(ctx context.Context, l layout) (steps []string, err error) {
	all, numbered, err := s.members(ctx)
	if err == nil && l.replicated {
		err = s.checkMacros(ctx)
	}
	if err != nil {
		return nil, err
	}
	var hosts []string
	for server := range s.each() {
		if !server.numbered {
			hosts = append(hosts, server.host())
		}
	}
	for server := range s.each() {
		listed, err := server.remoteServers(ctx, l.cluster)
		if err != nil {
			return nil, err
		}
		if !includes(all, listed) || !includes(listed, numbered) {
			return nil, fmt.Errorf("%s knows cluster %s as %v, and given are %v: want the same servers in the same "+
				"shards, counted from 1, in its remote_servers", server, l.cluster, listed, all)
		}
		if len(listed) < len(all) {
			steps = append(steps,
				fmt.Sprintf("list %s in remote_servers of %s", strings.Join(hosts, " and "), server.host()))
		}
	}
	return steps, nil
}

// includes reports whether each member of part is one of all, once.
func includes(all, part []member) bool {
	for i, m := range part {
		if !slices.Contains(all, m) || slices.Contains(part[:i], m) {
			return false
		}
	}
	return true
}

// macros identify a replica of a table.
type macros struct{ shard, replica string }

func (s servers) checkMacros(ctx context.Context) error {
	all := make([][]macros, len(s))
	for server := range s.each() {
		var m macros
		err := server.conn.QueryRow(ctx, `
			SELECT anyIf(substitution, macro = 'shard'), anyIf(substitution, macro = 'replica')
			FROM system.macros`).Scan(&m.shard, &m.replica)
		if err != nil {
			return fmt.Errorf("read the macros of %s: %w", server, err)
		}
		all[server.shard] = append(all[server.shard], m)
	}
	return checkMacros(all)
}

// checkMacros wants different replicas, and different shards: two shards of one name would copy each other's rows.
func checkMacros(all [][]macros) error {
	var errs []error
	shardOf := map[string]int{}
	for n, replicas := range all {
		seen := map[macros]bool{}
		for _, m := range replicas {
			switch other, ok := shardOf[m.shard]; {
			case m.shard == "" || m.replica == "":
				errs = append(errs, fmt.Errorf("a server of shard %d: want macros shard and replica", n))
			case ok && other != n:
				errs = append(errs,
					fmt.Errorf("shards %d and %d: want different macros shard, both are %q", other, n, m.shard))
			case m.shard != replicas[0].shard:
				errs = append(errs, fmt.Errorf("shard %d: want one macro shard on its servers, there are %q and %q",
					n, replicas[0].shard, m.shard))
			case seen[m]:
				errs = append(errs, fmt.Errorf("shard %d: want different macros replica, two are %q", n, m.replica))
			}
			shardOf[m.shard], seen[m] = n, true
		}
	}
	return errors.Join(errs...)
}
