package clickhouse

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// dial makes the connections of the native protocol as the driver would, but
// patient ones.
func dial(o *clickhouse.Options) func(ctx context.Context, address string) (net.Conn, error) {
	plain := &net.Dialer{Timeout: o.DialTimeout}
	return func(ctx context.Context, address string) (conn net.Conn, err error) {
		if o.TLS != nil {
			conn, err = (&tls.Dialer{NetDialer: plain, Config: o.TLS}).DialContext(ctx, "tcp", address)
		} else {
			conn, err = plain.DialContext(ctx, "tcp", address)
		}
		if err != nil {
			return nil, err
		}
		return &patient{conn, writePatience}, nil
	}
}

// writePatience is how long a server may take nothing of what it is sent. The driver
// sends parts of an insert without an end to its patience, whatever becomes of the
// context: a server that hangs would keep whoever inserts from ending.
const writePatience = 30 * time.Second

// patient is a connection that gives up a server which takes nothing for so long.
type patient struct {
	net.Conn

	patience time.Duration
}

// writtenAtOnce is what has to be taken within the patience.
const writtenAtOnce = 256 << 10

func (c *patient) Write(b []byte) (written int, err error) {
	for {
		if err := c.SetWriteDeadline(time.Now().Add(c.patience)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(b[:min(len(b), writtenAtOnce)])
		written += n
		if b = b[n:]; err != nil || len(b) == 0 {
			return written, err
		}
	}
}
