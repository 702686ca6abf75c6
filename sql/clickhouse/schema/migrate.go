// Package schema migrates ClickHouse, one server or every server of a cluster: the numbered migrations, then the
// functions and the named views of this binary. It also writes the files of the server's configuration that define
// analysts, who read the tables and views of the schema, each the rows of one organization.
package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/golang-migrate/migrate/v4"
	target "github.com/golang-migrate/migrate/v4/database/clickhouse"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/migration"
)

// ErrNewer is returned for a schema that a newer release has migrated. Its functions and views stay unchanged.
var ErrNewer = errors.New("a newer release has migrated it")

// Migrate runs the numbered files of migrate/, rebuilds the rollups whose view has changed, then defines the functions
// and views of function/ and query/. It can be killed and repeated at any point. Concurrent runs would race: the caller
// holds the migration lock of PostgreSQL, since the driver's lock is local to the process.
func Migrate(ctx context.Context, c clickhouse.Config, progress func(step string)) error {
	if c.Shards != "" {
		return migrateCluster(ctx, c, progress)
	}
	return migrateServer(ctx, c, layout{}, progress)
}

// migrateServer migrates one server, alone or of a cluster.
func migrateServer(ctx context.Context, c clickhouse.Config, l layout, progress func(step string)) error {
	conn, err := clickhouse.Open(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, _, err := appliedVersion(ctx, conn); err != nil { // before the first change
		return err
	}
	if err := runNumbered(c, l, progress); err != nil {
		return err
	}
	if err := recordFiles(ctx, conn); err != nil {
		return err
	}
	if err := rebuildMarked(ctx, conn, progress); err != nil {
		return err
	}
	return define(ctx, conn, l, progress)
}

// define creates outdated functions and views.
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

// Pending lists the steps of Migrate that a process must wait for, in order; none if the schema is current.
func Pending(ctx context.Context, c clickhouse.Config) ([]string, error) {
	return pendingSteps(ctx, c, false)
}

// PendingGrowth is Pending with the steps that let a cluster grow.
func PendingGrowth(ctx context.Context, c clickhouse.Config) ([]string, error) {
	return pendingSteps(ctx, c, true)
}

func pendingSteps(ctx context.Context, c clickhouse.Config, growing bool) (pending []string, err error) {
	if c.Shards != "" {
		return pendingOfCluster(ctx, c, growing)
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
		pending, err = stepsOfServer(ctx, conn, l)
		return err
	})
	return pending, err
}

func stepsOfServer(ctx context.Context, conn *clickhouse.Conn, l layout) ([]string, error) {
	version, dirty, err := appliedVersion(ctx, conn)
	if err != nil {
		return nil, err
	}
	if err := checkKnown(version); err != nil {
		return nil, err
	}
	var pending []string
	for _, name := range migrationNames() {
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
	// The driver splits a file at every semicolon, also in quotes and comments: a test allows them only after
	// statements.
	config := target.Config{MigrationsTableEngine: "MergeTree", MultiStatementEnabled: true}
	database, err := target.WithInstance(db, &config)
	if err != nil {
		return errors.Join(fmt.Errorf("open clickhouse for migration: %w", err), db.Close())
	}
	m, err := migrate.NewWithInstance("iofs", layoutSource{source, l}, "clickhouse", database)
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
	for _, name := range migrationNames() {
		v := versionOf(name)
		if v < version || v == version && !dirty {
			before = int(v)
			continue
		}
		if dirty { // it was interrupted, and runs again from its start: every statement can be repeated
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

// migrationNames lists the migrations in their order.
func migrationNames() []string { return fileNames("migrate/*.up.sql", "") }

// checkKnown refuses a version that this binary does not have.
func checkKnown(version uint) error {
	names := migrationNames()
	if newest := versionOf(names[len(names)-1]); version > newest {
		return fmt.Errorf("clickhouse has schema version %d, and this binary knows %d: %w", version, newest, ErrNewer)
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

// appliedVersion reads the last migration and whether it was run by half. The error is migration.ErrOtherFiles if other
// files have made the schema.
func appliedVersion(ctx context.Context, conn *clickhouse.Conn) (version uint, dirty bool, err error) {
	const question = `
		SELECT count(), max(comment) FROM system.columns
		WHERE database = currentDatabase() AND table = 'schema_migrations' AND name = 'version'`
	var exists uint64
	var digest string
	err = conn.QueryRow(ctx, question).Scan(&exists, &digest)
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
	// A run that was killed, or a replica that followed, has the digest of earlier files. Newer files are unknown.
	all := migration.Files(files)
	isOurs := func(m migration.File) bool { return m.Digest == digest }
	if digest != "" && uint(v) <= all[len(all)-1].Version && !slices.ContainsFunc(all, isOurs) {
		return 0, false, fmt.Errorf("clickhouse: %w", migration.ErrOtherFiles)
	}
	return uint(v), d == 1, nil
}

// recordFiles writes down, beside the version, which files have made the schema: golang-migrate's table has no column
// for it, and its comment is the server's number.
func recordFiles(ctx context.Context, conn *clickhouse.Conn) error {
	all := migration.Files(files)
	err := conn.Exec(ctx, "ALTER TABLE schema_migrations COMMENT COLUMN version '"+all[len(all)-1].Digest+"'")
	if err != nil {
		return fmt.Errorf("record the files of clickhouse's migrations: %w", err)
	}
	return nil
}
