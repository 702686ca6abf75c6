package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func kafkaData(dataDir string) string { return filepath.Join(dataDir, "kafka", "data") }

// copyKafka copies the log while the broker appends to it. The copy is as after a power cut: each file ends somewhere,
// and none refers to a later one. Credentials are left out.
func copyKafka(dataDir, to string) error {
	from := kafkaData(dataDir)
	// Committed offsets are copied before the records below them, and an index before the records that it points to.
	if err := copyFile(filepath.Join(from, "groups.log"), filepath.Join(to, "groups.log")); err != nil {
		return fmt.Errorf("copy the log: %w", err)
	}
	for _, records := range []bool{false, true} {
		err := copyFiles(from, to, func(name string) bool {
			return name != "groups.log" && name != "sasl.json" && strings.HasSuffix(name, ".dat") == records
		})
		if err != nil {
			return fmt.Errorf("copy the log: %w", err)
		}
	}
	return nil
}

// copyDir copies a directory in which files come and go meanwhile; one that does not exist is empty.
func copyDir(from, to string) error {
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
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return copyFile(path, filepath.Join(to, name))
	})
}

// copyFile copies the bytes that a file has at the moment; a file that has been removed has none.
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
