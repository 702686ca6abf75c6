// Package fulldisk fills the disks of tests. It imports no package of this module, so that tests inside any package can
// use it.
package fulldisk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Fill writes a file until the disk of a directory is full to the last byte. Removing the file makes room again.
func Fill(t testing.TB, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "filler")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for some := make([]byte, 1<<20); len(some) > 0; {
		if _, err := file.Write(some); errors.Is(err, syscall.ENOSPC) {
			some = some[:len(some)/2]
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return path
}
