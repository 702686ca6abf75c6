package testkit

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Once returns what do returned to the first of all test binaries of a set of engines that asked by this name; the
// others wait for it. It fails the test if do fails.
func Once(t testing.TB, name string, do func() ([]byte, error)) []byte {
	t.Helper()
	result, err := once(name, do)
	if err != nil {
		t.Fatalf("make %s: %v", name, err)
	}
	return result
}

func once(name string, do func() ([]byte, error)) (result []byte, err error) {
	dir := os.Getenv(sharedEnv)
	if dir == "" {
		if dir, err = own.makeDir(); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(dir, name)
	lock, err := os.Create(path + ".lock")
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, err
	}
	if result, err = os.ReadFile(path); !errors.Is(err, os.ErrNotExist) {
		return result, err
	}
	if result, err = do(); err != nil {
		return nil, err
	}
	// A binary that is killed while it writes must not leave half a result.
	return result, errors.Join(os.WriteFile(path+".new", result, 0o600), os.Rename(path+".new", path))
}
