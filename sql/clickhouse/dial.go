package clickhouse

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// dial makes the connections of the native protocol as the driver would, with a timeout for writes.
func dial(o *clickhouse.Options) func(ctx context.Context, address string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, o.DialTimeout)
		defer cancel()
		tcp, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		conn := &timeoutConn{TCPConn: tcp.(*net.TCPConn), timeout: WriteTimeout}
		if o.TLS == nil {
			return conn, nil
		}
		secured := tls.Client(conn, named(o.TLS, address))
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close() // unused so far
			return nil, err
		}
		return secured, nil
	}
}

// named says whose certificate is expected, as tls.Dial does.
func named(c *tls.Config, address string) *tls.Config {
	if host, _, err := net.SplitHostPort(address); err == nil && c.ServerName == "" {
		c = c.Clone()
		c.ServerName = host
	}
	return c
}

// WriteTimeout is how long a server may accept nothing of what it is sent. The driver sends the parts of an insert without
// a deadline, whatever becomes of the context: a server that hangs would keep the sink from ending. It is shorter than
// what a consumer has to finish a batch.
const WriteTimeout = 5 * time.Second

// timeoutConn is a connection whose writes fail once the server has accepted nothing for the timeout. The driver looks
// through it at the socket, to see whether it is still open.
type timeoutConn struct {
	*net.TCPConn

	timeout time.Duration

	mu       sync.Mutex
	deadline time.Time // of writes, as set by the driver; zero: none
}

// SetDeadline is that of a net.Conn.
func (c *timeoutConn) SetDeadline(t time.Time) error {
	c.setDeadline(t)
	return c.TCPConn.SetDeadline(t)
}

// SetWriteDeadline is that of a net.Conn.
func (c *timeoutConn) SetWriteDeadline(t time.Time) error {
	c.setDeadline(t)
	return c.TCPConn.SetWriteDeadline(t)
}

func (c *timeoutConn) setDeadline(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
}

// until is the deadline of what is written now.
func (c *timeoutConn) until() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := time.Now().Add(c.timeout); c.deadline.IsZero() || until.Before(c.deadline) {
		return until
	}
	return c.deadline
}

// writtenAtOnce is what has to be accepted within the timeout.
const writtenAtOnce = 256 << 10

// Write restores the deadline that the driver has set.
func (c *timeoutConn) Write(b []byte) (written int, err error) {
	for err == nil {
		if err = c.TCPConn.SetWriteDeadline(c.until()); err != nil {
			break
		}
		var n int
		n, err = c.TCPConn.Write(b[:min(len(b), writtenAtOnce)])
		written += n
		if b = b[n:]; len(b) == 0 {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if restored := c.TCPConn.SetWriteDeadline(c.deadline); err == nil {
		err = restored
	}
	return written, err
}
