package schema

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A server is one of a cluster, with a connection of its own.
type server struct {
	clickhouse.Config     // of this server alone
	shard             int // counted from 0
	conn              *clickhouse.Conn
}

// where is the server's shard and address, for errors.
func (s server) where() string {
	return fmt.Sprintf("shard %d, %s", s.shard, clickhouse.HostOf(s.DSN))
}

// servers are those of a cluster, the replicas of each shard.
type servers [][]server

// openServers connects to every server of a cluster. With lenient, a server that does not answer is left out, as long
// as another of its shard does; one that answers with an error never is.
func openServers(ctx context.Context, c clickhouse.Config, lenient bool) (all servers, err error) {
	defer func() {
		if err != nil {
			all.close()
		}
	}()
	for n, replicas := range c.ShardServers() {
		all = append(all, nil)
		var lost []error
		for _, dsn := range replicas {
			s := server{Config: c.ForServer(dsn), shard: n}
			if s.conn, err = clickhouse.Open(ctx, s.Config); err == nil {
				all[n] = append(all[n], s)
				continue
			}
			err = fmt.Errorf("%s: %w", s.where(), err)
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
		_ = server.conn.Close() // what was asked has its own error
	}
}

// each is every server, shard by shard.
func (s servers) each() iter.Seq[server] {
	return slices.Values(slices.Concat(s...))
}

// lead puts the replica first that runs the migrations of a shard: one that has run most of them, so that a server
// which is new, or was away, fills and empties nothing that others have.
func lead(ctx context.Context, replicas []server) error {
	best, most := 0, uint(0)
	for i, s := range replicas {
		version, dirty, err := appliedVersion(ctx, s.conn)
		if err != nil {
			return fmt.Errorf("%s: %w", s.where(), err)
		}
		if dirty {
			version--
		}
		if version > most {
			best, most = i, version
		}
	}
	replicas[0], replicas[best] = replicas[best], replicas[0]
	return nil
}
