package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	driver "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// WithMigrationLock runs do while no other process does so on this database. It is held around the migrations of all
// stores, because the runners' own locks are local to a process or a store.
func WithMigrationLock(ctx context.Context, dsn string, do func() error) (err error) {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }() // and so releases the lock
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended('answerscope_migrate', 0))"); err != nil {
		return fmt.Errorf("take migration lock: %w", err)
	}
	return do()
}

// Migrate creates the roles and runs the numbered files of migrate/ that were not run yet, each in one transaction with its
// version, so that it may be killed and run again at any point. The login must be able to create roles, or be a member of
// existing ones. progress is called after each file.
func Migrate(ctx context.Context, dsn string, progress func(version uint, name string)) error {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, mustRead("roles.sql"))
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("make postgres roles: %w", err)
	}
	m, err := migrator(dsn)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		err := m.Steps(1)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, migrate.ErrNoChange) {
			break
		}
		if err != nil {
			return errors.Join(fmt.Errorf("migrate postgres: %w", brief(err)), closed(m))
		}
		version, _, err := m.Version()
		if err != nil {
			return errors.Join(fmt.Errorf("read postgres schema version: %w", err), closed(m))
		}
		progress(version, nameOf(version))
	}
	return errors.Join(ctx.Err(), closed(m))
}

// Pending lists the migrations that Migrate would run, in order.
func Pending(ctx context.Context, dsn string) (pending []string, err error) {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	applied, err := appliedVersion(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("read postgres schema version: %w", err)
	}
	for _, name := range numbered() {
		if versionOf(name) > applied {
			pending = append(pending, strings.TrimSuffix(name, ".up.sql"))
		}
	}
	return pending, nil
}

// appliedVersion is the version of the last migration that was run, 0 before the first.
func appliedVersion(ctx context.Context, conn *pgx.Conn) (version uint, err error) {
	var begun bool
	err = conn.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT FROM pg_catalog.pg_class AS c
			JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
			WHERE n.nspname = 'private' AND c.relname = 'schema_migrations')`).Scan(&begun)
	if err != nil || !begun {
		return 0, err
	}
	if err := become(ctx, conn, ownerRole); err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM private.schema_migrations").Scan(&version)
	return version, err
}

// connect opens one connection as the login.
func connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	cfg, err := loginConfig(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	return conn, wrap(err, "open postgres")
}

func loginConfig(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse postgres dsn: %w", err)
	}
	nameApplication(cfg)
	return cfg, nil
}

func migrator(dsn string) (*migrate.Migrate, error) {
	cfg, err := loginConfig(dsn)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		return become(ctx, conn, ownerRole)
	}))
	m, err := migratorOn(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return m, nil
}

func migratorOn(db *sql.DB) (*migrate.Migrate, error) {
	source, err := iofs.New(files, "migrate")
	if err != nil {
		return nil, fmt.Errorf("read postgres migrations: %w", err)
	}
	target, err := driver.WithInstance(db, &driver.Config{MigrationsTable: `"private"."schema_migrations"`, MigrationsTableQuoted: true})
	if err != nil {
		return nil, fmt.Errorf("open postgres for migration: %w", err)
	}
	m, err := migrate.NewWithInstance("iofs", source, "postgres", &atomic{Driver: target})
	return m, wrap(err, "prepare postgres migrations")
}

// atomic writes a migration's version in the migration's own transaction (a text of several statements is one). The driver
// alone marks the version dirty before and clean after, and a run killed in between could be repaired only by hand.
type atomic struct {
	database.Driver
	next int
}

func (a *atomic) SetVersion(version int, dirty bool) error {
	if dirty {
		a.next = version
		return nil
	}
	return a.Driver.SetVersion(version, false)
}

func (a *atomic) Run(migration io.Reader) error {
	version := fmt.Sprintf("\nDELETE FROM private.schema_migrations;\nINSERT INTO private.schema_migrations (version, dirty) VALUES (%d, false);\n", a.next)
	return a.Driver.Run(io.MultiReader(migration, strings.NewReader(version)))
}

// brief is err without the whole text of the file in which it happened.
func brief(err error) error {
	if e, ok := errors.AsType[database.Error](err); ok && e.OrigErr != nil {
		return fmt.Errorf("line %d: %w", e.Line, e.OrigErr)
	}
	return err
}

func closed(m *migrate.Migrate) error {
	fromSource, fromDatabase := m.Close()
	return errors.Join(fromSource, fromDatabase)
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
