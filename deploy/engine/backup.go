package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// backupsDir is where the embedded ClickHouse writes and reads backups.
func backupsDir(clickHouseDir string) string { return filepath.Join(clickHouseDir, "data", "backups") }

// BackupDir is the directory of a backup of ClickHouse that has a name, in a data directory.
func BackupDir(dataDir, name string) string {
	return filepath.Join(backupsDir(clickHouseDir(dataDir)), name)
}

// GiveBackup lets the ClickHouse of a data directory read backups that were put there.
func GiveBackup(dataDir string) error {
	a, err := chooseAccount(clickHouseDir(dataDir), clickHouseUID)
	if err != nil || a.closed != "" { // the latter: it runs as us
		return err
	}
	return a.give(backupsDir(clickHouseDir(dataDir)))
}

// CopyKafka copies the log of a data directory while the broker appends to it. What is copied is as after a power cut:
// each file ends somewhere, and none refers to a later one. Credentials are left out.
func CopyKafka(dataDir, to string) error {
	from := filepath.Join(dataDir, "kafka", "data")
	// Offsets that groups have committed go before the records below them, and an index before what it points to.
	if err := copyFile(filepath.Join(from, "groups.log"), filepath.Join(to, "groups.log")); err != nil {
		return fmt.Errorf("copy the log: %w", err)
	}
	for _, later := range []bool{false, true} {
		err := copyFiles(from, to, func(name string) bool {
			return name != "groups.log" && name != "sasl.json" && strings.HasSuffix(name, ".dat") == later
		})
		if err != nil {
			return fmt.Errorf("copy the log: %w", err)
		}
	}
	return nil
}

// RestoreKafka puts a copied log into a data directory that has none.
func RestoreKafka(from, dataDir string) error {
	return CopyDir(from, filepath.Join(dataDir, "kafka", "data"))
}

// CopyDir copies a directory in which files come and go meanwhile; one that does not exist is empty.
func CopyDir(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	return copyFiles(from, to, func(string) bool { return true })
}

func copyFiles(from, to string, wanted func(name string) bool) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() || !wanted(entry.Name()) {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return copyFile(path, filepath.Join(to, below))
	})
}

// copyFile copies as much of a file as there is; a file that is gone has nothing.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer source.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Sync(), target.Close())
}
