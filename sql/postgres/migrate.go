package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/answerscope/answerscope/sql/migration"
)

// WithMigrationLock runs do while no other process holds the lock of this database's migrations, which covers the
// migrations of all stores.
func WithMigrationLock(ctx context.Context, dsn string, do func() error) error {
	return withLogin(ctx, dsn, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended('answerscope_migrate', 0))"); err != nil {
			return fmt.Errorf("take migration lock: %w", err)
		}
		return do()
	})
}

// Migrate creates the roles and runs the pending files of migrate/, each in one transaction with its version, so that
// it may be killed and run again at any point. The login must be able to create roles, or be a member of existing ones.
// progress is called after each file.
func Migrate(ctx context.Context, dsn string, progress func(version uint, name string)) error {
	return migrateTo(ctx, dsn, math.MaxUint, progress)
}

// migrateTo is Migrate up to a version.
func migrateTo(ctx context.Context, dsn string, last uint, progress func(version uint, name string)) error {
	return withLogin(ctx, dsn, func(conn *pgx.Conn) error {
		if _, err := pendingMigrations(ctx, conn); err != nil { // before the first change
			return err
		}
		if _, err := conn.Exec(ctx, "RESET ROLE; "+mustRead("roles.sql")); err != nil {
			return fmt.Errorf("make postgres roles: %w", err)
		}
		if err := become(ctx, conn, ownerRole); err != nil {
			return err
		}
		const versions = `
			CREATE TABLE IF NOT EXISTS private.schema_migrations (version bigint NOT NULL PRIMARY KEY);
			ALTER TABLE private.schema_migrations ADD COLUMN IF NOT EXISTS files text
				CONSTRAINT schema_migrations_files_length CHECK (char_length(files) <= 64);
			GRANT USAGE ON SCHEMA private TO answerscope_service;
			GRANT SELECT ON private.schema_migrations TO answerscope_service`
		if _, err := conn.Exec(ctx, versions); err != nil {
			return fmt.Errorf("make table of postgres migrations: %w", err)
		}
		pending, err := pendingMigrations(ctx, conn)
		if err != nil {
			return err
		}
		for _, m := range pending {
			if m.Version > last {
				return nil
			}
			if m.Name == queueMigration {
				if err := migrateQueue(ctx, dsn); err != nil {
					return err
				}
			}
			if err := run(ctx, conn, m); err != nil {
				return fmt.Errorf("migrate postgres: %w", err)
			}
			progress(m.Version, m.Name)
		}
		if len(pending) == 0 {
			return nil
		}
		if _, err := conn.Exec(ctx, "NOTIFY pgrst, 'reload schema'"); err != nil { // for a running /rest/v1
			return fmt.Errorf("announce postgres migrations: %w", err)
		}
		return nil
	})
}

// ErrNewer is returned for a schema that a newer release has migrated.
var ErrNewer = errors.New("a newer release has migrated it")

// Pending lists the migrations that Migrate would run, in order. The login may be one that cannot migrate.
func Pending(ctx context.Context, dsn string) (names []string, err error) {
	err = withLogin(ctx, dsn, func(conn *pgx.Conn) error {
		pending, err := pendingMigrations(ctx, conn)
		for _, m := range pending {
			names = append(names, m.Name)
		}
		return err
	})
	return names, err
}

// withLogin runs do with one connection as the login, without a role of ours.
func withLogin(ctx context.Context, dsn string, do func(conn *pgx.Conn) error) (err error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("parse postgres dsn: %w", err)
	}
	nameApplication(cfg, "migrate")
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, connectTimeout)
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("open postgres: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }() // which releases its locks
	return do(conn)
}

// pendingMigrations returns the migrations after the last that was run, in order.
func pendingMigrations(ctx context.Context, conn *pgx.Conn) (pending []migration.File, err error) {
	applied, err := readApplied(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("read postgres schema version: %w", err)
	}
	newest := migration.File{}
	for _, newest = range migration.Files(files) {
		switch {
		case newest.Version > applied.version:
			pending = append(pending, newest)
		case newest.Version == applied.version && newest.Digest != applied.files && applied != lastWithoutFiles:
			return nil, fmt.Errorf("postgres: %w", migration.ErrOtherFiles)
		}
	}
	if applied.version > newest.Version {
		err = fmt.Errorf("postgres has schema version %d, and this binary knows %d: %w", applied.version,
			newest.Version, ErrNewer)
	}
	return pending, err
}

// An appliedSchema is a database's record of its schema.
type appliedSchema struct {
	version uint   // 0 before the first migration
	files   string // digest of the files that made it; "" up to version 42
	schema  string // digest of its columns and functions where files is ""
}

// lastWithoutFiles is the schema of the files as they are; other databases of that version come from builds before it.
var lastWithoutFiles = appliedSchema{version: 42, schema: "8fceb2993d9da6a35e02d36191510a6b"}

func readApplied(ctx context.Context, conn *pgx.Conn) (applied appliedSchema, err error) {
	var isMigrated, isOwner bool
	err = conn.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT FROM pg_catalog.pg_class AS c
			JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
			WHERE n.nspname = 'private' AND c.relname = 'schema_migrations'),
		EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = $1 AND pg_has_role(oid, 'MEMBER'))`,
		ownerRole).Scan(&isMigrated, &isOwner)
	if err != nil || !isMigrated {
		return applied, err
	}
	role := serviceRole // of a login that cannot migrate
	if isOwner {
		role = ownerRole
	}
	if err := become(ctx, conn, role); err != nil {
		return applied, err
	}
	err = conn.QueryRow(ctx, `SELECT coalesce(max(version), 0), coalesce(max(to_jsonb(m) ->> 'files'), '')
		FROM private.schema_migrations AS m`).Scan(&applied.version, &applied.files)
	if err != nil || applied.version == 0 || applied.files != "" {
		return applied, err
	}
	// Functions of extensions and of the queue have other versions elsewhere.
	return applied, conn.QueryRow(ctx, `
		SELECT md5(string_agg(part, E'\n' ORDER BY part COLLATE "C"))
		FROM (SELECT n.nspname || '.' || p.proname || ' ' || p.prosrc AS part
			  FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
			  WHERE n.nspname IN ('private', 'public') AND p.proname !~ '^river_'
				AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.objid = p.oid AND d.deptype = 'e')
			  UNION ALL
			  SELECT n.nspname || '.' || c.relname || '.' || a.attname || ' ' || t.typname
			  FROM pg_catalog.pg_attribute AS a
			  JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
			  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
			  JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
			  WHERE n.nspname IN ('private', 'public') AND c.relkind IN ('r', 'v') AND c.relname !~ '^river_'
				AND c.relname <> 'schema_migrations' AND a.attnum > 0 AND NOT a.attisdropped) AS parts`).
		Scan(&applied.schema)
}

// run runs a migration and records its version, in one transaction.
func run(ctx context.Context, conn *pgx.Conn, m migration.File) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, m.Text); err != nil {
			return located(err, m.Name, m.Text)
		}
		if _, err := tx.Exec(ctx, "DELETE FROM private.schema_migrations"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO private.schema_migrations (version, files) VALUES ($1, $2)",
			int64(m.Version), m.Digest)
		return err
	})
}

// located adds to an error the line of the text where it occurred, if the server reports a position.
func located(err error, name, text string) error {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || refused.Position == 0 {
		return fmt.Errorf("%s: %w", name, err)
	}
	before := string([]rune(text)[:refused.Position-1])
	return fmt.Errorf("%s, line %d: %w", name, 1+strings.Count(before, "\n"), err)
}

// QueueSchema is the schema of River's tables.
const QueueSchema = "private"

// queueMigration grants our processes the use of River's tables, which must exist before it.
const queueMigration = "0027_queue"

// migrateQueue migrates River's tables. River's migrator records which of its migrations were run, so it may be killed
// and run again at any point.
func migrateQueue(ctx context.Context, dsn string) error {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("parse postgres dsn: %w", err)
	}
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error { return become(ctx, conn, ownerRole) }
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("open postgres: %w", err)
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{
		Schema: QueueSchema, Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	return wrap(err, "migrate the queue")
}
