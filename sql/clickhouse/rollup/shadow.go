package rollup

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A shadow is a database beside the real one with an empty copy of one of its tables.
type shadow struct {
	conn     *clickhouse.Conn
	database string // <database>_rebuild_<random>: two rebuilds at once have one each
	table    string // the copy, quoted, with its database
}

// shadowInfix stands between the name of a database and what is random in the names of its shadows.
const shadowInfix = "_rebuild_"

// newShadow copies the definition of a table. The copy is a plain MergeTree without TTL, also of a replicated table;
// its partitions fit into the table.
func newShadow(ctx context.Context, conn *clickhouse.Conn, table string) (*shadow, error) {
	var here, engine string
	err := conn.QueryRow(ctx, "SELECT database, engine_full FROM system.tables WHERE database = currentDatabase() AND name = {table:String}",
		driver.Named("table", table)).Scan(&here, &engine)
	if err != nil {
		return nil, fmt.Errorf("read engine of %s: %w", table, err)
	}
	s := &shadow{conn: conn, database: fmt.Sprintf("%s%s%08x", here, shadowInfix, rand.Uint32())}
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

// DropRebuilds drops the shadow schemas that interrupted rebuilds have left. One that is still running fails.
func DropRebuilds(ctx context.Context, conn *clickhouse.Conn) error {
	var left []string
	err := conn.QueryRow(ctx, "SELECT groupArray(name) FROM system.databases WHERE startsWith(name, currentDatabase() || {infix:String})",
		driver.Named("infix", shadowInfix)).Scan(&left)
	if err != nil {
		return fmt.Errorf("list shadow schemas: %w", err)
	}
	for _, database := range left {
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

// shadowEngine is the engine of the copy, of that of its table as the server writes it. It has no deduplication window:
// equal blocks both count.
func shadowEngine(full string) string {
	full = timeToLive.ReplaceAllString(full, " SETTINGS ")
	full = replicatedPaths.ReplaceAllString(full, "$1")
	return windowSetting.ReplaceAllString(full, "non_replicated_deduplication_window = 0")
}
