package secret

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func keyOf(id string, fill byte) string {
	return id + ":" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(fill), keyBytes)))
}

func ring(t *testing.T, text string) Ring {
	t.Helper()
	r, err := ParseRing(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A key is rotated by adding one in front: the new one seals, the old one still opens.
func TestTheFirstKeySealsAndAllOpen(t *testing.T) {
	before, after := ring(t, keyOf("old", 'a')), ring(t, keyOf("new", 'b')+", "+keyOf("old", 'a'))
	sealed := before.Seal([]byte("hunter2"), "row 1")
	if plain, err := after.Open(sealed, "row 1"); err != nil || string(plain) != "hunter2" {
		t.Errorf("opened %q, %v", plain, err)
	}
	if again := after.Seal([]byte("hunter2"), "row 1"); !strings.HasPrefix(again, "new:") ||
		again == after.Seal([]byte("hunter2"), "row 1") {
		t.Errorf("sealed %s, or twice the same", again)
	}
}

func TestWhatIsNotOursStaysShut(t *testing.T) {
	r := ring(t, keyOf("a", 'a'))
	sealed := r.Seal([]byte("hunter2"), "row 1")
	changed := []byte(sealed)
	changed[len(changed)-6] ^= 1
	for name, open := range map[string]func() ([]byte, error){
		"another row":            func() ([]byte, error) { return r.Open(sealed, "row 2") },
		"another key of that id": func() ([]byte, error) { return ring(t, keyOf("a", 'b')).Open(sealed, "row 1") },
		"no key of that id":      func() ([]byte, error) { return ring(t, keyOf("b", 'a')).Open(sealed, "row 1") },
		"changed":                func() ([]byte, error) { return r.Open(string(changed), "row 1") },
		"cut":                    func() ([]byte, error) { return r.Open("a:AAAA", "row 1") },
		"empty":                  func() ([]byte, error) { return r.Open("", "row 1") },
		"no ring":                func() ([]byte, error) { return Ring{}.Open(sealed, "row 1") },
	} {
		if plain, err := open(); err == nil || plain != nil {
			t.Errorf("%s opened: %q", name, plain)
		}
	}
}

func TestARingSaysWhatItWants(t *testing.T) {
	for _, wrong := range []string{
		"", "a", "a:", ":" + strings.Repeat("A", 43) + "=",
		"a:" + strings.Repeat("A", 22) + "==", keyOf("a", 'a') + ",", keyOf("a", 'a') + "," + keyOf("a", 'b'),
	} {
		if r, err := ParseRing(wrong); err == nil || r.IsSet() || strings.Contains(err.Error(), "AAAA") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// Processes that start at once on one data directory get one key.
func TestAFileIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret-keys")
	var rings [8]Ring
	var all sync.WaitGroup
	for i := range rings {
		all.Go(func() {
			var err error
			if rings[i], err = FileRing(path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	sealed := rings[0].Seal([]byte("hunter2"), "x")
	for _, r := range rings {
		if plain, err := r.Open(sealed, "x"); err != nil || string(plain) != "hunter2" {
			t.Errorf("%q, %v", plain, err)
		}
	}
	if other, err := FileRing(path + "-2"); err != nil || other.first == rings[0].first {
		t.Errorf("another file's key has the id %s, too, %v", other.first, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
