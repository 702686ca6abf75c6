package clickhouse

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync/atomic"
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

// WriteTimeout is how long a server may accept nothing of what it is sent. The driver sends the parts of an insert
// without a deadline, also when its context ends: a server that hangs would keep the sink from ending. It is shorter
// than what a consumer has to finish a batch.
const WriteTimeout = 5 * time.Second

// timeoutConn is a connection whose writes fail once the server has accepted nothing for the timeout. The driver looks
// through it at the socket, to see whether it is still open.
type timeoutConn struct {
	*net.TCPConn

	timeout  time.Duration
	deadline atomic.Pointer[time.Time] // of writes, as set by the driver
}

// SetDeadline is that of a net.Conn.
func (c *timeoutConn) SetDeadline(t time.Time) error {
	c.deadline.Store(&t)
	return c.TCPConn.SetDeadline(t)
}

// writtenAtOnce is what has to be accepted within the timeout.
const writtenAtOnce = 256 << 10

// Write sets a deadline for each piece: the timeout, or the driver's where that is earlier.
func (c *timeoutConn) Write(b []byte) (written int, err error) {
	for piece := range slices.Chunk(b, writtenAtOnce) {
		until := time.Now().Add(c.timeout)
		if set := c.deadline.Load(); set != nil && !set.IsZero() && set.Before(until) {
			until = *set
		}
		if err := c.SetWriteDeadline(until); err != nil {
			return written, err
		}
		n, err := c.TCPConn.Write(piece)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
