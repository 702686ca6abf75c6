package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// backupManifest is written last: a backup without it is not whole.
const backupManifest = "backup.json"

// manifest says what a backup is, with the SHA-256 in hex of each of its files, by its path below the directory.
type manifest struct {
	Format int               `json:"format"`
	Build  string            `json:"build"`
	At     time.Time         `json:"at"`
	Files  map[string]string `json:"files"`
}

// writeManifest makes what was written to dir a whole backup.
func writeManifest(dir string, begun time.Time) error {
	files, err := checksums(dir)
	if err != nil {
		return err
	}
	text, err := json.Marshal(manifest{1, thisBuild().String(), begun, files})
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(dir, backupManifest), append(text, '\n'))
}

// checkManifest refuses what is no whole backup, of another format, or not as backup wrote it.
func checkManifest(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, backupManifest))
	var of manifest
	if err == nil {
		err = json.Unmarshal(text, &of)
	}
	if err != nil {
		return fmt.Errorf("%s is no whole backup: %w", dir, err)
	}
	if of.Format != 1 {
		return fmt.Errorf("%s has format %d, this release reads 1: restore it with the release that made it (%s)", dir, of.Format, of.Build)
	}
	files, err := checksums(dir)
	if err != nil {
		return err
	}
	delete(files, backupManifest)
	for _, path := range slices.Sorted(maps.Keys(of.Files)) {
		switch sum, there := files[path]; {
		case !there:
			return fmt.Errorf("%s is damaged: %s is missing; want a whole copy of what backup wrote", dir, path)
		case sum != of.Files[path]:
			return fmt.Errorf("%s is damaged: %s is not as backup wrote it; want a whole copy of what backup wrote", dir, path)
		}
		delete(files, path)
	}
	if more := slices.Sorted(maps.Keys(files)); len(more) > 0 {
		return fmt.Errorf("%s has %s, which backup did not write: remove it", dir, more[0])
	}
	return nil
}

// checksums are the SHA-256 of all files below dir, by their paths below it.
func checksums(dir string) (map[string]string, error) {
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		sums[filepath.ToSlash(below)], err = checksum(path)
		return err
	})
	return sums, err
}

func checksum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), errors.Join(err, file.Close())
}

func writeSynced(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}
