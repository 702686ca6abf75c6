package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A place is a server as it tells of itself and of the others.
type place struct {
	Shard uint32 `ch:"shard"`
	Name  string `ch:"name"`
}

// serverName tells servers apart.
const serverName = "concat(hostName(), ':', toString(tcpPort()), ' ', toString(serverUUID()))"

// checkShards says of the servers that answer whether the cluster knows one in another
// shard than the addresses do. A batch that was planned for a shard would be repeated
// on another, which knows nothing of its rows.
func checkShards(ctx context.Context, c clickhouse.Config, there [][]string) error {
	given := map[string]uint32{}
	var known []place
	for n, replicas := range there {
		for _, dsn := range replicas {
			conn, err := clickhouse.Open(ctx, c.At(dsn))
			if err != nil {
				return err
			}
			var name string
			if err = checkNumber(ctx, conn, n+1); err == nil {
				err = conn.QueryRow(ctx, "SELECT "+serverName).Scan(&name)
			}
			if err == nil {
				given[name] = uint32(n + 1)
				lenient := driver.Context(ctx, driver.WithSettings(driver.Settings{"skip_unavailable_shards": 1}))
				known, err = knownPlaces(lenient, conn, c.Cluster)
			}
			if err := errors.Join(err, conn.Close()); err != nil {
				return fmt.Errorf("ask %s who is in cluster %s: %w", clickhouse.HostOf(dsn), c.Cluster, err)
			}
		}
	}
	for _, p := range known {
		if n, ok := given[p.Name]; ok && n != p.Shard {
			return fmt.Errorf("%s is given in shard %d, counted from 1, and is of shard %d in cluster %s: want the shards in the order that they had", p.Name, n, p.Shard, c.Cluster)
		}
	}
	return nil
}

// checkCluster says where the addresses that were given and the cluster that the
// servers know differ: a question would leave out rows, or count them twice.
func checkCluster(ctx context.Context, c clickhouse.Config) error {
	var given []place
	conns := map[string]*clickhouse.Conn{}
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	var paths []string
	for n, replicas := range c.ShardServers() {
		for _, dsn := range replicas {
			conn, err := clickhouse.Open(ctx, c.At(dsn))
			if err != nil {
				return err
			}
			conns[dsn] = conn
			if err := checkNumber(ctx, conn, n+1); err != nil {
				return fmt.Errorf("%s: %w", clickhouse.HostOf(dsn), err)
			}
			p := place{Shard: uint32(n + 1)}
			if err := conn.QueryRow(ctx, "SELECT "+serverName).Scan(&p.Name); err != nil {
				return fmt.Errorf("ask server of shard %d for its name: %w", n, err)
			}
			given = append(given, p)
			var shard, replica string
			err = conn.QueryRow(ctx, "SELECT anyIf(substitution, macro = 'shard'), anyIf(substitution, macro = 'replica') FROM system.macros").Scan(&shard, &replica)
			if err != nil {
				return fmt.Errorf("ask server of shard %d for its macros: %w", n, err)
			}
			paths = append(paths, fmt.Sprintf("%d/%s/%s", n, shard, replica))
		}
	}
	if err := checkMacros(c, paths); err != nil {
		return err
	}
	for dsn, conn := range conns {
		known, err := knownPlaces(ctx, conn, c.Cluster)
		if err != nil {
			return fmt.Errorf("ask %s who is in cluster %s: %w", clickhouse.HostOf(dsn), c.Cluster, err)
		}
		if !samePlaces(given, known) {
			return fmt.Errorf("%s knows cluster %s as %v, and given are %v: want the same servers in the same shards, counted from 1, in its remote_servers",
				clickhouse.HostOf(dsn), c.Cluster, known, given)
		}
	}
	return nil
}

// knownPlaces are the servers of a cluster as one of them knows it. A question of
// every replica counts each as a shard, in the order in which they are configured.
func knownPlaces(ctx context.Context, conn *clickhouse.Conn, cluster string) (known []place, err error) {
	var shards []uint32
	err = conn.QueryRow(ctx, "SELECT groupArray(shard_num) FROM (SELECT shard_num FROM system.clusters WHERE cluster = '"+cluster+"' ORDER BY shard_num, replica_num)").Scan(&shards)
	if err != nil {
		return nil, err
	}
	if len(shards) == 0 {
		return nil, errors.New("it knows no such cluster: want it in its remote_servers")
	}
	err = conn.Select(ctx, &known, "SELECT _shard_num AS shard, "+serverName+" AS name FROM clusterAllReplicas('"+cluster+"', system.one) ORDER BY shard")
	if err != nil {
		return nil, err
	}
	for i := range known {
		if n := known[i].Shard; n < 1 || int(n) > len(shards) {
			return nil, fmt.Errorf("server %d of %d answered", n, len(shards))
		}
		known[i].Shard = shards[known[i].Shard-1]
	}
	return known, nil
}

func samePlaces(a, b []place) bool {
	order := func(p, q place) int { return strings.Compare(fmt.Sprint(p), fmt.Sprint(q)) }
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	return slices.Equal(a, b)
}

// checkMacros wants of replicated servers that each is told apart, and shards from
// each other: two shards of one name would copy each other's rows.
func checkMacros(c clickhouse.Config, paths []string) error {
	if !layoutOf(c).replicated {
		return nil
	}
	shards, places := map[string]string{}, map[string]bool{}
	var errs []error
	for _, path := range paths {
		part := strings.SplitN(path, "/", 3)
		number, shard, replica := part[0], part[1], part[2]
		if shard == "" || replica == "" {
			errs = append(errs, fmt.Errorf("a server of shard %s: want macros shard and replica", number))
			continue
		}
		if other, ok := shards[shard]; ok && other != number {
			errs = append(errs, fmt.Errorf("shards %s and %s: want different macros shard, both are %q", other, number, shard))
		}
		shards[shard] = number
		if places[shard+"/"+replica] {
			errs = append(errs, fmt.Errorf("shard %s: want different macros replica, two are %q", number, replica))
		}
		places[shard+"/"+replica] = true
	}
	for shard, number := range shards {
		for other, same := range shards {
			if number == same && shard < other {
				errs = append(errs, fmt.Errorf("shard %s: want one macro shard on its servers, there are %q and %q", number, shard, other))
			}
		}
	}
	return errors.Join(errs...)
}
