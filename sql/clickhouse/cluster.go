package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// HostOf is where a server is, without the credentials of its address.
func HostOf(dsn string) string {
	o, err := parse(dsn)
	if err != nil {
		return "a server"
	}
	return strings.Join(o.Addr, ",")
}

// ShardServers are the addresses of a cluster, a list of replicas for each shard; nil of one server.
func (c Config) ShardServers() (shards [][]string) {
	if c.Shards == "" {
		return nil
	}
	for shard := range strings.SplitSeq(c.Shards, ";") {
		var replicas []string
		for replica := range strings.SplitSeq(shard, ",") {
			replicas = append(replicas, strings.TrimSpace(replica))
		}
		shards = append(shards, replicas)
	}
	return shards
}

// Servers are the addresses of all servers, shard by shard.
func (c Config) Servers() []string {
	if c.Shards == "" {
		return []string{c.DSN}
	}
	return slices.Concat(c.ShardServers()...)
}

// ForServer is c for one server of the cluster.
func (c Config) ForServer(dsn string) Config {
	c.DSN, c.Shards = dsn, ""
	return c
}

// validateShards wants addresses that differ only in the host: questions go to any of the servers, with one set of
// credentials.
func (c Config) validateShards() error {
	var errs []error
	if c.DSN != "" {
		errs = append(errs, errors.New("clickhouse dsn and shards: want one of the two"))
	}
	if !identifier.MatchString(c.Cluster) {
		errs = append(errs, fmt.Errorf("clickhouse cluster %q: want the name of the cluster on the servers, of letters, digits and _", c.Cluster))
	}
	seen := map[string]bool{}
	first := ""
	for i, dsn := range c.Servers() {
		if err := c.ForServer(dsn).Validate(); err != nil {
			errs = append(errs, fmt.Errorf("clickhouse shards, server %d: %w", i+1, err))
			continue
		}
		address, err := url.Parse(dsn)
		if err != nil || strings.Contains(address.Host, ",") {
			errs = append(errs, fmt.Errorf("clickhouse shards, server %d: want one host", i+1))
			continue
		}
		if seen[address.Host] {
			errs = append(errs, fmt.Errorf("clickhouse shards: %s is there twice", address.Host))
		}
		seen[address.Host] = true
		address.Host = ""
		if rest := address.String(); first == "" {
			first = rest
		} else if rest != first {
			errs = append(errs, fmt.Errorf("clickhouse shards, server %d: want the protocol, user, password, database and settings of the first", i+1))
		}
	}
	return errors.Join(errs...)
}

// openCluster makes connections to every shard, and for questions to any of the servers.
func openCluster(c Config) (all *Conn, err error) {
	all = &Conn{cluster: c.Cluster}
	defer func() {
		if err != nil {
			all, err = nil, errors.Join(err, all.Close())
		}
	}()
	o, err := options(c.ForServer(c.Servers()[0]))
	if err != nil {
		return all, err
	}
	o.ConnOpenStrategy, o.Addr = clickhouse.ConnOpenRoundRobin, nil
	for n, dsns := range c.ShardServers() {
		shard, err := newReplicas(c, n, dsns)
		if err != nil {
			return all, err
		}
		all.shards = append(all.shards, &Conn{Server: shard, cluster: all.cluster})
		o.Addr = append(o.Addr, shard.names...)
	}
	if all.Server, err = clickhouse.Open(o); err != nil {
		return all, fmt.Errorf("open clickhouse: %w", err)
	}
	return all, nil
}

// Shards is how many shards there are; 1 of one server.
func (c *Conn) Shards() int { return max(1, len(c.shards)) }

// Replicated reports whether a question may go to a server that lacks, for a moment, what was inserted at another one.
func (c *Conn) Replicated() bool {
	return slices.ContainsFunc(c.shards, func(shard *Conn) bool {
		r, ok := shard.Server.(*replicas)
		return ok && len(r.nodes) > 1
	})
}

// Shard is one shard's server, counted from 0, for inserts and lookups. Of several replicas it is the same until it is
// lost. It is closed with c.
func (c *Conn) Shard(n int) (*Conn, error) {
	switch {
	case n < 0 || n >= c.Shards():
		return nil, fmt.Errorf("shard %d: there are %d, counted from 0", n, c.Shards())
	case c.shards == nil:
		return c, nil
	}
	return c.shards[n], nil
}

// Local is what a shard calls its own part of a table; on one server it is the table.
func (c *Conn) Local(table string) string {
	if c.cluster == "" || IsDimension(table) {
		return table
	}
	return table + LocalSuffix
}

// LocalSuffix ends the name of a shard's own part of a table of facts.
const LocalSuffix = "_local"

// IsDimension reports whether a table is whole on every shard.
func IsDimension(table string) bool { return strings.HasPrefix(table, "dimension_") }

// settings are what questions need on a cluster. A shard's server answers itself what is about the shard, whatever the
// lag of its replicas.
func (c *Conn) settings() clickhouse.Settings {
	switch {
	case c.cluster == "":
		return nil
	case c.shards != nil:
		return clickhouse.Settings{"distributed_product_mode": "global"}
	}
	return clickhouse.Settings{"distributed_product_mode": "global", "prefer_localhost_replica": 1, "max_replica_delay_for_distributed_queries": 0}
}

// EachShard calls do with each shard in turn.
func (c *Conn) EachShard(do func(shard *Conn) error) error {
	if c.shards == nil {
		return do(c)
	}
	for n, shard := range c.shards {
		if err := do(shard); err != nil {
			return fmt.Errorf("shard %d: %w", n, err)
		}
	}
	return nil
}

// Ping pings a server, and of a cluster one of every shard: a question needs all.
func (c *Conn) Ping(ctx context.Context) error {
	if c.shards != nil {
		return c.EachShard(func(shard *Conn) error { return shard.Ping(ctx) })
	}
	return c.Server.Ping(ctx)
}

// Close closes all connections.
func (c *Conn) Close() error {
	var errs []error
	for _, shard := range c.shards {
		errs = append(errs, shard.Close())
	}
	if c.Server != nil {
		errs = append(errs, c.Server.Close())
	}
	return errors.Join(errs...)
}

// CatchUp returns once a shard's server has what was inserted at its other replicas before, for a lookup of such rows.
func (c *Conn) CatchUp(ctx context.Context) error {
	if r, ok := c.Server.(*replicas); ok {
		return r.catchUp(ctx)
	}
	return nil
}
