package clickhouse

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
)

// pair is a timeoutConn and its other end.
func pair(t *testing.T, timeout time.Duration) (here *timeoutConn, peer *net.TCPConn) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.DialTCP("tcp", nil, listener.Addr().(*net.TCPAddr))
	if err != nil {
		t.Fatal(err)
	}
	if peer, err = listener.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(conn.Close(), peer.Close()) }) // a test may have closed them
	return &timeoutConn{TCPConn: conn, timeout: timeout}, peer
}

// A server that accepts what is sent slowly is waited for; one that accepts nothing is not.
func TestAWriteTimesOutOnlyWhenNothingIsAccepted(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second // a busy machine pauses for less
	const size = 64 * writeChunk    // more than sockets hold
	conn, peer := pair(t, timeout)
	slowly := make(chan error, 1)
	go func() {
		for range size / (8 * writeChunk) {
			<-time.After(timeout / 4)
			if _, err := io.CopyN(io.Discard, peer, 8*writeChunk); err != nil {
				slowly <- err
				return
			}
		}
		slowly <- nil
	}()
	n, err := conn.Write(make([]byte, size))
	if took := <-slowly; n != size || err != nil || took != nil {
		t.Errorf("wrote %d, %v, %v; want %d", n, err, took, size)
	}
	if n, err := conn.Write(make([]byte, size)); n == size || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("wrote %d, of which nothing was accepted: %v", n, err)
	}
}

// A deadline that the driver sets holds where it is the earlier one.
func TestAWriteKeepsTheDeadlineOfTheDriver(t *testing.T) {
	t.Parallel()
	conn, _ := pair(t, time.Hour)
	if err := conn.SetDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(make([]byte, 64*writeChunk)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("beyond its deadline: %v", err)
	}
}

// A server is waited for while it sends something now and then; one that hangs is not.
func TestAReadTimesOutInSilence(t *testing.T) {
	t.Parallel()
	const silence = 2 * time.Second // a busy machine pauses for less
	conn, peer := pair(t, time.Hour)
	conn.silence = silence
	go func() {
		for range 6 {
			<-time.After(silence / 4)
			if _, err := peer.Write([]byte{1}); err != nil {
				t.Error(err)
			}
		}
	}()
	if _, err := io.ReadFull(conn, make([]byte, 6)); err != nil {
		t.Error(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("in silence: %v", err)
	}
}

// A connection that was closed while it was idle is not used again.
func TestAClosedConnectionIsNoticed(t *testing.T) {
	t.Parallel()
	c := DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	c.MaxOpenConns = 1
	address, err := url.Parse(c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	came := make(chan net.Conn, 10)
	go func(server string) {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				t.Error(err)
				return
			}
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }() // either end may close it
			go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
			came <- near
		}
	}(address.Host)
	address.Host = listener.Addr().String()
	c.DSN = address.String()
	conn, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 3 {
		if err := (<-came).Close(); err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec(t.Context(), "SELECT 1"); err != nil {
			t.Errorf("over a connection that was closed before: %v", err)
		}
	}
}
