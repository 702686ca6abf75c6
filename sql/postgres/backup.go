package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Dump copies the rows of every table, all of one moment, in the text format of COPY, each to what create returns for
// its name. Salts of visitors' hashes are left out: what must be forgotten must not be in a copy. The login must be a
// superuser.
func Dump(ctx context.Context, dsn string, create func(table string) (io.WriteCloser, error)) error {
	return withLogin(ctx, dsn, func(conn *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			tables, err := backupTables(ctx, tx)
			if err != nil {
				return err
			}
			for _, table := range tables {
				if err := dumpTable(ctx, conn, table, create); err != nil {
					return fmt.Errorf("copy rows of %s: %w", table, err)
				}
			}
			return nil
		})
	})
}

func dumpTable(ctx context.Context, conn *pgx.Conn, table string, create func(table string) (io.WriteCloser, error)) error {
	file, err := create(table)
	if err != nil {
		return err
	}
	_, err = conn.PgConn().CopyTo(ctx, file, "COPY "+table+" TO STDOUT")
	return errors.Join(err, file.Close())
}

// Load replaces the rows of every table by those that Dump has copied, in one transaction and without triggers. The
// schema must be that of the copy. The login must be a superuser.
func Load(ctx context.Context, dsn string, open func(table string) (io.ReadCloser, error)) error {
	return withLogin(ctx, dsn, func(conn *pgx.Conn) error {
		if err := checkCopiedVersion(ctx, conn, open); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			tables, err := backupTables(ctx, tx)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = replica; TRUNCATE "+strings.Join(tables, ", ")); err != nil {
				return fmt.Errorf("empty the tables: %w", err)
			}
			for _, table := range tables {
				if err := loadTable(ctx, conn, table, open); err != nil {
					return fmt.Errorf("restore rows of %s: %w", table, err)
				}
			}
			return exec(ctx, tx, "continue_identities")
		})
	})
}

func loadTable(ctx context.Context, conn *pgx.Conn, table string, open func(table string) (io.ReadCloser, error)) error {
	file, err := open(table)
	if err != nil {
		return err
	}
	_, err = conn.PgConn().CopyFrom(ctx, file, "COPY "+table+" FROM STDIN")
	return errors.Join(err, file.Close())
}

// versionTable has one row, the version of the schema.
const versionTable = "private.schema_migrations"

func checkCopiedVersion(ctx context.Context, conn *pgx.Conn, open func(table string) (io.ReadCloser, error)) error {
	file, err := open(versionTable)
	if err != nil {
		return err
	}
	copied, err := io.ReadAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	var version int64
	if err := conn.QueryRow(ctx, "SELECT max(version) FROM "+versionTable).Scan(&version); err != nil {
		return fmt.Errorf("read postgres schema version: %w", err)
	}
	if got, want := strings.TrimSpace(string(copied)), fmt.Sprint(version); got != want {
		return fmt.Errorf("the backup has schema version %s of PostgreSQL, this release has %s: restore it with the release that made it, then upgrade", got, want)
	}
	return nil
}

type backupTable struct {
	Name string `db:"name"`
}

func backupTables(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, err := queryAll[backupTable](ctx, tx, "backup_tables")
	tables := make([]string, len(rows))
	for i, row := range rows {
		tables[i] = row.Name
	}
	return tables, err
}
