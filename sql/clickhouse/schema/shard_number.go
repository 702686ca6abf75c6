package schema

import (
	"context"
	"errors"
	"fmt"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A server remembers which shard it was made as, counted from 1, in the comment of its
// list of migrations, which is its own and never replicated. The addresses and the
// servers' remote_servers can agree and both be wrong: a shard that is put between
// others moves those behind it, and what was planned for one lands on another.
const shardNumbered = "of shard "

// numbering is the step that gives a server its number.
const numbering = "number"

// numberShards writes down of every server that has no number yet which shard it is.
func numberShards(ctx context.Context, c clickhouse.Config, progress func(step string)) error {
	for n, replicas := range c.ShardServers() {
		for _, dsn := range replicas {
			done, err := numberShard(ctx, c.At(dsn), n+1)
			if err != nil {
				return fmt.Errorf("number shard %d, %s: %w", n, clickhouse.HostOf(dsn), err)
			}
			if done {
				progress(shardStep(n, numbering))
			}
		}
	}
	return nil
}

func numberShard(ctx context.Context, c clickhouse.Config, number int) (done bool, err error) {
	conn, err := clickhouse.Open(ctx, c)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	comment, err := shardComment(ctx, conn)
	if err != nil || comment != "" {
		return false, err
	}
	err = conn.Exec(ctx, fmt.Sprintf("ALTER TABLE schema_migrations MODIFY COMMENT '%s%d'", shardNumbered, number))
	return err == nil, err
}

// unnumbered is a step for each replica that has no number yet: one that was given its
// tables by a migration that did not come to its end.
func unnumbered(ctx context.Context, c clickhouse.Config, replicas []string) (steps []string, err error) {
	for _, dsn := range replicas {
		conn, err := clickhouse.Open(ctx, c.At(dsn))
		if err != nil {
			return nil, err
		}
		comment, err := shardComment(ctx, conn)
		if err := errors.Join(err, conn.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", clickhouse.HostOf(dsn), err)
		}
		if comment == "" {
			steps = append(steps, numbering)
		}
	}
	return steps, nil
}

// shardComment is "of shard 2" of a server that was made as the second shard, "" of
// one that has no number yet.
func shardComment(ctx context.Context, conn *clickhouse.Conn) (comment string, err error) {
	err = conn.QueryRow(ctx, "SELECT anyIf(comment, name = 'schema_migrations') FROM system.tables WHERE database = currentDatabase()").Scan(&comment)
	if err != nil {
		err = fmt.Errorf("read which shard it is: %w", err)
	}
	return comment, err
}

// checkNumber wants that a server was made as the shard that it is given as, counted
// from 1, or as none yet.
func checkNumber(ctx context.Context, conn *clickhouse.Conn, number int) error {
	comment, err := shardComment(ctx, conn)
	if want := fmt.Sprintf("%s%d", shardNumbered, number); err == nil && comment != "" && comment != want {
		err = fmt.Errorf("it was made as one %q and is given as one %q, counted from 1: want the shards in the order that they had, new ones behind them", comment, want)
	}
	return err
}
