package engine

import (
	"context"
	_ "embed"
	"strings"
)

//go:embed clickhouse/runaway.sql
var runawaySQL string

// endRunaway ends the engine, which the caller starts again, if a query of another user has passed its own limits. The
// engine looks at them between blocks of rows; some functions (of polygons, of the similarity of texts) take minutes
// and gigabytes for one row, and nothing but the end of the process ends them.
func (c *ClickHouse) endRunaway(ctx context.Context) (ended bool) {
	if c.users == "" {
		return false
	}
	query, err := c.query(ctx, runawaySQL)
	if err != nil || query == "" { // an engine that does not answer is looked after by others
		return false
	}
	fields := strings.Split(query, "\t")
	c.cfg.Log.Error("restarting engine for a query that passed its limits", "engine", "clickhouse", "user", fields[0], "query_id", fields[1],
		"seconds", fields[2], "max_seconds", fields[3], "bytes", fields[4], "max_bytes", fields[5],
		"query", fields[6], "next", "if its user goes on: answerscope analyst remove")
	c.flushTrail(ctx)
	c.Kill()
	return true
}

// flushTrail writes what audit.query_log lacks of the last seconds.
func (c *ClickHouse) flushTrail(ctx context.Context) {
	if _, err := c.query(ctx, "SYSTEM FLUSH LOGS query_log"); err != nil {
		c.cfg.Log.Warn("last queries are not in audit.query_log", "engine", "clickhouse", "error", err,
			"next", "nothing: the engine ends, and begins again with the next query")
	}
}
