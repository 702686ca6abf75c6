package schema

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A server is one server of a cluster, with a connection of its own.
type server struct {
	clickhouse.Config      // of this server alone
	shard             int  // counted from 0
	numbered          bool // it has the number of its shard, and so everything else
	conn              *clickhouse.Conn
}

// host is the server's address in errors and steps.
func (s server) host() string { return clickhouse.HostOf(s.DSN) }

// String is the server's shard and address, for errors.
func (s server) String() string {
	return fmt.Sprintf("shard %d, %s", s.shard, s.host())
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
			err = s.open(opening)
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

// open connects to the server and reads its number.
func (s *server) open(ctx context.Context) (err error) {
	if s.conn, err = clickhouse.Open(ctx, s.Config); err != nil {
		return err
	}
	if s.numbered, err = s.readNumber(ctx); err != nil {
		_ = s.conn.Close() // nothing was sent
	}
	return err
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
//
// A cluster grows by this too. Servers without a number are new: the others need not list them in remote_servers yet. A
// new shard has its tables and dimensions before any other server asks it, and a new replica has its rows before it has
// tables of their names. Numbers come last, once every server lists all: no process starts with a shard that lacks its
// number, or inserts at such a replica.
func migrateCluster(ctx context.Context, c clickhouse.Config, progress func(step string)) error {
	all, err := openServers(ctx, c, false)
	if err != nil {
		return err
	}
	defer all.close()
	l := layoutOf(c)
	unlisted, err := all.unlisted(ctx, l)
	if err != nil {
		return err
	}
	for n, replicas := range all {
		if l, err = migrateShard(ctx, l, replicas, func(step string) { progress(shardStep(n, step)) }); err != nil {
			return fmt.Errorf("shard %d: %w", n, err)
		}
	}
	for _, replicas := range all {
		if err := FillDimensions(ctx, replicas[0].conn, l.cluster); err != nil {
			return fmt.Errorf("%s: %w", replicas[0], err)
		}
	}
	if len(unlisted) > 0 {
		return fmt.Errorf("the new servers are prepared: %s, and run: answerscope migrate",
			strings.Join(unlisted, ", "))
	}
	return all.number(ctx, progress)
}

// migrateShard returns the layout of its tables, for the shards that follow.
func migrateShard(ctx context.Context, l layout, replicas []server, progress func(step string)) (layout, error) {
	if err := leaderFirst(ctx, replicas); err != nil {
		return l, err
	}
	leader := replicas[0]
	if err := leader.checkEmpty(ctx); err != nil {
		return l, err
	}
	l, err := l.ofTables(ctx, leader.conn)
	if err != nil {
		return l, err
	}
	if err := migrateServer(ctx, leader.Config, l, progress); err != nil {
		return l, err
	}
	for _, follower := range replicas[1:] {
		err := forget(ctx, leader.conn, follower.conn)
		if err == nil {
			err = follow(ctx, l, leader.conn, follower.conn, progress)
		}
		if err != nil {
			return l, fmt.Errorf("replica %s: %w", follower.host(), err)
		}
	}
	return l, nil
}

// checkEmpty refuses the facts of a server that was never part of the cluster: they would be counted.
func (s server) checkEmpty(ctx context.Context) error {
	const facts = `
		SELECT ifNull(sum(total_rows), 0) FROM system.tables
		WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree')
		  AND name != 'schema_migrations' AND NOT startsWith(name, 'dimension_')`
	var rows uint64
	if s.numbered {
		return nil
	}
	if err := s.conn.QueryRow(ctx, facts).Scan(&rows); err != nil {
		return fmt.Errorf("count the rows of %s: %w", s, err)
	}
	if rows > 0 {
		return fmt.Errorf("%s has %d rows of its own: want an empty database", s, rows)
	}
	return nil
}

// leaderFirst puts the replica first that has run the most migrations, of those with a number if there are any, so that
// a new server, or one that was away, neither fills nor drops tables of others.
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
		best := replicas[leader]
		if s.numbered && !best.numbered || s.numbered == best.numbered && version > newest {
			leader, newest = i, version
		}
	}
	replicas[0], replicas[leader] = replicas[leader], replicas[0]
	return nil
}

// ofTables adapts the layout to a server's tables: new tables become replicated like these, also while a replica is
// missing in the configuration. A replica of a table that Replicate has not changed yet would lack its rows.
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
		return l, fmt.Errorf("table %s is not replicated, and others are to be: give the addresses of all replicas, "+
			"and run: answerscope migrate", plain[0])
	}
	l.replicated = l.replicated || len(replicated) > 0
	return l, nil
}

// pendingOfCluster lists the pending steps at the servers that answer, at least one of every shard, and of those that
// are part of the cluster: a process starts without a replica that is lost or being filled. With growing, all servers
// must answer, and new ones are listed too, with the servers whose configuration lacks them.
func pendingOfCluster(ctx context.Context, c clickhouse.Config, growing bool) (pending []string, err error) {
	all, err := openServers(ctx, c, !growing)
	if err != nil {
		return nil, err
	}
	defer all.close()
	l := layoutOf(c)
	for n, replicas := range all {
		steps, err := pendingOfShard(ctx, l, replicas, growing)
		if err != nil {
			return nil, fmt.Errorf("shard %d: %w", n, err)
		}
		for _, step := range steps {
			pending = append(pending, shardStep(n, step))
		}
	}
	if !growing {
		return pending, nil
	}
	unlisted, err := all.unlisted(ctx, l)
	return append(pending, unlisted...), err
}

func pendingOfShard(ctx context.Context, l layout, replicas []server, growing bool) (pending []string, err error) {
	if err := leaderFirst(ctx, replicas); err != nil {
		return nil, err
	}
	leader := replicas[0]
	for _, s := range replicas {
		if !s.numbered && (!leader.numbered || growing) {
			pending = append(pending, "new server "+s.host())
		}
	}
	if !leader.numbered {
		return pending, nil
	}
	steps, err := pendingOfServer(ctx, leader.conn, l)
	if err != nil {
		return nil, err
	}
	pending = append(pending, steps...)
	for _, follower := range replicas[1:] {
		if !follower.numbered {
			continue
		}
		steps, err := followSteps(ctx, l, leader.conn, follower.conn)
		if err != nil {
			return nil, fmt.Errorf("replica %s: %w", follower.host(), err)
		}
		for _, d := range steps {
			pending = append(pending, "replica "+d.name)
		}
	}
	return pending, nil
}

// FillDimensions copies the rows of dimensions that a server lacks from other shards: the mirror copies only changes,
// and to the shards that its process knows. Of duplicate rows the newest counts.
func FillDimensions(ctx context.Context, conn *clickhouse.Conn, cluster string) error {
	for _, table := range dimensions() {
		missing := fmt.Sprintf("SELECT * FROM cluster('%[2]s', currentDatabase(), '%[1]s') FINAL "+
			"EXCEPT DISTINCT SELECT * FROM %[1]s FINAL", table, cluster)
		if err := conn.Exec(ctx, "INSERT INTO "+table+" "+missing); err != nil {
			return fmt.Errorf("fill %s: %w", table, err)
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

// shardSeparator separates the shard of a cluster from its step.
const shardSeparator = ": "

func shardStep(n int, step string) string {
	return fmt.Sprintf("shard %d%s%s", n, shardSeparator, step)
}

// number gives every server without a number its number.
func (s servers) number(ctx context.Context, progress func(step string)) error {
	for server := range s.each() {
		if server.numbered {
			continue
		}
		progress(shardStep(server.shard, "number"))
		err := server.conn.Exec(ctx, "ALTER TABLE schema_migrations MODIFY COMMENT '"+server.comment()+"'")
		if err != nil {
			return fmt.Errorf("number %s: %w", server, err)
		}
	}
	return nil
}

// comment is "of shard 2" for a server of the second shard.
func (s server) comment() string { return fmt.Sprintf("%s%d", shardComment, s.shard+1) }

// readNumber reports whether a server has a number. It is an error if that is the number of another shard.
func (s server) readNumber(ctx context.Context) (bool, error) {
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
