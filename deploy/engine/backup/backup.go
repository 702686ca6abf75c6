// Package backup copies an installation with embedded engines into a directory, and restores it. The caller dumps and
// loads what the stores hold, since it knows their schemas.
package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
)

// The parts of a backup, each a directory.
const (
	postgresPart   = "postgres"
	clickHousePart = "clickhouse"
	kafkaPart      = "kafka"
	spoolPart      = "spool"
	analystsPart   = "analysts"
)

// Stores dump PostgreSQL into a directory, and have ClickHouse write a backup of a name.
type Stores struct {
	Postgres   func(dir string) error
	ClickHouse func(name string) error
}

// Write copies the parts of an installation one after the other, while it runs. A record that moves meanwhile is in two
// parts and never in none, and is counted once: the spool is copied before the log, which takes its records, and the
// log before the stores. An answer of a tracking job stays in PostgreSQL until the sinks continue, even if the log has
// it. The backup is complete once Seal has written its manifest.
func Write(dataDir, dir string, stores Stores, progress func(dir, part string, took time.Duration)) error {
	for _, part := range []struct {
		name string
		copy func(to string) error
	}{
		{spoolPart, func(to string) error { return copyDir(filepath.Join(dataDir, "spool"), to) }},
		{kafkaPart, func(to string) error { return copyKafka(dataDir, to) }},
		{analystsPart, func(to string) error { return copyDir(engine.ClickHouseUsersDir(dataDir), to) }},
		{postgresPart, stores.Postgres},
		{clickHousePart, func(to string) error { return writeClickHouse(dataDir, to, stores) }},
	} {
		begin, to := time.Now(), filepath.Join(dir, part.name)
		err := os.MkdirAll(to, 0o700)
		if err == nil {
			err = part.copy(to)
		}
		if err != nil {
			return err
		}
		progress(to, part.name, time.Since(begin))
	}
	return nil
}

// writeClickHouse copies what the server has written into its own directory.
func writeClickHouse(dataDir, to string, stores Stores) error {
	written := engine.BackupDir(dataDir)
	if err := os.RemoveAll(written); err != nil { // of an interrupted backup
		return err
	}
	err := stores.ClickHouse(engine.BackupName)
	if err == nil {
		err = copyDir(written, to)
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(to, ".backup")) // the server's list of files; without it, it wrote elsewhere
	}
	return errors.Join(err, os.RemoveAll(written))
}

// CheckEmpty refuses a data directory that holds an installation.
func CheckEmpty(dataDir string) error {
	for _, part := range []string{"clickhouse", "postgres", "kafka", "spool"} {
		if _, err := os.Stat(filepath.Join(dataDir, part)); !errors.Is(err, fs.ErrNotExist) {
			const format = "%s holds an installation already: want a --data-dir without one"
			return errors.Join(fmt.Errorf(format, dataDir), err)
		}
	}
	return nil
}

// RestoreFiles puts the log, the spool and the analysts into a data directory, before its engines start.
func RestoreFiles(dir, dataDir string) error {
	return errors.Join(
		copyDir(filepath.Join(dir, kafkaPart), kafkaData(dataDir)),
		copyDir(filepath.Join(dir, spoolPart), filepath.Join(dataDir, "spool")),
		copyDir(filepath.Join(dir, analystsPart), engine.ClickHouseUsersDir(dataDir)),
	)
}

// RestoreStores fills the stores of a data directory, whose engines run. PostgreSQL is loaded first, since its schema
// is migrated by the caller before.
func RestoreStores(dir, dataDir string, stores Stores) error {
	if err := stores.Postgres(filepath.Join(dir, postgresPart)); err != nil {
		return err
	}
	readable := engine.BackupDir(dataDir)
	if err := copyDir(filepath.Join(dir, clickHousePart), readable); err != nil {
		return err
	}
	if err := engine.GiveBackup(dataDir); err != nil {
		return err
	}
	return errors.Join(stores.ClickHouse(engine.BackupName), os.RemoveAll(readable))
}
