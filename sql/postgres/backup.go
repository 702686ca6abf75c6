package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Dump copies the rows of every table, all of one moment and in the text format of COPY, into files that create opens
// by the table's name. It leaves out the salts of visitors' hashes, which must be forgotten. The login must be a
// superuser.
func Dump(ctx context.Context, dsn string, create func(table string) (io.WriteCloser, error)) error {
	return withLogin(ctx, dsn, func(conn *pgx.Conn) error {
		oneMoment := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		return pgx.BeginTxFunc(ctx, conn, oneMoment, func(tx Tx) error {
			tables, err := queryAll[string](ctx, tx, "backup_tables")
			if err != nil {
				return err
			}
			for _, table := range tables {
				file, err := create(table)
				if err == nil {
					_, err = conn.PgConn().CopyTo(ctx, file, "COPY "+table+" TO STDOUT")
					err = errors.Join(err, file.Close())
				}
				if err != nil {
					return fmt.Errorf("copy rows of %s: %w", table, err)
				}
			}
			return nil
		})
	})
}

// Load replaces the rows of every table by those that Dump copied, in one transaction and without triggers. It cancels
// the deliveries and mails that were pending, and returns their number: a copy must not send them again. The schema
// must have the version of the copy. The login must be a superuser.
func Load(
	ctx context.Context, dsn string, open func(table string) (io.ReadCloser, error),
) (cancelled int64, err error) {
	err = withLogin(ctx, dsn, func(conn *pgx.Conn) error {
		if err := checkCopiedVersion(ctx, conn, open); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, conn, func(tx Tx) error {
			tables, err := queryAll[string](ctx, tx, "backup_tables")
			if err != nil {
				return err
			}
			truncate := "SET LOCAL session_replication_role = replica; TRUNCATE " + strings.Join(tables, ", ")
			if _, err := tx.Exec(ctx, truncate); err != nil {
				return fmt.Errorf("empty the tables: %w", err)
			}
			for _, table := range tables {
				file, err := open(table)
				if err == nil {
					_, err = conn.PgConn().CopyFrom(ctx, file, "COPY "+table+" FROM STDIN")
					err = errors.Join(err, file.Close())
				}
				if err != nil {
					return fmt.Errorf("restore rows of %s: %w", table, err)
				}
			}
			if cancelled, err = queryOne[int64](ctx, tx, "cancel_pending"); err != nil {
				return err
			}
			return exec(ctx, tx, "continue_identities")
		})
	})
	return cancelled, err
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
	var want string
	if err := conn.QueryRow(ctx, "SELECT version || ' ' || files FROM "+versionTable).Scan(&want); err != nil {
		return fmt.Errorf("read postgres schema version: %w", err)
	}
	if got := strings.Join(strings.Fields(string(copied)), " "); got != want {
		return fmt.Errorf("the backup has schema version %s of PostgreSQL, this release has %s: "+
			"restore it with the release that made it, then upgrade", got, want)
	}
	return nil
}
