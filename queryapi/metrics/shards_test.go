package metrics

import (
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// openShards is a warehouse of two shards.
func openShards(t *testing.T) *clickhouse.Conn {
	t.Helper()
	c := clickhouse.DefaultConfig()
	c.Cluster, c.Shards = testkit.Cluster, strings.Join(testkit.ClickHouseShards(t), ";")
	return migrated(t, c)
}

// shard is where the next batch lands: each time another one.
func (s *stage) shard(t *testing.T) *clickhouse.Conn {
	t.Helper()
	s.batches++
	shard, err := s.warehouse.Shard(s.batches % s.warehouse.Shards())
	if err != nil {
		t.Fatal(err)
	}
	return shard
}
