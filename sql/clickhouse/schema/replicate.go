package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// replications are queries for the statements that make a shard's tables replicated where they are, with their rows.
// Each works on the tables as they are then, so that a killed run goes on.
var replications = []string{
	// A detached table is one between the two statements.
	`SELECT 'DETACH TABLE IF EXISTS ' || name || ' SYNC; ATTACH TABLE ' || name || ' AS REPLICATED' AS step
	FROM (
		SELECT name FROM system.tables
		WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree') AND NOT startsWith(engine, 'Replicated')
		UNION DISTINCT
		SELECT table FROM system.detached_tables WHERE database = currentDatabase()
	)
	WHERE endsWith(name, '_local') OR startsWith(name, 'dimension_')
	ORDER BY name`,
	`SELECT 'SYSTEM RESTORE REPLICA ' || table AS step
	FROM system.replicas
	WHERE database = currentDatabase() AND is_readonly
	ORDER BY table`,
	// A replicated table has settings of its own: see layout.table.
	`SELECT 'ALTER TABLE ' || name || ' MODIFY SETTING replicated_max_ratio_of_wrong_parts = 1'
		|| if(match(engine_full, ' non_replicated_deduplication_window ='),
			', replicated_deduplication_window = '
			|| extract(engine_full, 'non_replicated_deduplication_window = ([0-9]+)')
			|| ', replicated_deduplication_window_seconds = 604800', '') AS step
	FROM system.tables
	WHERE database = currentDatabase() AND startsWith(engine, 'Replicated')
		AND (endsWith(name, '_local') OR startsWith(name, 'dimension_'))
		AND NOT match(engine_full, 'replicated_max_ratio_of_wrong_parts')
	ORDER BY name`,
}

// Replicate makes the tables of a cluster that began without replicas replicated, if its addresses have some now. lock
// keeps the sinks of a shard from inserting until release. It may be killed and run again at any point.
func Replicate(
	ctx context.Context, c clickhouse.Config, lock func(shard int) (release func() error, err error),
	progress func(step string),
) error {
	if !layoutOf(c).replicated {
		return nil
	}
	all, err := openServers(ctx, c, false)
	if err != nil {
		return err
	}
	defer all.close()
	if err := all.checkMacros(ctx); err != nil {
		return err
	}
	for server := range all.each() {
		if err := server.replicate(ctx, lock, progress); err != nil {
			return fmt.Errorf("make the tables of %s replicated: %w", server, err)
		}
	}
	return nil
}

func (s server) replicate(
	ctx context.Context, lock func(shard int) (release func() error, err error), progress func(step string),
) (err error) {
	var pending uint64
	for _, steps := range replications {
		var n uint64
		if err := s.conn.QueryRow(ctx, "SELECT count() FROM ("+steps+")").Scan(&n); err != nil {
			return err
		}
		pending += n
	}
	if pending == 0 {
		return nil
	}
	// A server that refuses this, for want of Keeper or a macro, would refuse a table that is detached.
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS replication_test (n UInt8) ENGINE = " +
			"ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/test', '{replica}') ORDER BY n",
		"DROP TABLE replication_test SYNC",
	} {
		if err := s.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	release, err := lock(s.shard)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	for _, query := range replications {
		var steps []string
		if err := s.conn.QueryRow(ctx, "SELECT groupArray(step) FROM ("+query+")").Scan(&steps); err != nil {
			return err
		}
		for _, step := range steps {
			progress(shardStep(s.shard, step))
			for statement := range strings.SplitSeq(step, "; ") {
				if err := s.conn.Exec(ctx, statement); err != nil {
					return fmt.Errorf("%s: %w", statement, err)
				}
			}
		}
	}
	return nil
}
