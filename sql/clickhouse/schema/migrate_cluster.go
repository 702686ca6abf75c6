package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// stepOf stands between the server of a cluster and what is to be done there.
const stepOf = ": "

// migrateCluster brings up the servers of a cluster one after the other, each by its
// own address: that needs no queue of statements in Keeper, and what is pending can be
// told of each. All must be there. Of the replicas of a shard one runs the migrations, of
// which some fill tables; the others are then given what it has, since tables that are
// replicated copy their changes and rows by themselves.
func migrateCluster(ctx context.Context, c clickhouse.Config, progress func(step string)) error {
	if err := checkCluster(ctx, c); err != nil {
		return err
	}
	l := layoutOf(c)
	for n, replicas := range c.ShardServers() {
		leader, followers, err := lead(ctx, c, replicas)
		if err != nil {
			return fmt.Errorf("shard %d: %w", n, err)
		}
		if l, err = l.asFound(ctx, c.At(leader)); err != nil {
			return fmt.Errorf("shard %d: %w", n, err)
		}
		report := func(step string) { progress(shardStep(n, step)) }
		if err := migrateServer(ctx, c.At(leader), l, report); err != nil {
			return fmt.Errorf("shard %d: %w", n, err)
		}
		for _, follower := range followers {
			if err := follow(ctx, c, l, leader, follower, report); err != nil {
				return fmt.Errorf("shard %d, replica: %w", n, err)
			}
		}
	}
	if err := fillDimensions(ctx, c); err != nil {
		return err
	}
	return numberShards(ctx, c, progress) // last: what has its number lacks nothing
}

func shardStep(n int, step string) string { return fmt.Sprintf("shard %d%s%s", n, stepOf, step) }

// asFound is l as the existing tables of a server are: a table more is of their
// kind, also while a shard is given without a replica that it has. Tables that copy
// nothing a replica would only have without their rows.
func (l layout) asFound(ctx context.Context, c clickhouse.Config) (layout, error) {
	conn, err := clickhouse.Open(ctx, c)
	if err != nil {
		return l, err
	}
	defer conn.Close()
	var replicated, plain []string
	err = conn.QueryRow(ctx, `
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

// pendingOfCluster lists what is pending at the servers that answer, one of every shard
// at least: whoever starts does not wait for a replica that is lost.
func pendingOfCluster(ctx context.Context, c clickhouse.Config) ([]string, error) {
	l := layoutOf(c)
	there, err := answering(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := checkShards(ctx, c, there); err != nil {
		return nil, err
	}
	var pending []string
	for n, replicas := range there {
		steps, err := pendingOfShard(ctx, c, l, replicas)
		if err != nil {
			return nil, fmt.Errorf("shard %d: %w", n, err)
		}
		unnumbered, err := unnumbered(ctx, c, replicas)
		if err != nil {
			return nil, fmt.Errorf("shard %d: %w", n, err)
		}
		for _, step := range slices.Concat(steps, unnumbered) {
			pending = append(pending, shardStep(n, step))
		}
	}
	return pending, nil
}

func pendingOfShard(ctx context.Context, c clickhouse.Config, l layout, replicas []string) ([]string, error) {
	leader, followers, err := lead(ctx, c, replicas)
	if err != nil {
		return nil, err
	}
	pending, err := pendingOfServer(ctx, c.At(leader), l)
	if err != nil {
		return nil, err
	}
	for _, follower := range followers {
		steps, err := behind(ctx, c, l, leader, follower)
		if err != nil {
			return nil, fmt.Errorf("replica: %w", err)
		}
		for _, d := range steps {
			pending = append(pending, "replica "+d.name)
		}
	}
	return pending, nil
}

// answering are the replicas of each shard that answer, one at least. One that
// answers with an error is none that is lost.
func answering(ctx context.Context, c clickhouse.Config) ([][]string, error) {
	var there [][]string
	for n, replicas := range c.ShardServers() {
		var some []string
		var away []error
		for _, dsn := range replicas {
			conn, err := clickhouse.Open(ctx, c.At(dsn))
			if _, refused := errors.AsType[*driver.Exception](err); refused || ctx.Err() != nil {
				return nil, fmt.Errorf("shard %d, %s: %w", n, clickhouse.HostOf(dsn), err)
			}
			if err != nil {
				away = append(away, fmt.Errorf("%s: %w", clickhouse.HostOf(dsn), err))
				continue
			}
			some = append(some, dsn)
			if err := conn.Close(); err != nil {
				return nil, fmt.Errorf("shard %d, %s: %w", n, clickhouse.HostOf(dsn), err)
			}
		}
		if len(some) == 0 {
			return nil, fmt.Errorf("shard %d: %w", n, errors.Join(away...))
		}
		there = append(there, some)
	}
	return there, nil
}

// lead picks the replica that runs migrations: one that has run most of them, so that
// a server which is new, or was away, fills and empties nothing that others have.
func lead(ctx context.Context, c clickhouse.Config, replicas []string) (leader string, followers []string, err error) {
	var most uint
	for _, dsn := range replicas {
		version, err := versionAt(ctx, c.At(dsn))
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
func versionAt(ctx context.Context, c clickhouse.Config) (uint, error) {
	conn, err := clickhouse.Open(ctx, c)
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

// fillDimensions gives shards that are new the dimensions that the others have: the
// mirror copies only what changes. Of a row that is there twice the newest counts.
func fillDimensions(ctx context.Context, c clickhouse.Config) error {
	conn, err := clickhouse.Open(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, table := range []string{"dimension_brands", "dimension_competitors", "dimension_prompts", "dimension_topics"} {
		err := conn.EachShard(func(shard *clickhouse.Conn) error {
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
