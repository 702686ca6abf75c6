//go:build unix

package httpd

import (
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lookAfter is how often a request under way looks whether its client is still there. Most are done before the first look.
const lookAfter = 250 * time.Millisecond

// watchClient calls gone when the client of conn has hung up, so that a query nobody waits for is cancelled. fasthttp
// does not read a connection while it answers; a peek at the socket tells without taking bytes of the next request.
// The returned function ends the watch.
func watchClient(conn net.Conn, gone func()) func() {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return func() {}
	}
	var (
		mu      sync.Mutex
		stopped bool
		timer   *time.Timer
	)
	look := func() {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		if hungUp(socket) {
			gone()
			return
		}
		timer.Reset(lookAfter)
	}
	mu.Lock()
	timer = time.AfterFunc(lookAfter, look)
	mu.Unlock()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// hungUp peeks one byte: none, without an error, is the end of the stream.
func hungUp(socket syscall.Conn) bool {
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	over := false
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		over = n == 0 && err == nil || err == unix.ECONNRESET
	})
	return over || err != nil
}
