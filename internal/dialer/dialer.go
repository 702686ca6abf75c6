// Package dialer opens the TCP connections to databases and brokers. They end when the other host vanishes: one that
// loses its power or its network sends nothing, and a reader of its answer would wait indefinitely.
package dialer

import (
	"net"
	"runtime"
	"syscall"
	"time"
)

// Silence is how long the other end's system may not answer on a connection on which an answer may take long.
const Silence = 10 * time.Second

// New makes a dialer. Its connections fail with ETIMEDOUT when the other end has been silent for about so long:
// it acknowledges no data, or answers no probe of an idle connection.
func New(timeout, silence time.Duration) *net.Dialer {
	pause := max(time.Second, silence/4)
	return &net.Dialer{
		Timeout:         timeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: pause, Interval: pause, Count: 3},
		Control: func(_, _ string, socket syscall.RawConn) (err error) {
			if runtime.GOOS != "linux" {
				return nil // the probes remain
			}
			controlErr := socket.Control(func(fd uintptr) {
				err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout, int(silence.Milliseconds()))
			})
			if controlErr != nil {
				return controlErr
			}
			return err
		},
	}
}

// userTimeout is Linux's TCP_USER_TIMEOUT, which package syscall lacks. It bounds unacknowledged data too: nothing is
// probed then.
const userTimeout = 18
