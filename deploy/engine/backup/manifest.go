package backup

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

	"github.com/answerscope/answerscope/internal/disk"
)

// manifestName is the file that is written last: a backup without it is incomplete.
const manifestName = "backup.json"

// manifest describes a backup. Files has the SHA-256 in hex of each file by its path below the directory.
type manifest struct {
	Format int               `json:"format"`
	Build  string            `json:"build"`
	At     time.Time         `json:"at"`
	Files  map[string]string `json:"files"`
}

// Seal completes a backup that a build has written, and that began at a time.
func Seal(dir, build string, at time.Time) error {
	files, err := checksums(dir)
	if err != nil {
		return err
	}
	text, err := json.Marshal(manifest{1, build, at, files})
	if err != nil {
		return err
	}
	return disk.ReplaceFile(filepath.Join(dir, manifestName), append(text, '\n'), 0o600)
}

// Check refuses an incomplete backup, one of another format, and one whose files have changed.
func Check(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	var sealed manifest
	if err == nil {
		err = json.Unmarshal(text, &sealed)
	}
	if err != nil {
		return fmt.Errorf("%s is no whole backup: %w", dir, err)
	}
	if sealed.Format != 1 {
		return fmt.Errorf("%s has format %d, this release reads 1: restore it with the release that made it (%s)",
			dir, sealed.Format, sealed.Build)
	}
	files, err := checksums(dir)
	if err != nil {
		return err
	}
	delete(files, manifestName)
	for _, path := range slices.Sorted(maps.Keys(sealed.Files)) {
		switch sum, exists := files[path]; {
		case !exists:
			return fmt.Errorf("%s is damaged: %s is missing; want a whole copy of what backup wrote", dir, path)
		case sum != sealed.Files[path]:
			return fmt.Errorf("%s is damaged: %s is not as backup wrote it; want a whole copy of what backup wrote",
				dir, path)
		}
		delete(files, path)
	}
	if more := slices.Sorted(maps.Keys(files)); len(more) > 0 {
		return fmt.Errorf("%s has %s, which backup did not write: remove it", dir, more[0])
	}
	return nil
}

// checksums returns the SHA-256 of all files below dir by their paths there.
func checksums(dir string) (map[string]string, error) {
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		sums[filepath.ToSlash(name)], err = checksum(path)
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
