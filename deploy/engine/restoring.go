package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/answerscope/answerscope/internal/disk"
)

// restoringFile marks a data directory that a restore has begun to fill and not finished. It has the backup's path.
// Without it, what an interrupted restore leaves would start as a healthy installation that lacks its rows.
const restoringFile = "restoring"

// BeginRestore marks a data directory, which only Options with Restoring open then.
func BeginRestore(dataDir, backup string) error {
	return disk.ReplaceFile(filepath.Join(dataDir, restoringFile), []byte(backup+"\n"), 0o600)
}

// FinishRestore removes the mark, once everything is in place.
func FinishRestore(dataDir string) error { return os.Remove(filepath.Join(dataDir, restoringFile)) }

func checkRestored(dataDir string) error {
	backup, err := os.ReadFile(filepath.Join(dataDir, restoringFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, fmt.Errorf("%s has a part of the backup %s: wait until it is restored; if that was "+
		"interrupted, remove %[1]s and restore again", dataDir, strings.TrimSpace(string(backup))))
}
