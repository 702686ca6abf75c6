package testkit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Once returns what do returned to the first of all test binaries of a set of engines that
// asked by this name; the others wait for it. It fails the test if do fails.
func Once(t testing.TB, name string, do func() ([]byte, error)) []byte {
	t.Helper()
	result, err := once(t, name, do)
	if err != nil {
		t.Fatalf("make %s: %v", name, err)
	}
	return result
}

func once(t testing.TB, name string, do func() ([]byte, error)) ([]byte, error) {
	t.Helper()
	dir := os.Getenv(sharedEnv)
	if dir == "" {
		var err error
		if dir, err = own.makeDir(); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(dir, name)
	if result, err := os.ReadFile(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return result, err
	}
	lock, err := os.Create(path + ".lock")
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, err
	}
	if result, err := os.ReadFile(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return result, err
	}
	result, err := do()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path+".new", result, 0o600); err != nil {
		return nil, err
	}
	return result, os.Rename(path+".new", path)
}
