package httpd

import (
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// clientInterval is between two checks that a client is still connected. Most requests are done before the first.
const clientInterval = 250 * time.Millisecond

// watchClient calls gone when the client of conn has disconnected, so that its query is cancelled. fasthttp does not read
// a connection while it answers; a peek at the socket takes no bytes of the next request. The returned function ends
// the watch.
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
	check := func() {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		if disconnected(socket) {
			gone()
			return
		}
		timer.Reset(clientInterval)
	}
	mu.Lock()
	timer = time.AfterFunc(clientInterval, check)
	mu.Unlock()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// disconnected peeks one byte: none, without an error, is the end of the stream.
func disconnected(socket syscall.Conn) bool {
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
