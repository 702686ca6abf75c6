// Package tempdir makes directories for engines that tests start. It imports no package of this module, so that tests
// inside any package can use it.
package tempdir

import (
	"os"
	"testing"
)

// Passable is a temporary directory that the engines' users may pass; it is removed at the end of the test.
func Passable(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "answerscope-engine-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
