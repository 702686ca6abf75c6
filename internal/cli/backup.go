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
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/deploy/engine/backup"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/pipeline"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/upkeep"
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

var errNotEmbedded = errors.New("backup and restore are for embedded engines; docs/operations.md#backup says how " +
	"yours are backed up")

func (c *backupCmd) Run(ctx context.Context, p *process) error {
	if p.Embedded(service.Everything) != service.Everything {
		return usageError{errNotEmbedded}
	}
	if isWithin(c.Dir, p.Settings.DataDir) {
		return usageError{fmt.Errorf("%s is in the data directory, with which it would be lost: want a "+
			"directory elsewhere", c.Dir)}
	}
	if _, err := os.Stat(c.Dir); !errors.Is(err, fs.ErrNotExist) {
		return usageError{errors.Join(fmt.Errorf("%s exists: want a directory that does not, for the backup alone",
			c.Dir), err)}
	}
	on, err := p.connect(ctx, service.Everything)
	if err != nil {
		return err
	}
	if err := on.DB.LogAudit(ctx, "backed up", uuid.Nil, c.Dir); err != nil {
		return err
	}
	begun := time.Now().UTC()
	lock, err := stopSinks(ctx, on)
	if err != nil {
		return err
	}
	err = writeBackup(ctx, on, c.Dir)
	if err = errors.Join(err, lock.Held(ctx), lock.Release()); err == nil {
		err = backup.Seal(c.Dir, thisBuild().String(), begun)
	}
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	return p.print(c.Dir)
}

// isWithin reports whether a path is dir or below it.
func isWithin(path, dir string) bool {
	path, errPath := filepath.Abs(path)
	dir, errDir := filepath.Abs(dir)
	below, err := filepath.Rel(dir, path)
	return errors.Join(errPath, errDir, err) == nil && filepath.IsLocal(below)
}

// stopSinks takes the exclusive sink lock at a moment when no batch is planned, so that the log's positions and the
// rows of the warehouse belong together. Records appended meanwhile wait in the log.
func stopSinks(ctx context.Context, e *service.Engines) (*postgres.ExclusiveSinkLock, error) {
	lock, err := backoff.Retry(ctx, func() (*postgres.ExclusiveSinkLock, error) {
		lock, err := e.DB.LockSinksExclusive(ctx, 0, 10*time.Second)
		if err != nil {
			return nil, err
		}
		if err := consume.CheckNoPlan(ctx, e.Kafka, pipeline.Sinks(e.Settings.Kafka.TopicPrefix)); err != nil {
			return nil, errors.Join(err, lock.Release())
		}
		return lock, nil
	}, backoff.WithMaxElapsedTime(time.Minute))
	if err != nil {
		return nil, fmt.Errorf("stop inserting for the backup: %w", err)
	}
	return lock, nil
}

func writeBackup(ctx context.Context, e *service.Engines, dir string) error {
	stores := backup.Stores{
		Postgres: func(to string) error {
			return postgres.Dump(ctx, e.Owner, func(table string) (io.WriteCloser, error) {
				return os.OpenFile(filepath.Join(to, table), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			})
		},
		ClickHouse: func(name string) error {
			return clickhouse.Backup(ctx, e.Warehouse, e.ClickHouse.Database(), name)
		},
	}
	return backup.Write(e.Settings.DataDir, dir, stores, func(to, part string, took time.Duration) {
		e.Say("%s: %s in %s", to, part, took.Round(100*time.Millisecond))
	})
}

func (c *restoreCmd) Run(ctx context.Context, p *process) error {
	if p.Embedded(service.Everything) != service.Everything {
		return usageError{errNotEmbedded}
	}
	if err := backup.Check(c.Dir); err != nil {
		return err
	}
	if err := backup.CheckEmpty(p.Settings.DataDir); err != nil {
		return err
	}
	if err := c.restore(ctx, p); err != nil {
		return fmt.Errorf("restore: %w; remove %s before the next try", err, p.Settings.DataDir)
	}
	if _, err := os.Stat(p.Settings.SecretKeysFile()); errors.Is(err, fs.ErrNotExist) &&
		!p.Settings.SecretKeys.IsSet() {
		p.say("Keys of AI platforms are encrypted with the file secret-keys, which is not in a backup: put the old "+
			"one into %s before the first start, or set those keys again: answerscope provider set", p.Settings.DataDir)
	}
	return p.print(p.Settings.DataDir)
}

// restore puts the files in place, starts the engines on them and fills the stores.
func (c *restoreCmd) restore(ctx context.Context, p *process) (err error) {
	data := p.Settings.DataDir
	if err := os.MkdirAll(data, 0o711); err != nil { // an engine may run as another user
		return err
	}
	if err := engine.BeginRestore(data, c.Dir); err != nil {
		return err
	}
	p.Restores = true
	if err := backup.RestoreFiles(c.Dir, data); err != nil {
		return err
	}
	e, err := p.Open(ctx, service.Everything, true, "")
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, e.Close()); err == nil {
			err = engine.FinishRestore(data)
		}
	}()
	return backup.RestoreStores(c.Dir, data, backup.Stores{
		Postgres: func(from string) error {
			if err := restorePostgres(ctx, e, from); err != nil {
				return err
			}
			return e.OpenClients(ctx, service.Needs{ClickHouse: true})
		},
		ClickHouse: func(name string) error {
			return clickhouse.Restore(ctx, e.Warehouse, e.ClickHouse.Database(), name)
		},
	})
}

func restorePostgres(ctx context.Context, e *service.Engines, from string) error {
	migrator := e.Migrator()
	migrator.Report = func(int, int, upkeep.Step) {} // what is restored is what is said
	steps, err := migrator.Pending(ctx, service.Control)
	if err != nil {
		return err
	}
	if err := migrator.Migrate(ctx, service.Control, steps); err != nil {
		return err
	}
	cancelled, err := postgres.Load(ctx, e.Owner, func(table string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(from, table))
	})
	if cancelled > 0 {
		e.Say("%d pending deliveries and mails of the backup are cancelled: a copy does not send them", cancelled)
	}
	return err
}
