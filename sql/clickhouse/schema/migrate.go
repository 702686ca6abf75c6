package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/golang-migrate/migrate/v4"
	target "github.com/golang-migrate/migrate/v4/database/clickhouse"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

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
	return pendingOfServer(ctx, c, layout{})
}

func pendingOfServer(ctx context.Context, c clickhouse.Config, l layout) (pending []string, err error) {
	conn, err := clickhouse.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
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
	db, err := clickhouse.OpenDB(c)
	if err != nil {
		return err
	}
	m, err := migrator(db, l)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	defer m.Close() // closes db too
	if err := stepBack(m); err != nil {
		return err
	}
	for {
		switch err := m.Steps(1); {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, migrate.ErrNoChange):
			return nil
		case err != nil:
			return fmt.Errorf("migrate clickhouse: %w", err)
		}
		version, _, err := m.Version()
		if err != nil {
			return fmt.Errorf("migrate clickhouse: read version: %w", err)
		}
		progress(nameOf(version))
	}
}

func migrator(db *sql.DB, l layout) (*migrate.Migrate, error) {
	source, err := iofs.New(files, "migrate")
	if err != nil {
		return nil, fmt.Errorf("read clickhouse migrations: %w", err)
	}
	// The driver splits a file at every semicolon, in quotes and comments too:
	// a test holds our files to semicolons that end statements.
	database, err := target.WithInstance(db, &target.Config{MigrationsTableEngine: "MergeTree", MultiStatementEnabled: true})
	if err != nil {
		return nil, fmt.Errorf("open clickhouse for migration: %w", err)
	}
	m, err := migrate.NewWithInstance("iofs", laidOut{source, l}, "clickhouse", database)
	if err != nil {
		return nil, fmt.Errorf("prepare clickhouse migrations: %w", err)
	}
	return m, nil
}

// stepBack steps back from a migration that did not end. Every statement of ours
// can be run twice, so that the file can be run again from its start.
func stepBack(m *migrate.Migrate) error {
	version, dirty, err := m.Version()
	if errors.Is(err, migrate.ErrNilVersion) || err == nil && !dirty {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read clickhouse schema version: %w", err)
	}
	before := -1 // golang-migrate's word for none
	for _, name := range numbered() {
		if v := versionOf(name); v < version {
			before = int(v)
		}
	}
	if err := m.Force(before); err != nil {
		return fmt.Errorf("step back from half a migration %d: %w", version, err)
	}
	return nil
}

func numbered() []string {
	names, err := fs.Glob(files, "migrate/*.up.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, name := range names {
		names[i] = path.Base(name)
	}
	slices.Sort(names)
	return names
}

func versionOf(name string) uint {
	m, err := source.Parse(name)
	if err != nil {
		panic(err) // a misnamed embedded file is a build mistake
	}
	return m.Version
}

func nameOf(version uint) string {
	for _, name := range numbered() {
		if versionOf(name) == version {
			return strings.TrimSuffix(name, ".up.sql")
		}
	}
	return fmt.Sprint(version)
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
