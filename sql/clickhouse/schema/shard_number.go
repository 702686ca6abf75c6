package schema

import (
	"context"
	"fmt"
)

// A server keeps the number of the shard that it was made as, counted from 1, in the comment of its list of migrations,
// which is never replicated. The addresses and the servers' remote_servers can agree and both be wrong: a shard that is
// put between others moves those behind it, and a batch that was planned for one would land on another.
const shardNumbered = "of shard "

// numbering is the step that gives a server its number.
const numbering = "number"

// number gives every server that has none its number.
func (s servers) number(ctx context.Context, progress func(step string)) error {
	for server := range s.each() {
		numbered, err := server.numbered(ctx)
		if err == nil && !numbered {
			progress(shardStep(server.shard, numbering))
			err = server.conn.Exec(ctx, "ALTER TABLE schema_migrations MODIFY COMMENT '"+server.comment()+"'")
		}
		if err != nil {
			return fmt.Errorf("number %s: %w", server.where(), err)
		}
	}
	return nil
}

// comment is "of shard 2" for a server of the second shard.
func (s server) comment() string { return fmt.Sprintf("%s%d", shardNumbered, s.shard+1) }

// numbered reports whether a server has a number. It is an error if that is of another shard than the server is given
// in.
func (s server) numbered(ctx context.Context) (bool, error) {
	var comment string
	err := s.conn.QueryRow(ctx, "SELECT anyIf(comment, name = 'schema_migrations') FROM system.tables WHERE database = currentDatabase()").Scan(&comment)
	if err != nil {
		return false, fmt.Errorf("read the number of %s: %w", s.where(), err)
	}
	if comment != "" && comment != s.comment() {
		return true, fmt.Errorf("%s was made as one %q and is given as one %q, counted from 1: want the shards in the order that they had, new ones behind them",
			s.where(), comment, s.comment())
	}
	return comment != "", nil
}
