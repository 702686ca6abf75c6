package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// A member is a server of a cluster by the name that it gives itself, and its shard, counted from 1.
type member struct {
	Shard uint32 `ch:"shard"`
	Name  string `ch:"name"`
}

// serverName is unique to a server.
const serverName = "concat(hostName(), ':', toString(tcpPort()), ' ', toString(serverUUID()))"

// members are the servers as the addresses give them.
func (s servers) members(ctx context.Context) (given []member, err error) {
	for server := range s.each() {
		m := member{Shard: uint32(server.shard + 1)}
		if _, err := server.numbered(ctx); err != nil {
			return nil, err
		}
		if err := server.conn.QueryRow(ctx, "SELECT "+serverName).Scan(&m.Name); err != nil {
			return nil, fmt.Errorf("read the name of %s: %w", server.where(), err)
		}
		given = append(given, m)
	}
	return given, nil
}

// known are the servers of a cluster as one of them has them configured. A question of all replicas counts each as a
// shard, in the order in which they are configured.
func (s server) known(ctx context.Context, cluster string) (known []member, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read cluster %s at %s: %w", cluster, s.where(), err)
		}
	}()
	var shards []uint32
	err = s.conn.QueryRow(ctx, "SELECT groupArray(shard_num) FROM (SELECT shard_num FROM system.clusters WHERE cluster = '"+cluster+"' ORDER BY shard_num, replica_num)").Scan(&shards)
	if err != nil {
		return nil, err
	}
	if len(shards) == 0 {
		return nil, errors.New("it knows no such cluster: want it in its remote_servers")
	}
	err = s.conn.Select(ctx, &known, "SELECT _shard_num AS shard, "+serverName+" AS name FROM clusterAllReplicas('"+cluster+"', system.one) ORDER BY shard")
	if err != nil {
		return nil, err
	}
	for i := range known {
		n := known[i].Shard
		if n < 1 || int(n) > len(shards) {
			return nil, fmt.Errorf("server %d of %d answered", n, len(shards))
		}
		known[i].Shard = shards[n-1]
	}
	return known, nil
}

// check says where the addresses and the cluster that the servers know differ: a question would leave out rows, or
// count them twice.
func (s servers) check(ctx context.Context, l layout) error {
	given, err := s.members(ctx)
	if err != nil {
		return err
	}
	if l.replicated {
		if err := s.checkMacros(ctx); err != nil {
			return err
		}
	}
	order := func(a, b member) int { return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Name, b.Name)) }
	slices.SortFunc(given, order)
	for server := range s.each() {
		known, err := server.known(ctx, l.cluster)
		if err != nil {
			return err
		}
		slices.SortFunc(known, order)
		if !slices.Equal(given, known) {
			return fmt.Errorf("%s knows cluster %s as %v, and given are %v: want the same servers in the same shards, counted from 1, in its remote_servers",
				server.where(), l.cluster, known, given)
		}
	}
	return nil
}

// macros are those by which replicated tables find each other.
type macros struct{ shard, replica string }

// checkMacros reads the macros of every server.
func (s servers) checkMacros(ctx context.Context) error {
	all := make([][]macros, len(s))
	for server := range s.each() {
		var m macros
		err := server.conn.QueryRow(ctx, "SELECT anyIf(substitution, macro = 'shard'), anyIf(substitution, macro = 'replica') FROM system.macros").Scan(&m.shard, &m.replica)
		if err != nil {
			return fmt.Errorf("read the macros of %s: %w", server.where(), err)
		}
		all[server.shard] = append(all[server.shard], m)
	}
	return checkMacros(all)
}

// checkMacros wants that replicas differ, and shards too: two shards of one name would copy each other's rows.
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
				errs = append(errs, fmt.Errorf("shards %d and %d: want different macros shard, both are %q", other, n, m.shard))
			case m.shard != replicas[0].shard:
				errs = append(errs, fmt.Errorf("shard %d: want one macro shard on its servers, there are %q and %q", n, replicas[0].shard, m.shard))
			case seen[m]:
				errs = append(errs, fmt.Errorf("shard %d: want different macros replica, two are %q", n, m.replica))
			}
			shardOf[m.shard], seen[m] = n, true
		}
	}
	return errors.Join(errs...)
}
