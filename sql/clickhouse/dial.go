package clickhouse

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// dial makes the connections of the native protocol as the driver would, but
// patient ones.
func dial(o *clickhouse.Options) func(ctx context.Context, address string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, o.DialTimeout)
		defer cancel()
		tcp, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		conn := &patient{TCPConn: tcp.(*net.TCPConn), patience: WritePatience}
		if o.TLS == nil {
			return conn, nil
		}
		secured := tls.Client(conn, named(o.TLS, address))
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close() // nobody has it yet
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

// WritePatience is how long a server may take nothing of what it is sent. The driver
// sends parts of an insert without an end to its patience, whatever becomes of the
// context: a server that hangs would keep whoever inserts from ending. It is shorter
// than what a consumer has to finish a batch.
const WritePatience = 5 * time.Second

// patient is a connection that gives up a server which takes nothing for so long. The
// driver looks through it at the socket, to see whether it is still open.
type patient struct {
	*net.TCPConn

	patience time.Duration

	mu    sync.Mutex
	asked time.Time // the deadline of writes that somebody has set; zero: none
}

// SetDeadline is that of a net.Conn.
func (c *patient) SetDeadline(t time.Time) error {
	c.ask(t)
	return c.TCPConn.SetDeadline(t)
}

// SetWriteDeadline is that of a net.Conn.
func (c *patient) SetWriteDeadline(t time.Time) error {
	c.ask(t)
	return c.TCPConn.SetWriteDeadline(t)
}

func (c *patient) ask(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = t
}

// until is the deadline of what is written now.
func (c *patient) until() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := time.Now().Add(c.patience); c.asked.IsZero() || until.Before(c.asked) {
		return until
	}
	return c.asked
}

// writtenAtOnce is what has to be taken within the patience.
const writtenAtOnce = 256 << 10

// Write leaves no deadline behind but the one that was asked for.
func (c *patient) Write(b []byte) (written int, err error) {
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
	if restored := c.TCPConn.SetWriteDeadline(c.asked); err == nil {
		err = restored
	}
	return written, err
}
