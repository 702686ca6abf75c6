package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/migration"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// backupCmd copies an installation with embedded engines.
type backupCmd struct {
	Dir string `arg:"" help:"Directory to write to; it must not exist."`
}

// restoreCmd makes an installation of a backup.
type restoreCmd struct {
	Dir string `arg:"" help:"Directory that backup has written."`
}

// The parts of a backup.
const (
	backupPostgres   = "postgres"
	backupClickHouse = "clickhouse"
	backupKafka      = "kafka"
	backupSpool      = "spool"
	backupAnalysts   = "analysts"
	backupName       = "answerscope" // of the ClickHouse's directory while it writes or reads it
)

var errNotEmbedded = errors.New("backup and restore are for embedded engines; docs/operations.md#backup says how yours are backed up")

func (c *backupCmd) Run(ctx context.Context, p *process) error {
	if p.embedded(everything) != everything {
		return usageError{errNotEmbedded}
	}
	if isWithin(c.Dir, p.settings.DataDir) {
		return usageError{fmt.Errorf("%s is in the data directory, with which it would be lost: want a directory elsewhere", c.Dir)}
	}
	if _, err := os.Stat(c.Dir); !errors.Is(err, fs.ErrNotExist) {
		return usageError{errors.Join(fmt.Errorf("%s exists: want a directory that does not, for the backup alone", c.Dir), err)}
	}
	return p.with(ctx, everything, func(ctx context.Context, on *engines) error {
		begun := time.Now().UTC()
		lock, err := on.stopSinks(ctx)
		if err != nil {
			return err
		}
		err = on.copyTo(ctx, c.Dir)
		if err = errors.Join(err, lock.Held(ctx), lock.Release()); err != nil {
			return fmt.Errorf("back up: %w", err)
		}
		if err := writeManifest(c.Dir, begun); err != nil {
			return fmt.Errorf("back up: %w", err)
		}
		return p.print(c.Dir)
	})
}

// isWithin reports whether a path is dir or below it.
func isWithin(path, dir string) bool {
	path, errPath := filepath.Abs(path)
	dir, errDir := filepath.Abs(dir)
	below, err := filepath.Rel(dir, path)
	return errors.Join(errPath, errDir, err) == nil && filepath.IsLocal(below)
}

// stopSinks takes the exclusive sink lock at a moment when no batch is planned, so that the log's positions and the
// rows of the warehouse belong together. What is appended meanwhile waits in the log.
func (e *engines) stopSinks(ctx context.Context) (*postgres.ExclusiveSinkLock, error) {
	lock, err := backoff.Retry(ctx, func() (*postgres.ExclusiveSinkLock, error) {
		lock, err := e.db.LockSinksExclusive(ctx, 0, 10*time.Second)
		if err != nil {
			return nil, err
		}
		if err := consume.CheckNoPlan(ctx, e.kafkaConnection, e.sinks()); err != nil {
			return nil, errors.Join(err, lock.Release())
		}
		return lock, nil
	}, backoff.WithMaxElapsedTime(time.Minute))
	if err != nil {
		return nil, fmt.Errorf("stop inserting for the backup: %w", err)
	}
	return lock, nil
}

// copyTo copies one part after the other. A record that moves on meanwhile is in two parts and never in none, and is
// counted once: the spool goes before the log, which takes its records, and the log before the stores. An answer of a
// tracking job stays in PostgreSQL until the sinks go on, even if the log has it.
func (e *engines) copyTo(ctx context.Context, dir string) error {
	data := e.settings.DataDir
	for _, part := range []struct {
		name string
		do   func(to string) error
	}{
		{backupSpool, func(to string) error { return engine.CopyDir(filepath.Join(data, "spool"), to) }},
		{backupKafka, func(to string) error { return engine.CopyKafka(data, to) }},
		{backupAnalysts, func(to string) error { return engine.CopyDir(engine.ClickHouseUsersDir(data), to) }},
		{backupPostgres, func(to string) error { return e.dumpPostgres(ctx, to) }},
		{backupClickHouse, func(to string) error { return e.backUpClickHouse(ctx, to) }},
	} {
		began, to := time.Now(), filepath.Join(dir, part.name)
		err := os.MkdirAll(to, 0o700)
		if err == nil {
			err = part.do(to)
		}
		if err != nil {
			return err
		}
		e.say("%s: %s in %s", to, part.name, time.Since(began).Round(100*time.Millisecond))
	}
	return nil
}

func (e *engines) dumpPostgres(ctx context.Context, to string) error {
	return postgres.Dump(ctx, e.postgresOwner, func(table string) (io.WriteCloser, error) {
		return os.OpenFile(filepath.Join(to, table), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	})
}

// backUpClickHouse has the server write where it may, and moves that.
func (e *engines) backUpClickHouse(ctx context.Context, to string) error {
	written := engine.BackupDir(e.settings.DataDir, backupName)
	if err := os.RemoveAll(written); err != nil { // of a backup that was interrupted
		return err
	}
	err := clickhouse.Backup(ctx, e.warehouse, e.clickhouseConfig.Database(), backupName)
	if err == nil {
		err = engine.CopyDir(written, to)
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(to, ".backup")) // the server's list of what there is: it wrote elsewhere if it is not there
	}
	return errors.Join(err, os.RemoveAll(written))
}

func (c *restoreCmd) Run(ctx context.Context, p *process) error {
	if p.embedded(everything) != everything {
		return usageError{errNotEmbedded}
	}
	if err := checkManifest(c.Dir); err != nil {
		return err
	}
	for _, part := range []string{"clickhouse", "postgres", "kafka", "spool"} {
		if _, err := os.Stat(filepath.Join(p.settings.DataDir, part)); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("%s holds an installation already: want a --data-dir without one", p.settings.DataDir), err)
		}
	}
	if err := c.restore(ctx, p); err != nil {
		return fmt.Errorf("restore: %w; remove %s before the next try", err, p.settings.DataDir)
	}
	if _, err := os.Stat(p.secretKeysFile()); errors.Is(err, fs.ErrNotExist) && !p.settings.SecretKeys.IsSet() {
		p.say("Keys of AI platforms are encrypted with the file secret-keys, which is not in a backup: put the old one into %s before the first start, or set those keys again: answerscope provider set", p.settings.DataDir)
	}
	return p.print(p.settings.DataDir)
}

// restore puts the files in place, starts the engines on them and fills the stores.
func (c *restoreCmd) restore(ctx context.Context, p *process) (err error) {
	data := p.settings.DataDir
	if err := os.MkdirAll(data, 0o711); err != nil { // an engine may run as another user
		return err
	}
	err = errors.Join(
		engine.RestoreKafka(filepath.Join(c.Dir, backupKafka), data),
		engine.CopyDir(filepath.Join(c.Dir, backupSpool), filepath.Join(data, "spool")),
		engine.CopyDir(filepath.Join(c.Dir, backupAnalysts), engine.ClickHouseUsersDir(data)),
	)
	if err != nil {
		return err
	}
	e, err := p.open(ctx, everything, true, "")
	if err != nil {
		return err
	}
	defer func() {
		e.disconnect()
		err = errors.Join(err, e.close())
	}()
	if err := e.restorePostgres(ctx, filepath.Join(c.Dir, backupPostgres)); err != nil {
		return err
	}
	if err := e.connect(ctx, needs{ClickHouse: true}); err != nil {
		return err
	}
	if err := engine.CopyDir(filepath.Join(c.Dir, backupClickHouse), engine.BackupDir(data, backupName)); err != nil {
		return err
	}
	if err := engine.GiveBackup(data); err != nil {
		return err
	}
	err = clickhouse.Restore(ctx, e.warehouse, e.clickhouseConfig.Database(), backupName)
	return errors.Join(err, os.RemoveAll(engine.BackupDir(data, backupName)))
}

func (e *engines) restorePostgres(ctx context.Context, from string) error {
	migrator := e.migrator()
	migrator.Report = func(int, int, migration.Step) {} // what is restored is what is said
	steps, err := migrator.Pending(ctx, onlyControl)
	if err != nil {
		return err
	}
	if err := migrator.Migrate(ctx, onlyControl, steps); err != nil {
		return err
	}
	return postgres.Load(ctx, e.postgresOwner, func(table string) (io.ReadCloser, error) { return os.Open(filepath.Join(from, table)) })
}
