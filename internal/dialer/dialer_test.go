package dialer

import (
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// The kernel keeps the limits of a connection; a test of the cluster shows that hosts which vanish are given up by
// them.
func TestConnectionsHaveTheirLimits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("these names of options are Linux's")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := New(time.Second, Silence).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	const keepIdle, keepInterval, keepCount = 4, 5, 6
	want := map[int]int{userTimeout: 10_000, keepIdle: 3, keepInterval: 3, keepCount: 3} // seconds are rounded up
	err = raw.Control(func(fd uintptr) {
		for option, value := range want {
			is, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, option)
			if err != nil || is != value {
				t.Errorf("option %d is %d, %v; want %d", option, is, err, value)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
