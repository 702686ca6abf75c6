package schema

import (
	"context"
	"fmt"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A server keeps the number of the shard that it was made as, counted from 1, in the comment of its list of migrations,
// which is never replicated. The addresses and the servers' remote_servers can agree and both be wrong: a shard that is put
// between others moves those behind it, and a batch that was planned for one would land on another.
const shardNumbered = "of shard "

// numbering is the step that gives a server its number.
const numbering = "number"

// number gives every server that has none its number.
func (s servers) number(ctx context.Context, progress func(step string)) error {
	for server := range s.each() {
		comment, err := shardComment(ctx, server.conn)
		if err == nil && comment == "" {
			progress(shardStep(server.shard, numbering))
			err = server.conn.Exec(ctx, fmt.Sprintf("ALTER TABLE schema_migrations MODIFY COMMENT '%s%d'", shardNumbered, server.shard+1))
		}
		if err != nil {
			return fmt.Errorf("number %s: %w", server.where(), err)
		}
	}
	return nil
}

// shardComment is "of shard 2" of a server that was made as the second shard, "" of one without a number.
func shardComment(ctx context.Context, conn *clickhouse.Conn) (comment string, err error) {
	err = conn.QueryRow(ctx, "SELECT anyIf(comment, name = 'schema_migrations') FROM system.tables WHERE database = currentDatabase()").Scan(&comment)
	if err != nil {
		err = fmt.Errorf("read the number of its shard: %w", err)
	}
	return comment, err
}

// checkNumber wants that a server was made as the shard that it is given as, or has no number yet.
func (s server) checkNumber(ctx context.Context) error {
	comment, err := shardComment(ctx, s.conn)
	if want := fmt.Sprintf("%s%d", shardNumbered, s.shard+1); err == nil && comment != "" && comment != want {
		err = fmt.Errorf("it was made as one %q and is given as one %q, counted from 1: want the shards in the order that they had, new ones behind them", comment, want)
	}
	return err
}
