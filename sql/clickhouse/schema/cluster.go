package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A server is one server of a cluster, with a connection of its own.
type server struct {
	clickhouse.Config     // of this server alone
	shard             int // counted from 0
	conn              *clickhouse.Conn
}

// String is the server's shard and address, for errors.
func (s server) String() string {
	return fmt.Sprintf("shard %d, %s", s.shard, clickhouse.HostOf(s.DSN))
}

// servers has the replicas of each shard.
type servers [][]server

// openServers connects to every server of a cluster. With lenient, it skips a server that cannot be reached if another
// one of its shard can; a server that answers with an error is never skipped.
func openServers(ctx context.Context, c clickhouse.Config, lenient bool) (all servers, err error) {
	defer func() {
		if err != nil {
			all.close()
		}
	}()
	timeout := time.Minute
	if lenient {
		timeout = 2 * time.Second // a service waits five for its first check
	}
	for n, replicas := range c.ShardServers() {
		all = append(all, nil)
		var lost []error
		for _, dsn := range replicas {
			s := server{Config: c.ForServer(dsn), shard: n}
			opening, cancel := context.WithTimeout(ctx, timeout)
			s.conn, err = clickhouse.Open(opening, s.Config)
			cancel()
			if err == nil {
				all[n] = append(all[n], s)
				continue
			}
			err = fmt.Errorf("%s: %w", s, err)
			if _, answered := errors.AsType[*driver.Exception](err); !lenient || answered || ctx.Err() != nil {
				return all, err
			}
			lost = append(lost, err)
		}
		if len(all[n]) == 0 {
			return all, errors.Join(lost...)
		}
	}
	return all, nil
}

func (s servers) close() {
	for server := range s.each() {
		_ = server.conn.Close() // statements have returned their errors
	}
}

// each iterates over all servers, shard by shard.
func (s servers) each() iter.Seq[server] { return slices.Values(slices.Concat(s...)) }

// migrateCluster migrates the servers of a cluster one after the other at their own addresses, without a queue of
// statements in Keeper. All must run. One replica of a shard runs the migrations, some of which fill tables; the others
// then follow, since replicated tables copy their changes and rows by themselves.
func migrateCluster(ctx context.Context, c clickhouse.Config, progress func(step string)) error {
	all, err := openServers(ctx, c, false)
	if err != nil {
		return err
	}
	defer all.close()
	l := layoutOf(c)
	if err := all.check(ctx, l); err != nil {
		return err
	}
	for n, replicas := range all {
		if l, err = migrateShard(ctx, l, replicas, func(step string) { progress(shardStep(n, step)) }); err != nil {
			return fmt.Errorf("shard %d: %w", n, err)
		}
	}
	if err := all.fillDimensions(ctx, l); err != nil {
		return err
	}
	return all.number(ctx, progress) // last: a numbered server is complete
}

// migrateShard returns the layout of its tables, for the shards that follow.
func migrateShard(ctx context.Context, l layout, replicas []server, progress func(step string)) (layout, error) {
	if err := leaderFirst(ctx, replicas); err != nil {
		return l, err
	}
	l, err := l.ofTables(ctx, replicas[0].conn)
	if err != nil {
		return l, err
	}
	if err := migrateServer(ctx, replicas[0].Config, l, progress); err != nil {
		return l, err
	}
	for _, follower := range replicas[1:] {
		if err := follow(ctx, l, replicas[0].conn, follower.conn, progress); err != nil {
			return l, fmt.Errorf("replica %s: %w", clickhouse.HostOf(follower.DSN), err)
		}
	}
	return l, nil
}

// leaderFirst puts the replica first that has run the most migrations, so that a new server, or one that was away,
// neither fills nor drops tables of others.
func leaderFirst(ctx context.Context, replicas []server) error {
	leader, newest := 0, uint(0)
	for i, s := range replicas {
		version, dirty, err := appliedVersion(ctx, s.conn)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		if dirty {
			version--
		}
		if version > newest {
			leader, newest = i, version
		}
	}
	replicas[0], replicas[leader] = replicas[leader], replicas[0]
	return nil
}

// ofTables adapts the layout to a server's tables: new tables become replicated like these, also while a replica is
// missing in the configuration. Unreplicated tables cannot get a replica, which would lack their rows.
func (l layout) ofTables(ctx context.Context, conn *clickhouse.Conn) (layout, error) {
	const engines = `
		SELECT
			groupArrayIf(name, startsWith(engine, 'Replicated')),
			groupArrayIf(name, NOT startsWith(engine, 'Replicated'))
		FROM system.tables
		WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree')
		  AND (endsWith(name, '_local') OR startsWith(name, 'dimension_'))`
	var replicated, plain []string
	if err := conn.QueryRow(ctx, engines).Scan(&replicated, &plain); err != nil {
		return l, fmt.Errorf("read the engines of tables: %w", err)
	}
	if len(plain) > 0 && (l.replicated || len(replicated) > 0) {
		const next = "ATTACH TABLE … AS REPLICATED first"
		return l, fmt.Errorf("table %s is not replicated, and replicas are: %s", plain[0], next)
	}
	l.replicated = l.replicated || len(replicated) > 0
	return l, nil
}

// pendingOfCluster lists the pending steps at the servers that answer, at least one of every shard: a process starts
// without a lost replica.
func pendingOfCluster(ctx context.Context, c clickhouse.Config) (pending []string, err error) {
	all, err := openServers(ctx, c, true)
	if err != nil {
		return nil, err
	}
	defer all.close()
	l := layoutOf(c)
	for n, replicas := range all {
		steps, err := pendingOfShard(ctx, l, replicas)
		if err != nil {
			return nil, fmt.Errorf("shard %d: %w", n, err)
		}
		for _, step := range steps {
			pending = append(pending, shardStep(n, step))
		}
	}
	return pending, nil
}

func pendingOfShard(ctx context.Context, l layout, replicas []server) ([]string, error) {
	var numberSteps []string
	for _, s := range replicas {
		numbered, err := s.numbered(ctx)
		if err != nil {
			return nil, err
		}
		if !numbered {
			numberSteps = append(numberSteps, numberStep)
		}
	}
	if err := leaderFirst(ctx, replicas); err != nil {
		return nil, err
	}
	pending, err := pendingOfServer(ctx, replicas[0].conn, l)
	if err != nil {
		return nil, err
	}
	for _, follower := range replicas[1:] {
		steps, err := followSteps(ctx, l, replicas[0].conn, follower.conn)
		if err != nil {
			return nil, fmt.Errorf("replica %s: %w", clickhouse.HostOf(follower.DSN), err)
		}
		for _, d := range steps {
			pending = append(pending, "replica "+d.name)
		}
	}
	return append(pending, numberSteps...), nil
}

// missingRows selects the rows of a dimension that some shard has and this one lacks: the mirror copies only changes,
// and a process copies to the shards that it knows. Of duplicate rows the newest counts.
func missingRows(l layout, table string) string {
	return fmt.Sprintf("SELECT * FROM cluster('%[2]s', currentDatabase(), '%[1]s') FINAL "+
		"EXCEPT DISTINCT SELECT * FROM %[1]s FINAL", table, l.cluster)
}

// fillDimensions copies to each shard the rows of dimensions that it lacks.
func (s servers) fillDimensions(ctx context.Context, l layout) error {
	for _, table := range dimensions() {
		for _, replicas := range s {
			if err := replicas[0].conn.Exec(ctx, "INSERT INTO "+table+" "+missingRows(l, table)); err != nil {
				return fmt.Errorf("fill %s at %s: %w", table, replicas[0], err)
			}
		}
	}
	return nil
}

func dimensions() []string {
	return slices.DeleteFunc(OrganizationTables(), func(table string) bool { return !clickhouse.IsDimension(table) })
}

// A server has its shard's number, counted from 1, in the comment of its list of migrations, which is never replicated.
// The addresses and the servers' remote_servers can agree and both be wrong: with a shard inserted between others, a
// batch that was planned for one of those behind it would land on another.
const shardComment = "of shard "

// numberStep is the step that gives a server its number.
const numberStep = "number"

// shardSeparator separates the shard of a cluster from its step.
const shardSeparator = ": "

func shardStep(n int, step string) string {
	return fmt.Sprintf("shard %d%s%s", n, shardSeparator, step)
}

// number gives every server without a number its number.
func (s servers) number(ctx context.Context, progress func(step string)) error {
	for server := range s.each() {
		numbered, err := server.numbered(ctx)
		if err == nil && !numbered {
			progress(shardStep(server.shard, numberStep))
			err = server.conn.Exec(ctx, "ALTER TABLE schema_migrations MODIFY COMMENT '"+server.comment()+"'")
		}
		if err != nil {
			return fmt.Errorf("number %s: %w", server, err)
		}
	}
	return nil
}

// comment is "of shard 2" for a server of the second shard.
func (s server) comment() string { return fmt.Sprintf("%s%d", shardComment, s.shard+1) }

// numbered reports whether a server has a number. It is an error if that is the number of another shard.
func (s server) numbered(ctx context.Context) (bool, error) {
	const comments = `
		SELECT anyIf(comment, name = 'schema_migrations') FROM system.tables WHERE database = currentDatabase()`
	var comment string
	if err := s.conn.QueryRow(ctx, comments).Scan(&comment); err != nil {
		return false, fmt.Errorf("read the number of %s: %w", s, err)
	}
	if comment != "" && comment != s.comment() {
		return true, fmt.Errorf("%s was made as one %q and is given as one %q, counted from 1: "+
			"want the shards in the order that they had, new ones behind them", s, comment, s.comment())
	}
	return comment != "", nil
}

// A member is a server of a cluster by its own name, and its shard, counted from 1.
type member struct {
	Shard uint32 `ch:"shard"`
	Name  string `ch:"name"`
}

// serverName is unique to a server.
const serverName = "concat(hostName(), ':', toString(tcpPort()), ' ', toString(serverUUID()))"

// members lists the servers of the configuration.
func (s servers) members(ctx context.Context) (members []member, err error) {
	for server := range s.each() {
		m := member{Shard: uint32(server.shard + 1)}
		if _, err := server.numbered(ctx); err != nil {
			return nil, err
		}
		if err := server.conn.QueryRow(ctx, "SELECT "+serverName).Scan(&m.Name); err != nil {
			return nil, fmt.Errorf("read the name of %s: %w", server, err)
		}
		members = append(members, m)
	}
	return members, nil
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

// check compares the addresses with the cluster in the servers' configuration: if they differ, a query would leave out
// rows or count them twice.
func (s servers) check(ctx context.Context, l layout) error {
	members, err := s.members(ctx)
	if err != nil {
		return err
	}
	if l.replicated {
		if err := s.checkMacros(ctx); err != nil {
			return err
		}
	}
	for server := range s.each() {
		if err := server.checkMembers(ctx, l.cluster, members); err != nil {
			return err
		}
	}
	return nil
}

// checkMembers compares a server's remote_servers with the servers that it should have.
func (s server) checkMembers(ctx context.Context, cluster string, want []member) error {
	remote, err := s.remoteServers(ctx, cluster)
	if err != nil {
		return err
	}
	order := func(a, b member) int { return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Name, b.Name)) }
	want = slices.SortedFunc(slices.Values(want), order)
	slices.SortFunc(remote, order)
	if !slices.Equal(want, remote) {
		return fmt.Errorf("%s knows cluster %s as %v, and given are %v: want the same servers in the same shards, "+
			"counted from 1, in its remote_servers", s, cluster, remote, want)
	}
	return nil
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
