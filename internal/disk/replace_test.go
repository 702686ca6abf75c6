package disk_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/internal/testkit/powercut"
)

// A file that was replaced without a sync of its directory was the old one after a cut, or none where it was the first.
func TestAReplacedFileSurvivesALossOfPower(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	power := powercut.Mount(t, dir, rand.New(rand.NewPCG(5, 6)))
	path := filepath.Join(dir, "a", "b", "file")
	for n := range 20 {
		if n%2 == 0 { // now and then it is the first one, in directories that are new
			if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
				t.Fatal(err)
			}
		}
		if err := disk.MakeDir(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		content := fmt.Append(nil, "content ", n)
		if err := disk.ReplaceFile(path, content, 0o640); err != nil {
			t.Fatal(err)
		}
		power.Cut()
		power.Restore(t)
		if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, content) {
			t.Errorf("after cut %d: %q, %v, want %q", n, text, err, content)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "a", "b", ".*")); err != nil || len(left) > 0 {
		t.Errorf("left beside it: %v, %v", left, err)
	}
}

// A file that cannot be replaced stays, and nothing is left beside it.
func TestAFileThatCannotBeReplacedStays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "directory")
	if err := os.MkdirAll(filepath.Join(path, "kept"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := disk.ReplaceFile(path, []byte("text"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}
