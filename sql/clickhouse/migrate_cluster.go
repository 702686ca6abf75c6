package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// stepOf stands between the server of a cluster and what is to be done there.
const stepOf = ": "

// migrateCluster brings up the servers of a cluster one after the other, each by its
// own address: that needs no queue of statements in Keeper, and what is pending can be
// told of each. All must be there. Of the replicas of a shard one runs the migrations, of
// which some fill tables; the others are then given what it has, since tables that are
// replicated copy their changes and rows by themselves.
func migrateCluster(ctx context.Context, c Config, progress func(step string), open []Below) error {
	if err := checkCluster(ctx, c); err != nil {
		return err
	}
	l := c.layout()
	for n, replicas := range c.shards() {
		leader, followers, err := lead(ctx, c, replicas)
		if err != nil {
			return fmt.Errorf("shard %d: %w", n, err)
		}
		tell := func(step string) { progress(shardStep(n, step)) }
		if err := migrateServer(ctx, c.at(leader), l, tell, open); err != nil {
			return fmt.Errorf("shard %d: %w", n, err)
		}
		for _, follower := range followers {
			if err := follow(ctx, c, l, leader, follower, tell); err != nil {
				return fmt.Errorf("shard %d, replica: %w", n, err)
			}
		}
	}
	return fillDimensions(ctx, c)
}

func shardStep(n int, step string) string { return fmt.Sprintf("shard %d%s%s", n, stepOf, step) }

func pendingOfCluster(ctx context.Context, c Config) ([]string, error) {
	l := c.layout()
	var pending []string
	for n, replicas := range c.shards() {
		leader, followers, err := lead(ctx, c, replicas)
		if err != nil {
			return nil, fmt.Errorf("shard %d: %w", n, err)
		}
		steps, err := pendingOfServer(ctx, c.at(leader), l)
		if err != nil {
			return nil, fmt.Errorf("shard %d: %w", n, err)
		}
		for _, step := range steps {
			pending = append(pending, shardStep(n, step))
		}
		for _, follower := range followers {
			steps, err := behind(ctx, c, l, leader, follower)
			if err != nil {
				return nil, fmt.Errorf("shard %d, replica: %w", n, err)
			}
			for _, d := range steps {
				pending = append(pending, shardStep(n, "replica "+d.name))
			}
		}
	}
	return pending, nil
}

// lead picks the replica that runs migrations: one that has run most of them, so that
// a server which is new, or was away, fills and empties nothing that others have.
func lead(ctx context.Context, c Config, replicas []string) (leader string, followers []string, err error) {
	var most uint
	for _, dsn := range replicas {
		version, err := versionAt(ctx, c.at(dsn))
		if err != nil {
			return "", nil, err
		}
		if leader == "" || version > most {
			leader, most = dsn, version
		}
	}
	followers = slices.DeleteFunc(slices.Clone(replicas), func(dsn string) bool { return dsn == leader })
	return leader, followers, nil
}

// versionAt is the last migration that a server has run to its end.
func versionAt(ctx context.Context, c Config) (uint, error) {
	conn, err := Open(ctx, c)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	version, dirty, err := appliedVersion(ctx, conn)
	if dirty {
		version--
	}
	return version, err
}

// follow gives a replica what its leader has and it lacks.
func follow(ctx context.Context, c Config, l layout, leader, follower string, progress func(step string)) error {
	steps, err := behind(ctx, c, l, leader, follower)
	if err != nil {
		return err
	}
	to, err := Open(ctx, c.at(follower))
	if err != nil {
		return err
	}
	defer to.Close()
	for _, d := range steps {
		if d.statement == "" {
			continue // a function or a view: define knows their order
		}
		progress("replica " + d.name)
		if err := to.Exec(ctx, d.statement); err != nil {
			return fmt.Errorf("make %s: %w", d.name, err)
		}
	}
	return define(ctx, to, l, func(step string) { progress("replica " + step) })
}

// An object is a table or a materialized view of a database.
type object struct {
	Name   string `ch:"name"`
	Engine string `ch:"engine"`
	Create string `ch:"create_table_query"`
}

// behind lists what a replica lacks of its leader, in an order in which it can be
// made. What is a function or a named view has no statement.
func behind(ctx context.Context, c Config, l layout, leader, follower string) ([]definition, error) {
	from, err := Open(ctx, c.at(leader))
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := Open(ctx, c.at(follower))
	if err != nil {
		return nil, err
	}
	defer to.Close()
	want, err := objects(ctx, from)
	if err != nil {
		return nil, err
	}
	have, err := objects(ctx, to)
	if err != nil {
		return nil, err
	}
	if len(want) == 0 {
		return nil, nil // the leader itself has yet to begin
	}
	steps := lackingObjects(want, have)
	version, dirty, err := appliedVersion(ctx, from)
	if err != nil {
		return nil, err
	}
	known, _, err := appliedVersion(ctx, to)
	if err != nil {
		return nil, err
	}
	if known != version && !dirty {
		steps = append(steps, definition{"schema_migrations", fmt.Sprintf(
			"INSERT INTO schema_migrations (version, dirty, sequence) SELECT %d, 0, max(sequence) + 1 FROM schema_migrations", version)})
	}
	stale, err := staleDefinitions(ctx, to, l)
	for _, d := range stale {
		steps = append(steps, definition{name: d.name})
	}
	return steps, err
}

func objects(ctx context.Context, conn *Conn) (all []object, err error) {
	// What views read and fill comes before them.
	err = conn.Select(ctx, &all, `
		SELECT name, engine, create_table_query
		FROM system.tables
		WHERE database = currentDatabase() AND engine != 'View' AND name != 'open_batches'
		ORDER BY multiIf(endsWith(engine, 'MergeTree'), 0, engine = 'Distributed', 1, 2), name`)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	return all, nil
}

func lackingObjects(want, have []object) []definition {
	var steps []definition
	for _, o := range have {
		kept := slices.ContainsFunc(want, func(w object) bool {
			return w.Name == o.Name && (strings.HasSuffix(o.Engine, "MergeTree") || w.Create == o.Create)
		})
		if !kept {
			// Those that hold rows only when a migration has dropped them at the leader.
			if strings.HasSuffix(o.Engine, "MergeTree") && !dropped(o.Name) {
				continue
			}
			steps = append(steps, definition{"drop " + o.Name, "DROP TABLE " + quoted(o.Name) + " SYNC"})
		}
	}
	for _, w := range want {
		if !slices.ContainsFunc(have, func(o object) bool { return o.Name == w.Name }) ||
			slices.ContainsFunc(steps, func(d definition) bool { return d.name == "drop "+w.Name }) {
			steps = append(steps, definition{w.Name, w.Create})
		}
	}
	return steps
}

// dropped tells a shard's own table that some migration drops.
func dropped(local string) bool {
	for _, name := range numbered() {
		for statement := range strings.SplitSeq(commentLines.ReplaceAllString(mustRead("migrate/"+name), ""), ";") {
			m := dropTable.FindStringSubmatch(strings.TrimSpace(statement))
			if m != nil && m[1]+localSuffix == local {
				return true
			}
		}
	}
	return false
}

// fillDimensions gives shards that are new the dimensions that the others have: the
// mirror copies only what changes. Of a row that is there twice the newest counts.
func fillDimensions(ctx context.Context, c Config) error {
	conn, err := Open(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, table := range []string{"dimension_brands", "dimension_competitors", "dimension_prompts", "dimension_topics"} {
		err := conn.each(func(shard *Conn) error {
			var rows uint64
			if err := shard.QueryRow(ctx, "SELECT count() FROM "+table).Scan(&rows); err != nil || rows > 0 {
				return err
			}
			return shard.Exec(ctx, fmt.Sprintf("INSERT INTO %[1]s SELECT * FROM cluster('%[2]s', currentDatabase(), '%[1]s')", table, c.Cluster))
		})
		if err != nil {
			return fmt.Errorf("fill %s: %w", table, err)
		}
	}
	return nil
}

// A place is a server as it tells of itself and of the others.
type place struct {
	Shard uint32 `ch:"shard"`
	Name  string `ch:"name"`
}

// checkCluster says where the addresses that were given and the cluster that the
// servers know differ: a question would leave out rows, or count them twice.
func checkCluster(ctx context.Context, c Config) error {
	const name = "concat(hostName(), ':', toString(tcpPort()), ' ', toString(serverUUID()))"
	var given []place
	conns := map[string]*Conn{}
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	var paths []string
	for n, replicas := range c.shards() {
		for _, dsn := range replicas {
			conn, err := Open(ctx, c.at(dsn))
			if err != nil {
				return err
			}
			conns[dsn] = conn
			p := place{Shard: uint32(n + 1)}
			if err := conn.QueryRow(ctx, "SELECT "+name).Scan(&p.Name); err != nil {
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
		var known []place
		err := conn.Select(ctx, &known, "SELECT _shard_num AS shard, "+name+" AS name FROM clusterAllReplicas('"+c.Cluster+"', system.one) ORDER BY shard, name")
		if err != nil {
			return fmt.Errorf("ask %s who is in cluster %s: %w", hostOf(dsn), c.Cluster, err)
		}
		if !samePlaces(given, known) {
			return fmt.Errorf("%s knows cluster %s as %v, and given are %v: want the same servers in the same shards, counted from 1, in its remote_servers",
				hostOf(dsn), c.Cluster, known, given)
		}
	}
	return nil
}

func hostOf(dsn string) string {
	o, err := parse(dsn)
	if err != nil {
		return "a server"
	}
	return strings.Join(o.Addr, ",")
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
func checkMacros(c Config, paths []string) error {
	if !c.layout().replicated {
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
