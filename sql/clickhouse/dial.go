package clickhouse

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/answerscope/answerscope/internal/dialer"
)

// hostTimeout bounds the wait for a host that is switched off and refuses nothing; others remain to be tried.
const hostTimeout = time.Second

// dial opens connections of the native protocol like the driver, with timeouts for writes and, unless silence is 0, for
// reads.
func dial(o *clickhouse.Options, silence time.Duration) func(ctx context.Context, address string) (net.Conn, error) {
	tcpDialer := dialer.New(hostTimeout, dialer.Silence)
	return func(ctx context.Context, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, o.DialTimeout)
		defer cancel()
		tcp, err := tcpDialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		conn := &timeoutConn{TCPConn: tcp.(*net.TCPConn), timeout: WriteTimeout, silence: silence}
		if o.TLS == nil {
			return conn, nil
		}
		encrypted := tls.Client(conn, withServerName(o.TLS, address))
		if err := encrypted.HandshakeContext(ctx); err != nil {
			_ = conn.Close() // nothing was sent
			return nil, err
		}
		return encrypted, nil
	}
}

// pingTimeout bounds how long a server that may hang keeps the next one of its shard from being asked.
const pingTimeout = 2 * time.Second

func ping(ctx context.Context, node driver.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	return node.Ping(ctx)
}

// withServerName expects the certificate of the address's host, like tls.Dial.
func withServerName(c *tls.Config, address string) *tls.Config {
	if host, _, err := net.SplitHostPort(address); err == nil && c.ServerName == "" {
		c = c.Clone()
		c.ServerName = host
	}
	return c
}

// WriteTimeout bounds how long a server may accept no bytes. The driver sends the parts of an insert without a
// deadline, also when its context ends: a server that hangs would keep the sink from ending. It is shorter than the
// time in which a consumer has to finish a batch.
const WriteTimeout = 5 * time.Second

// timeoutConn fails a write when the server accepts nothing for the timeout, and a read when it sends nothing for the
// silence: the driver's ReadTimeout is for a whole answer. It embeds the TCP connection, since the driver looks for the
// socket to see whether it is still open.
type timeoutConn struct {
	*net.TCPConn

	timeout, silence time.Duration
	deadline         atomic.Pointer[time.Time] // set by the driver
}

// SetDeadline implements net.Conn.
func (c *timeoutConn) SetDeadline(t time.Time) error {
	c.deadline.Store(&t)
	return c.TCPConn.SetDeadline(t)
}

// Read sets a deadline: the silence, or the driver's deadline if that is earlier.
func (c *timeoutConn) Read(b []byte) (int, error) {
	if c.silence > 0 {
		if err := c.SetReadDeadline(c.earliest(c.silence)); err != nil {
			return 0, err
		}
	}
	return c.TCPConn.Read(b)
}

// earliest returns a time from now, or the driver's deadline if that is earlier.
func (c *timeoutConn) earliest(timeout time.Duration) time.Time {
	deadline := time.Now().Add(timeout)
	if set := c.deadline.Load(); set != nil && !set.IsZero() && set.Before(deadline) {
		return *set
	}
	return deadline
}

// writeChunk is how many bytes must be accepted within the timeout.
const writeChunk = 256 << 10

// Write sets a deadline for each chunk: the timeout, or the driver's deadline if that is earlier.
func (c *timeoutConn) Write(b []byte) (written int, err error) {
	for chunk := range slices.Chunk(b, writeChunk) {
		if err := c.SetWriteDeadline(c.earliest(c.timeout)); err != nil {
			return written, err
		}
		n, err := c.TCPConn.Write(chunk)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
