package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// damageInterval is how often parts are checked that were written while the disk was full.
const damageInterval = 5 * time.Second

// damage is what a full disk may have done to the parts of a ClickHouse: a merge may publish a part with an empty file.
// Every query of its table then fails, until the next start puts the parts back that it was merged from. These are
// removed after some minutes, so the parts are read at once.
type damage struct {
	since   time.Time       // about when the disk became full; zero: it is not
	checked time.Time       // when last
	sound   map[string]bool // parts that could be read
}

const (
	partsSince = "SELECT database, table, name FROM system.parts WHERE active AND modification_time >= %d ORDER BY modification_time"
	readWhole  = "SELECT * FROM `%s`.`%s` WHERE _part = '%s' SETTINGS max_threads = 1, log_queries = 0 FORMAT Null"
)

// isDamaged reads the parts that were written since the disk became full, and a last time when it has room again. It is
// true when one cannot be read for which the engine has not been started again yet.
func (c *ClickHouse) isDamaged(ctx context.Context, full bool) (damaged bool) {
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
		return false // the next look asks again
	}
	for line := range strings.Lines(list) {
		part := strings.Split(strings.TrimSpace(line), "\t")
		if len(part) != 3 || d.sound[line] || c.cfg.damaged[line] {
			continue
		}
		_, err := c.query(ctx, fmt.Sprintf(readWhole, part[0], part[1], part[2]))
		if _, answered := errors.AsType[serverError](err); !answered {
			d.sound[line] = err == nil
			continue
		}
		c.cfg.damaged[line], damaged = true, true
		c.cfg.Log.Error("part cannot be read, written while the disk was full; the engine is started again without it",
			"table", part[0]+"."+part[1], "part", part[2], "error", err,
			"next", "nothing: the parts that it was merged from are used; see detached/ of the table if rows are missing")
	}
	if !full {
		*d = damage{}
	}
	return damaged
}
