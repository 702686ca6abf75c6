package engine

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"
)

// damageInterval is the time between checks of parts that were written while the disk was full.
const damageInterval = 5 * time.Second

// damage tracks what a full disk may have done to parts: a merge may publish a part with an empty file. Every query of
// its table then fails until the next start, which restores the parts that it was merged from. These are removed after
// some minutes, so the parts are checked at once.
type damage struct {
	since   time.Time       // about when the disk became full; zero: it is not
	checked time.Time       // last time
	sound   map[string]bool // parts that could be read
}

const (
	partsSince = "SELECT database, table, name FROM system.parts WHERE active AND modification_time >= %d " +
		"ORDER BY modification_time"
	readPart = "SELECT * FROM `%s`.`%s` WHERE _part = '%s' SETTINGS max_threads = 1, log_queries = 0 FORMAT Null"
)

// markDamage reads the parts that were written since the disk became full, and a last time when it has room again, and
// marks those that are unreadable. It reports whether it marked one, so that the engine is to be restarted.
func (c *ClickHouse) markDamage(ctx context.Context, full bool) (damaged bool) {
	d := &c.damage
	switch now := time.Now(); {
	case full && d.since.IsZero():
		*d = damage{since: now.Add(-time.Minute), sound: map[string]bool{}}
	case d.since.IsZero(), full && now.Sub(d.checked) < damageInterval:
		return false
	}
	d.checked = time.Now()
	list, err := c.query(ctx, fmt.Sprintf(partsSince, d.since.Unix()))
	if err != nil {
		return false // the next check retries
	}
	for line := range strings.Lines(list) {
		part := strings.Split(strings.TrimSpace(line), "\t")
		if len(part) != 3 || d.sound[line] || c.cfg.damaged[line] {
			continue
		}
		_, err := c.query(ctx, fmt.Sprintf(readPart, part[0], part[1], part[2]))
		if _, answered := errors.AsType[serverError](err); !answered {
			d.sound[line] = err == nil
			continue
		}
		c.cfg.damaged[line], damaged = true, true
		c.cfg.Log.Error("part cannot be read, written while the disk was full; the engine is started again without it",
			"table", part[0]+"."+part[1], "part", part[2], "error", err,
			"next", "nothing: the parts that it was merged from are used; "+
				"see detached/ of the table if rows are missing")
	}
	if !full {
		*d = damage{}
	}
	return damaged
}

//go:embed clickhouse/runaway.sql
var runawaySQL string

// endRunaway ends the engine, which the caller restarts, if a query of another user has passed its own limits. The
// engine checks them between blocks of rows; some functions, such as similarities of texts, take minutes and
// gigabytes for one row, and only the end of the process stops them.
func (c *ClickHouse) endRunaway(ctx context.Context) (ended bool) {
	if c.users == "" {
		return false
	}
	query, err := c.query(ctx, runawaySQL)
	if err != nil || query == "" { // other checks handle an engine that does not answer
		return false
	}
	fields := strings.Split(query, "\t")
	c.cfg.Log.Error("restarting engine for a query that passed its limits", "engine", "clickhouse",
		"user", fields[0], "query_id", fields[1], "seconds", fields[2], "max_seconds", fields[3],
		"bytes", fields[4], "max_bytes", fields[5], "query", fields[6],
		"next", "if its user goes on: answerscope analyst remove")
	c.flushQueryLog(ctx)
	c.Kill()
	return true
}

// flushQueryLog writes the queries of the last seconds to audit.query_log.
func (c *ClickHouse) flushQueryLog(ctx context.Context) {
	if _, err := c.query(ctx, "SYSTEM FLUSH LOGS query_log"); err != nil {
		c.cfg.Log.Warn("last queries are not in audit.query_log", "engine", "clickhouse", "error", err,
			"next", "nothing: the engine ends, and begins again with the next query")
	}
}
