package powercut_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/powercut"
)

// What was synced stays as it was then. Of what was written after it, each file has all or nothing, and over a few cuts
// something is lost of each kind.
func TestACutLosesWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "before", "the mount", false)
	disk := powercut.Mount(t, dir, rand.New(rand.NewPCG(1, 2)))
	lost := map[string]int{}
	for n := range 20 {
		rewritten, appended, made, renamed := fmt.Sprint("rewritten", n), fmt.Sprint("appended", n),
			fmt.Sprint("made", n), fmt.Sprint("renamed", n)
		write(t, dir, rewritten, "old", true)
		write(t, dir, appended, "old", true)
		write(t, dir, renamed+".new", "text", true)
		write(t, dir, rewritten, "new", false)
		extend(t, dir, appended, " and new")
		write(t, dir, made, "text", false)
		if err := os.Rename(filepath.Join(dir, renamed+".new"), filepath.Join(dir, renamed)); err != nil {
			t.Fatal(err)
		}
		disk.Cut()
		if err := os.WriteFile(filepath.Join(dir, "after"), nil, 0o600); err == nil {
			t.Error("a file was made without power")
		}
		disk.Restore(t)

		want(t, dir, lost, rewritten, "new", "old")
		want(t, dir, lost, appended, "old and new", "old")
		want(t, dir, lost, made, "text", "", none)
		want(t, dir, lost, renamed, "text", none)
	}
	for _, kind := range []string{"new", "old and new", "text", "text" + none} {
		if n := lost[kind]; n == 0 || n == 20 {
			t.Errorf("%q was lost by %d cuts of 20", kind, n)
		}
	}
	want(t, dir, lost, "before", "the mount")
}

// A sync brings the names of other files to the disk, too; what was done to names after it is lost from the last on.
func TestACutTakesNamesBackInTheirOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := powercut.Mount(t, dir, rand.New(rand.NewPCG(3, 4)))
	write(t, dir, "unsynced", "", false)
	if err := os.Link(filepath.Join(dir, "unsynced"), filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "synced", "", true)
	if err := os.Remove(filepath.Join(dir, "unsynced")); err != nil {
		t.Fatal(err)
	}
	const made = 50
	for n := range made {
		if err := os.Mkdir(filepath.Join(dir, fmt.Sprint(n)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	disk.Cut()
	disk.Restore(t)
	kept := 0
	for kept < made && there(t, dir, fmt.Sprint(kept)) {
		kept++
	}
	if kept == 0 || kept == made {
		t.Errorf("%d of %d directories are left: these random numbers show nothing", kept, made)
	}
	for n := kept; n < made; n++ {
		if there(t, dir, fmt.Sprint(n)) {
			t.Errorf("directory %d is left, and %d is not", n, kept)
		}
	}
	if there(t, dir, "unsynced") || !there(t, dir, "linked") || !there(t, dir, "synced") {
		t.Error("a name is not as it was at the sync and after")
	}
}

func write(t *testing.T, dir, name, text string, sync bool) {
	t.Helper()
	put(t, dir, name, text, sync, os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
}

func extend(t *testing.T, dir, name, text string) {
	t.Helper()
	put(t, dir, name, text, false, os.O_WRONLY|os.O_APPEND)
}

func put(t *testing.T, dir, name, text string, sync bool, flags int) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name), flags, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// none is the content of a file that is not there.
const none = " (none)"

// want checks that a file has the first content, or one of the others, which are losses.
func want(t *testing.T, dir string, lost map[string]int, name, whole string, parts ...string) {
	t.Helper()
	text := none
	if there(t, dir, name) {
		bytes, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text = string(bytes)
	}
	if text == whole {
		return
	}
	for _, part := range parts {
		if text == part {
			if len(parts) == 1 && part == none {
				whole += none
			}
			lost[whole]++
			return
		}
	}
	t.Errorf("%s has %q, want %q or one of %q", name, text, whole, parts)
}

func there(t *testing.T, dir, name string) bool {
	t.Helper()
	_, err := os.Lstat(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return err == nil
}
