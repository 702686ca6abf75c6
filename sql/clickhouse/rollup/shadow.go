package rollup

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A shadow is a database next to the real one with an empty copy of one of its tables.
type shadow struct {
	conn     *clickhouse.Conn
	database string // <database>_rebuild_<random>, so that concurrent rebuilds have different ones
	table    string // the copy, quoted, with its database
}

// shadowInfix separates the name of a database from the random suffix of its shadows.
const shadowInfix = "_rebuild_"

// newShadow copies the definition of a table, whose replicas must all be there to take the result. The copy is a plain
// MergeTree without TTL, also of a replicated table; its partitions fit into the table.
func newShadow(ctx context.Context, conn *clickhouse.Conn, table string) (*shadow, error) {
	const engineOf = `
		SELECT database, engine_full, (
			SELECT toUInt64(sum(total_replicas - active_replicas)) FROM system.replicas
			WHERE database = currentDatabase() AND table = {table:String}) AS away
		FROM system.tables WHERE database = currentDatabase() AND name = {table:String}`
	var database, engine string
	var away uint64
	err := conn.QueryRow(ctx, engineOf, driver.Named("table", table)).Scan(&database, &engine, &away)
	if err != nil {
		return nil, fmt.Errorf("read engine of %s: %w", table, err)
	}
	if away > 0 {
		return nil, fmt.Errorf("%d replicas of %s are away: try again when they are back", away, table)
	}
	s := &shadow{conn: conn, database: fmt.Sprintf("%s%s%08x", database, shadowInfix, rand.Uint32())}
	s.table = clickhouse.QuoteName(s.database) + "." + clickhouse.QuoteName(table)
	for _, statement := range []string{
		"CREATE DATABASE " + clickhouse.QuoteName(s.database) + " ENGINE = Atomic",
		fmt.Sprintf("CREATE TABLE %s AS %s ENGINE = %s", s.table, clickhouse.QuoteName(table), shadowEngine(engine)),
	} {
		if err := conn.Exec(ctx, statement); err != nil {
			return nil, fmt.Errorf("make shadow schema %s: %w", s.database, err)
		}
	}
	return s, nil
}

func (s *shadow) drop(ctx context.Context) error { return dropDatabase(ctx, s.conn, s.database) }

func dropDatabase(ctx context.Context, conn *clickhouse.Conn, database string) error {
	if err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+clickhouse.QuoteName(database)+" SYNC"); err != nil {
		return fmt.Errorf("drop shadow schema %s: %w", database, err)
	}
	return nil
}

// DropRebuilds drops the shadow schemas of interrupted rebuilds. A rebuild that still runs fails.
func DropRebuilds(ctx context.Context, conn *clickhouse.Conn) error {
	const shadows = `
		SELECT groupArray(name) FROM system.databases WHERE startsWith(name, currentDatabase() || {infix:String})`
	var databases []string
	err := conn.QueryRow(ctx, shadows, driver.Named("infix", shadowInfix)).Scan(&databases)
	if err != nil {
		return fmt.Errorf("list shadow schemas: %w", err)
	}
	for _, database := range databases {
		if err := dropDatabase(ctx, conn, database); err != nil {
			return err
		}
	}
	return nil
}

var (
	replicatedPaths = regexp.MustCompile(`^Replicated(\w*MergeTree\(?)(?:'[^']*', '[^']*'(?:, )?)?`)
	timeToLive      = regexp.MustCompile(` TTL .*? SETTINGS `)
	windowSetting   = regexp.MustCompile(`\bnon_replicated_deduplication_window = \d+`)
)

// shadowEngine returns the engine of a table's copy. It has no deduplication window, so that equal blocks both count.
func shadowEngine(engine string) string {
	engine = timeToLive.ReplaceAllString(engine, " SETTINGS ")
	engine = replicatedPaths.ReplaceAllString(engine, "$1")
	return windowSetting.ReplaceAllString(engine, "non_replicated_deduplication_window = 0")
}

// A Staging holds lost rows of a landing table in a shadow schema, and attaches them to the table: all or none, and
// past the views, which have counted them.
type Staging struct {
	shadow *shadow
	table  string // quoted
}

// Stage creates an empty Staging at a shard.
func Stage(ctx context.Context, conn *clickhouse.Conn, landing string) (*Staging, error) {
	table := conn.Local(landing)
	s, err := newShadow(ctx, conn, table)
	return &Staging{s, clickhouse.QuoteName(table)}, err
}

// Close drops the shadow schema.
func (s *Staging) Close(ctx context.Context) error { return s.shadow.drop(ctx) }

// Database is the shadow schema, in which the table has the landing table's name.
func (s *Staging) Database() string { return s.shadow.database }

// Clear deletes all rows.
func (s *Staging) Clear(ctx context.Context) error {
	if err := s.shadow.conn.Exec(ctx, "TRUNCATE TABLE "+s.shadow.table); err != nil {
		return fmt.Errorf("clear %s: %w", s.shadow.table, err)
	}
	return nil
}

// Attach adds the rows of a month to the landing table, and waits for all replicas.
func (s *Staging) Attach(ctx context.Context, month clickhouse.Month) error {
	attach := fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION ID %s FROM %s",
		s.table, clickhouse.QuoteText(month.Partition()), s.shadow.table) + allReplicas
	if err := runToEnd(ctx, s.shadow.conn, attach); err != nil {
		return fmt.Errorf("attach rows of %s to %s: %w", month, s.table, err)
	}
	return nil
}
