package schema

import (
	"context"
	"fmt"
	"slices"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// stepOf stands between the shard of a cluster and what is to be done there.
const stepOf = ": "

func shardStep(n int, step string) string { return fmt.Sprintf("shard %d%s%s", n, stepOf, step) }

// migrateCluster brings up the servers of a cluster one after the other, each at its own address, which needs no queue
// of statements in Keeper. All must be there. Of the replicas of a shard one runs the migrations, some of which fill
// tables; the others then get what it has, since replicated tables copy their changes and rows by themselves.
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
	return all.number(ctx, progress) // last: a server with a number lacks nothing
}

// migrateShard returns the layout as it found it, for the shards that follow.
func migrateShard(ctx context.Context, l layout, replicas []server, progress func(step string)) (layout, error) {
	if err := lead(ctx, replicas); err != nil {
		return l, err
	}
	l, err := l.asFound(ctx, replicas[0].conn)
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

// asFound is l as the existing tables of a server are: a new table is of their kind, also while a shard is given
// without a replica that it has. A replica of tables that are not replicated would lack their rows.
func (l layout) asFound(ctx context.Context, conn *clickhouse.Conn) (layout, error) {
	var replicated, plain []string
	err := conn.QueryRow(ctx, `
		SELECT groupArrayIf(name, startsWith(engine, 'Replicated')), groupArrayIf(name, NOT startsWith(engine, 'Replicated'))
		FROM system.tables
		WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree') AND (endsWith(name, '_local') OR startsWith(name, 'dimension_'))`).Scan(&replicated, &plain)
	switch {
	case err != nil:
		return l, fmt.Errorf("read the engines of tables: %w", err)
	case len(plain) > 0 && (l.replicated || len(replicated) > 0):
		return l, fmt.Errorf("table %s is not replicated, and replicas are: ATTACH TABLE … AS REPLICATED first", plain[0])
	}
	l.replicated = l.replicated || len(replicated) > 0
	return l, nil
}

// pendingOfCluster lists what is pending at the servers that answer, one of every shard at least: a process starts
// without a replica that is lost.
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
	unnumbered := 0
	for _, s := range replicas {
		numbered, err := s.numbered(ctx)
		if err != nil {
			return nil, err
		}
		if !numbered {
			unnumbered++
		}
	}
	if err := lead(ctx, replicas); err != nil {
		return nil, err
	}
	pending, err := pendingOfServer(ctx, replicas[0].conn, l)
	if err != nil {
		return nil, err
	}
	for _, follower := range replicas[1:] {
		steps, err := behind(ctx, l, replicas[0].conn, follower.conn)
		if err != nil {
			return nil, fmt.Errorf("replica %s: %w", clickhouse.HostOf(follower.DSN), err)
		}
		for _, d := range steps {
			pending = append(pending, "replica "+d.name)
		}
	}
	return append(pending, slices.Repeat([]string{numbering}, unnumbered)...), nil
}

// fillDimensions gives new shards the dimensions that the others have: the mirror copies only what changes. Of a row
// that is there twice the newest counts.
func (s servers) fillDimensions(ctx context.Context, l layout) error {
	for _, table := range []string{"dimension_brands", "dimension_competitors", "dimension_prompts", "dimension_topics"} {
		for _, replicas := range s {
			var rows uint64
			err := replicas[0].conn.QueryRow(ctx, "SELECT count() FROM "+table).Scan(&rows)
			if err == nil && rows == 0 {
				err = replicas[0].conn.Exec(ctx, fmt.Sprintf("INSERT INTO %[1]s SELECT * FROM cluster('%[2]s', currentDatabase(), '%[1]s')", table, l.cluster))
			}
			if err != nil {
				return fmt.Errorf("fill %s at %s: %w", table, replicas[0].where(), err)
			}
		}
	}
	return nil
}
