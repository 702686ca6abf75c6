package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const host = "127.0.0.1"

// Free ports are looked for below those that kernels give to outgoing
// connections, so that one which was chosen is likely to be free after a restart.
const lowPort, highPort = 20000, 30000

// keptPort returns wanted, or if that is 0 the port that dir remembers under
// name when it is free, or else a free port, which dir then remembers.
func keptPort(dir, name string, wanted int) (int, error) {
	if wanted != 0 {
		if !portFree(wanted) {
			return 0, fmt.Errorf("port %d, configured for %s, is taken", wanted, name)
		}
		return wanted, nil
	}
	path := filepath.Join(dir, name+".port")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("read port of %s: %w", name, err)
	}
	if port, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && portFree(port) {
		return port, nil
	}
	for range 200 {
		port := lowPort + rand.IntN(highPort-lowPort)
		if !portFree(port) {
			continue
		}
		if err := os.WriteFile(path, []byte(strconv.Itoa(port)+"\n"), 0o644); err != nil {
			return 0, fmt.Errorf("remember port of %s: %w", name, err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("choose port for %s: none free among %d-%d", name, lowPort, highPort)
}

func portFree(port int) bool {
	// A child forked meanwhile would hold the listener until its exec, and the engine
	// would find the port taken. The runtime forks one child without the lock, the first
	// time that a process is started or found, to see whether the kernel has pidfds:
	// FindProcess gets that done before.
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release()
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func address(port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
