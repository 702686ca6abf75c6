package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// HostOf returns the host and port of an address, without its credentials.
func HostOf(dsn string) string {
	o, err := parse(dsn)
	if err != nil {
		return "a server"
	}
	return strings.Join(o.Addr, ",")
}

// ShardServers returns the addresses of a cluster, a list of replicas for each shard; nil for one server.
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

// Servers returns the addresses of all servers, shard by shard.
func (c Config) Servers() []string {
	if c.Shards == "" {
		return []string{c.DSN}
	}
	return slices.Concat(c.ShardServers()...)
}

// ForServer returns c for one server of the cluster.
func (c Config) ForServer(dsn string) Config {
	c.DSN, c.Shards = dsn, ""
	return c
}

// validateShards wants addresses that differ only in the host: queries go to any server, with the same credentials.
func (c Config) validateShards() error {
	var errs []error
	if c.DSN != "" {
		errs = append(errs, errors.New("clickhouse dsn and shards: want one of the two"))
	}
	if !identifier.MatchString(c.Cluster) {
		errs = append(errs, fmt.Errorf(
			"clickhouse cluster %q: want the name of the cluster on the servers, of letters, digits and _", c.Cluster))
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
			errs = append(errs, fmt.Errorf("clickhouse shards: %s is listed twice", address.Host))
		}
		seen[address.Host] = true
		address.Host = ""
		if credentials := address.String(); first == "" {
			first = credentials
		} else if credentials != first {
			errs = append(errs, fmt.Errorf(
				"clickhouse shards, server %d: want the protocol, user, password, database and settings of the first",
				i+1))
		}
	}
	return errors.Join(errs...)
}

// A server that hangs keeps its connections. One that runs a query reports its progress ten times a second; one that
// inserts, or waits for its replicas, sends nothing until the end.
const (
	querySilence     = 4 * time.Second
	statementSilence = time.Minute
)

// openCluster opens a pool for each shard, and one over all servers for queries of the cluster.
func openCluster(c Config) (all *Conn, err error) {
	all = &Conn{cluster: c.Cluster}
	defer func() {
		if err != nil {
			all, err = nil, errors.Join(err, all.Close())
		}
	}()
	c.silence = querySilence
	o, err := options(c.ForServer(c.Servers()[0]))
	if err != nil {
		return all, err
	}
	c.silence = statementSilence
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

// Shards returns the number of shards; 1 for one server.
func (c *Conn) Shards() int { return max(1, len(c.shards)) }

// Cluster returns the cluster's name on the servers; "" for one server.
func (c *Conn) Cluster() string { return c.cluster }

// Replicated reports whether the shard, or one of the cluster, has several replicas: a query may reach one that still
// lacks rows of another.
func (c *Conn) Replicated() bool {
	r, ok := c.Server.(*replicas)
	return ok && len(r.nodes) > 1 || slices.ContainsFunc(c.shards, (*Conn).Replicated)
}

// Shard returns the connection of a shard, counted from 0, for inserts and lookups. It uses one replica until that is
// lost. Close of c closes it.
func (c *Conn) Shard(n int) (*Conn, error) {
	switch {
	case n < 0 || n >= c.Shards():
		return nil, fmt.Errorf("shard %d: there are %d, counted from 0", n, c.Shards())
	case c.shards == nil:
		return c, nil
	}
	return c.shards[n], nil
}

// Local returns the name of a shard's part of a table; on one server it is the table.
func (c *Conn) Local(table string) string {
	if c.cluster == "" || IsDimension(table) {
		return table
	}
	return table + LocalSuffix
}

// LocalSuffix ends the name of a shard's part of a table of facts.
const LocalSuffix = "_local"

// IsDimension reports whether every shard has all rows of a table.
func IsDimension(table string) bool { return strings.HasPrefix(table, "dimension_") }

// settings returns the settings of queries on a cluster. The connected server itself answers a query of its shard, also
// when it lags behind other replicas.
func (c *Conn) settings() clickhouse.Settings {
	switch {
	case c.cluster == "":
		return nil
	case c.shards != nil:
		return clickhouse.Settings{"distributed_product_mode": "global", "receive_timeout": querySilence.Seconds()}
	}
	return clickhouse.Settings{
		"distributed_product_mode":                  "global",
		"receive_timeout":                           querySilence.Seconds(), // from another shard
		"prefer_localhost_replica":                  1,
		"max_replica_delay_for_distributed_queries": 0,
	}
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

// Ping pings the server, or one server of every shard: a query of the cluster needs all.
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

// EachReplica calls do with each server of a shard in turn.
func (c *Conn) EachReplica(do func(*Conn) error) error {
	r, ok := c.Server.(*replicas)
	if !ok {
		return do(c)
	}
	for i, node := range r.nodes {
		if err := do(&Conn{Server: node, cluster: c.cluster}); err != nil {
			return fmt.Errorf("%s: %w", r.names[i], err)
		}
	}
	return nil
}

// CatchUp waits, half a minute a table at most, until the shard's current server has the rows that were inserted at its
// other replicas before.
func (c *Conn) CatchUp(ctx context.Context) error {
	if r, ok := c.Server.(*replicas); ok {
		return r.catchUp(ctx)
	}
	return nil
}

// Settle waits until all servers of the shard have all parts that exist.
func (c *Conn) Settle(ctx context.Context) error {
	if r, ok := c.Server.(*replicas); ok {
		return r.settle(ctx)
	}
	return nil
}
