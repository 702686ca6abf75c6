package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/answerscope/answerscope/internal/disk"
)

// lock is an exclusive lock on a file. The kernel releases it when the last process closes the file.
type lock struct{ file *os.File }

// tryLock returns nil if another process has the lock.
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

// lockTimeout bounds the time in which a killed predecessor releases a directory.
const lockTimeout = 15 * time.Second

// lockDir creates an engine's directory and locks it. The engine's process inherits the lock, so it is held until that
// process ends.
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

// lockDirs makes the directories of an engine and of its logs absolute, by default dir/log, and locks the first.
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

// storedPassword returns the password in a file of dir, and creates it the first time.
func storedPassword(dir, file string) (string, error) {
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	if err == nil && len(text) > 0 {
		return strings.TrimSpace(string(text)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read password: %w", err)
	}
	random := make([]byte, 16)
	rand.Read(random)
	password := hex.EncodeToString(random)
	if err := disk.ReplaceFile(path, []byte(password+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep password: %w", err)
	}
	return password, nil
}

const loopback = "127.0.0.1"

// Ports are chosen below the range that kernels give to outgoing connections, so that one is likely to be free again
// after a restart.
const lowPort, highPort = 20000, 30000

// storedPort returns the configured port or, if that is 0, the port in a file of dir if it is free, or else a free
// port, which it stores there.
func storedPort(host, dir, name string, configured int) (int, error) {
	if configured != 0 {
		if !portFree(host, configured) {
			return 0, fmt.Errorf("port %d, configured for %s, is taken", configured, name)
		}
		return configured, nil
	}
	path := filepath.Join(dir, name+".port")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("read port of %s: %w", name, err)
	}
	if port, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && portFree(host, port) {
		return port, nil
	}
	for range 200 {
		port := lowPort + mathrand.IntN(highPort-lowPort)
		if !portFree(host, port) {
			continue
		}
		if err := os.WriteFile(path, []byte(strconv.Itoa(port)+"\n"), 0o644); err != nil {
			return 0, fmt.Errorf("keep port of %s: %w", name, err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("choose port for %s: none free among %d-%d", name, lowPort, highPort)
}

func portFree(host string, port int) bool {
	// A concurrently forked child would hold the listener until its exec, and the engine would find the port taken. The
	// runtime forks one child without the lock, when it first starts or finds a process: FindProcess does that now.
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release()
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	l, err := net.Listen("tcp", address(host, port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func address(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
