package rollup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A Ledger tallies a month of one side of a rollup part by part. A part of a table
// never changes, so that a question asked again reads only what was inserted or
// merged since: little enough to ask it while sinks are held. It is not safe for
// concurrent use.
type Ledger struct {
	conn     *clickhouse.Conn
	rollup   *Rollup
	month    clickhouse.Month
	whose    Whose
	database string // of the table whose parts are read
	table    string // the rollup's own, or its source
	entries  []entry
}

// An entry is the tally of some parts.
type entry struct {
	parts []string
	tally Tally
}

// Wanted is the ledger of what the view makes of the landing rows of a month.
func (r *Rollup) Wanted(conn *clickhouse.Conn, month clickhouse.Month, whose Whose) *Ledger {
	return &Ledger{conn: conn, rollup: r, month: month, whose: whose, database: r.database, table: r.Source}
}

// Kept is the ledger of what the rollup has of a month.
func (r *Rollup) Kept(conn *clickhouse.Conn, month clickhouse.Month, whose Whose) *Ledger {
	return &Ledger{conn: conn, rollup: r, month: month, whose: whose, database: r.database, table: r.Table}
}

type part struct {
	Name string `ch:"name"`
	Rows uint64 `ch:"rows"`
}

// parts are those that the table has of the month now.
func (l *Ledger) parts(ctx context.Context) ([]part, error) {
	const active = `
SELECT name, rows
FROM system.parts
WHERE database = {database:String} AND table = {table:String} AND partition_id = {partition:String} AND active
ORDER BY rows DESC, name
SETTINGS log_comment = 'parts of month'`
	params := struct {
		Database  string `ch:"database"`
		Table     string `ch:"table"`
		Partition string `ch:"partition"`
	}{l.database, l.table, l.month.Partition()}
	var parts []part
	if err := clickhouse.Retry(ctx, func() error { return l.conn.Select(ctx, &parts, active, clickhouse.Bind(params)...) }); err != nil {
		return nil, fmt.Errorf("list parts of %s in %s: %w", l.table, l.month, err)
	}
	return parts, nil
}

// Unread is how many rows the next Tally has to read, about.
func (l *Ledger) Unread(ctx context.Context) (rows uint64, err error) {
	parts, err := l.parts(ctx)
	for _, p := range l.forget(parts) {
		rows += p.Rows
	}
	return rows, err
}

// Tally reads what it has not read before. settled is false when parts were merged
// meanwhile: their rows may be missing, and the tally must be asked for again. Rows
// that were inserted meanwhile are not in it.
func (l *Ledger) Tally(ctx context.Context, threads int) (total Tally, settled bool, err error) {
	parts, err := l.parts(ctx)
	if err != nil {
		return Tally{}, false, err
	}
	for _, some := range portions(l.forget(parts)) {
		if err := l.read(ctx, some, threads); err != nil {
			return Tally{}, false, err
		}
	}
	total = l.rollup.nothing()
	for _, e := range l.entries {
		total.add(e.tally)
	}
	// What is a part still, was one while it was read: none comes back.
	known := len(l.entries)
	if parts, err = l.parts(ctx); err != nil {
		return Tally{}, false, err
	}
	l.forget(parts)
	return total, len(l.entries) == known, nil
}

// forget drops what was read of parts that are no more, and returns those of parts
// that have not been read.
func (l *Ledger) forget(parts []part) (unread []part) {
	there := make(map[string]bool, len(parts))
	for _, p := range parts {
		there[p.Name] = true
	}
	l.entries = slices.DeleteFunc(l.entries, func(e entry) bool {
		return slices.ContainsFunc(e.parts, func(name string) bool { return !there[name] })
	})
	read := map[string]bool{}
	for _, e := range l.entries {
		for _, name := range e.parts {
			read[name] = true
		}
	}
	for _, p := range parts {
		if !read[p.Name] {
			unread = append(unread, p)
		}
	}
	return unread
}

const (
	// aloneRows is the size from which on a part is read alone, so that a small one
	// that is merged does not take it along.
	aloneRows = 200_000
	// togetherRows bounds the small parts that are read at once, and what they are
	// grouped into in memory.
	togetherRows = 1_000_000
	// togetherParts bounds the length of the question.
	togetherParts = 500
)

// portions are parts, the largest first, in groups that are read at once.
func portions(parts []part) [][]part {
	var all [][]part
	var last []part
	var rows uint64
	for _, p := range parts {
		if p.Rows >= aloneRows {
			all = append(all, []part{p})
			continue
		}
		if len(last) == togetherParts || rows+p.Rows > togetherRows {
			all = append(all, last)
			last, rows = nil, 0
		}
		last = append(last, p)
		rows += p.Rows
	}
	if len(last) > 0 {
		all = append(all, last)
	}
	return all
}

func (l *Ledger) read(ctx context.Context, parts []part, threads int) error {
	var e entry
	var quoted []string
	for _, p := range parts {
		e.parts = append(e.parts, p.Name)
		quoted = append(quoted, clickhouse.QuoteText(p.Name))
	}
	condition := ofMonth(l.month, l.whose) + " AND _part IN (" + strings.Join(quoted, ", ") + ")"
	rows, narrowed := l.rollup.kept(l.database, condition), driver.Settings(nil)
	if l.table == l.rollup.Source {
		rows, narrowed = l.rollup.wanted(condition)
	}
	var err error
	if e.tally, err = l.rollup.tally(ctx, l.conn, rows, narrowed, threads); err != nil {
		return fmt.Errorf("tally %s of %s: %w", l.month, l.rollup.Table, err)
	}
	l.entries = append(l.entries, e)
	return nil
}
