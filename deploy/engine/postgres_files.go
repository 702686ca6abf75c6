package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// makeLibraryLinks makes the symbolic links between PostgreSQL's libraries, which an
// npm package cannot carry. The package's install script, which is not run, would.
func makeLibraryLinks(pkg string) error {
	var links []struct{ Source, Target string }
	if err := readJSON(filepath.Join(pkg, "native", "pg-symlinks.json"), &links); err != nil {
		return err
	}
	for _, l := range links {
		target := filepath.Join(pkg, filepath.FromSlash(l.Target))
		source, err := filepath.Rel(filepath.Dir(l.Target), l.Source)
		if err != nil {
			return err
		}
		if err := os.Symlink(source, target); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("link %s: %w", target, err)
		}
	}
	return nil
}
