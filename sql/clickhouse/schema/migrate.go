package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/golang-migrate/migrate/v4"
	target "github.com/golang-migrate/migrate/v4/database/clickhouse"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// ErrNewer is returned for a schema that a newer release has migrated. Its functions and views are left as they are.
var ErrNewer = errors.New("a newer release has migrated it")

// Migrate brings the schema up: the numbered files of migrate/, then the rollups whose view a migration has changed are
// rebuilt, then function/ and query/ as they are in this binary. It may be killed and run again at any point. Two runs
// at once would race: the caller holds the migration lock of Postgres, since the driver's own lock is local to the
// process.
func Migrate(ctx context.Context, c clickhouse.Config, progress func(step string)) error {
	if c.Shards != "" {
		return migrateCluster(ctx, c, progress)
	}
	return migrateServer(ctx, c, layout{}, progress)
}

// migrateServer brings up one server, alone or of a cluster.
func migrateServer(ctx context.Context, c clickhouse.Config, l layout, progress func(step string)) error {
	if err := runNumbered(c, l, progress); err != nil {
		return err
	}
	conn, err := clickhouse.Open(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := rebuildMarked(ctx, conn, progress); err != nil {
		return err
	}
	return define(ctx, conn, l, progress)
}

// define gives a server the functions and views that it should have.
func define(ctx context.Context, conn *clickhouse.Conn, l layout, progress func(step string)) error {
	outdated, err := outdatedDefinitions(ctx, conn, l)
	if err != nil {
		return err
	}
	for _, d := range outdated {
		progress(d.name)
		if err := conn.Exec(ctx, d.statement); err != nil {
			return fmt.Errorf("define %s: %w", d.name, err)
		}
	}
	return nil
}

// Pending lists what Migrate would do, in order; nothing when all is up.
func Pending(ctx context.Context, c clickhouse.Config) (pending []string, err error) {
	if c.Shards != "" {
		return pendingOfCluster(ctx, c)
	}
	conn, err := clickhouse.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return pendingOfServer(ctx, conn, layout{})
}

func pendingOfServer(ctx context.Context, conn *clickhouse.Conn, l layout) (pending []string, err error) {
	err = clickhouse.Retry(ctx, func() error {
		pending, err = lacking(ctx, conn, l)
		return err
	})
	return pending, err
}

func lacking(ctx context.Context, conn *clickhouse.Conn, l layout) ([]string, error) {
	version, dirty, err := appliedVersion(ctx, conn)
	if err != nil {
		return nil, err
	}
	if err := checkKnown(version); err != nil {
		return nil, err
	}
	var pending []string
	for _, name := range numbered() {
		if v := versionOf(name); v > version || v == version && dirty {
			pending = append(pending, strings.TrimSuffix(name, ".up.sql"))
		}
	}
	marked, err := markedForRebuild(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, table := range marked {
		pending = append(pending, rebuildStep+table.Name)
	}
	outdated, err := outdatedDefinitions(ctx, conn, l)
	if err != nil {
		return nil, err
	}
	for _, d := range outdated {
		pending = append(pending, d.name)
	}
	return pending, nil
}

func runNumbered(c clickhouse.Config, l layout, progress func(step string)) error {
	source, err := iofs.New(files, "migrate")
	if err != nil {
		return fmt.Errorf("read clickhouse migrations: %w", err)
	}
	db, err := clickhouse.OpenDB(c)
	if err != nil {
		return err
	}
	// The driver splits a file at every semicolon, in quotes and comments too: a test allows them only after statements.
	database, err := target.WithInstance(db, &target.Config{MigrationsTableEngine: "MergeTree", MultiStatementEnabled: true})
	if err != nil {
		return errors.Join(fmt.Errorf("open clickhouse for migration: %w", err), db.Close())
	}
	m, err := migrate.NewWithInstance("iofs", laidOut{source, l}, "clickhouse", database)
	if err != nil {
		return errors.Join(fmt.Errorf("prepare clickhouse migrations: %w", err), db.Close())
	}
	defer m.Close() // closes db too
	version, dirty, err := m.Version()
	if err != nil && !errors.Is(err, migrate.ErrNilVersion) {
		return fmt.Errorf("read clickhouse schema version: %w", err)
	}
	if err := checkKnown(version); err != nil {
		return err
	}
	before := -1 // none
	for _, name := range numbered() {
		v := versionOf(name)
		if v < version || v == version && !dirty {
			before = int(v)
			continue
		}
		if dirty { // it did not end, and is run again from its start: every statement can be run twice
			if err := m.Force(before); err != nil {
				return fmt.Errorf("step back from half a migration %d: %w", version, err)
			}
			dirty = false
		}
		if err := m.Migrate(v); err != nil {
			return fmt.Errorf("migrate clickhouse: %w", err)
		}
		progress(strings.TrimSuffix(name, ".up.sql"))
	}
	return nil
}

// numbered are the names of the migrations, in their order.
func numbered() []string { return fileNames("migrate/*.up.sql", "") }

// checkKnown refuses a version that this binary does not have.
func checkKnown(version uint) error {
	names := numbered()
	if known := versionOf(names[len(names)-1]); version > known {
		return fmt.Errorf("clickhouse has schema version %d, and this binary knows %d: %w", version, known, ErrNewer)
	}
	return nil
}

func versionOf(name string) uint {
	m, err := source.Parse(name)
	if err != nil {
		panic(err) // a misnamed embedded file is a build mistake
	}
	return m.Version
}

func appliedVersion(ctx context.Context, conn *clickhouse.Conn) (version uint, dirty bool, err error) {
	var exists uint64
	err = conn.QueryRow(ctx, "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'").Scan(&exists)
	if err != nil || exists == 0 {
		return 0, false, err
	}
	var v int64
	var d uint8
	err = conn.QueryRow(ctx, "SELECT version, dirty FROM schema_migrations ORDER BY sequence DESC LIMIT 1").Scan(&v, &d)
	if errors.Is(err, sql.ErrNoRows) || v < 0 {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("read clickhouse schema version: %w", err)
	}
	return uint(v), d == 1, nil
}
