package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock is an exclusive lock on a file. The kernel releases it with the last process
// that holds the file open.
type lock struct{ file *os.File }

// tryLock returns nil when another process has the lock.
func tryLock(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, f.Close()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return &lock{f}, nil
}

func (l *lock) Close() error { return l.file.Close() }

// lockTimeout is how long a killed predecessor may take to leave a directory.
const lockTimeout = 15 * time.Second

// lockDir makes an engine's directory and locks it. The engine's process inherits
// the lock, so it is free once that and every process that it started are gone,
// whatever ended them.
func lockDir(ctx context.Context, dir string) (*lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for begin := time.Now(); ; {
		l, err := tryLock(filepath.Join(dir, "running"))
		if l != nil || err != nil {
			return l, err
		}
		if time.Since(begin) > lockTimeout {
			return nil, fmt.Errorf("an engine runs in %s already", dir)
		}
		if err := pause(ctx, retryInterval); err != nil {
			return nil, err
		}
	}
}

// lockDirs makes the directories of an engine and of its logs absolute, the second
// below the first unless it is given, and locks the first.
func lockDirs(ctx context.Context, dir, logs *string) (*lock, error) {
	var err error
	if *dir, err = filepath.Abs(*dir); err != nil {
		return nil, err
	}
	if *logs == "" {
		*logs = filepath.Join(*dir, "log")
	} else if *logs, err = filepath.Abs(*logs); err != nil {
		return nil, err
	}
	return lockDir(ctx, *dir)
}
