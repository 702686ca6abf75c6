package httpd

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// lingerBounds limit what a client that was refused may go on sending. Closing a socket that still receives resets it,
// and a client that is reset while it sends does not read its response. So its bytes are read and discarded first.
type lingerBounds struct {
	time   time.Duration // of one connection
	pause  time.Duration // between two reads of it
	bytes  int           // of one connection
	atOnce int           // connections of a listener; others are closed without
}

// defaultLinger has the times of nginx (lingering_time, lingering_timeout): 30 s suffice for 20 MB at 6 Mbit/s. The
// bytes are twice the largest body that any surface takes. A thousand connections with their buffers are 8 MB, and a
// thousand open files of the 65,536 that a service may have.
var defaultLinger = lingerBounds{time: 30 * time.Second, pause: 5 * time.Second, bytes: 64 << 20, atOnce: 1000}

// lingerBuffer is the memory of a connection that lingers, in bytes.
const lingerBuffer = 8 << 10

// A lingeringListener accepts connections whose Close lingers where their client may still be sending.
type lingeringListener struct {
	*net.TCPListener
	bounds lingerBounds
	slots  chan struct{} // has an element for each connection that lingers
}

func newLingeringListener(listener *net.TCPListener, bounds lingerBounds) *lingeringListener {
	return &lingeringListener{listener, bounds, make(chan struct{}, bounds.atOnce)}
}

func (l *lingeringListener) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return &lingeringConn{TCPConn: conn, listener: l}, nil
}

// A lingeringConn lingers when it is closed after a CloseWrite.
type lingeringConn struct {
	*net.TCPConn
	listener *lingeringListener
	lingers  atomic.Bool
}

// CloseWrite marks the rest of the request as unwanted. net/http calls it exactly then.
func (c *lingeringConn) CloseWrite() error {
	c.lingers.Store(true)
	return c.TCPConn.CloseWrite()
}

// Close lingers in the goroutine of its caller, so that the connection counts among those that the server has. A second
// Close ends that.
func (c *lingeringConn) Close() error {
	if c.lingers.Swap(false) {
		c.linger()
	}
	return c.TCPConn.Close()
}

// linger ends the response's side, then discards what arrives until the client closes its side or a bound is reached.
func (c *lingeringConn) linger() {
	select {
	case c.listener.slots <- struct{}{}:
		defer func() { <-c.listener.slots }()
	default:
		return
	}
	if c.TCPConn.CloseWrite() != nil {
		return // the client has gone
	}
	bounds, discarded := c.listener.bounds, make([]byte, lingerBuffer)
	end := time.Now().Add(bounds.time)
	for left := bounds.bytes; left > 0; {
		deadline := time.Now().Add(bounds.pause)
		if deadline.After(end) {
			deadline = end
		}
		if c.SetReadDeadline(deadline) != nil {
			return
		}
		n, err := c.Read(discarded)
		if err != nil {
			return
		}
		left -= n
	}
}

// lingerOn makes a connection linger once it is closed.
func lingerOn(conn net.Conn) {
	if c, ok := conn.(*lingeringConn); ok {
		c.lingers.Store(true)
	}
}

// lingerOnErrors wraps fasthttp's handler of requests that it cannot read to their end: it answers, flushes and closes.
func lingerOnErrors(next func(*fasthttp.RequestCtx, error)) func(*fasthttp.RequestCtx, error) {
	return func(ctx *fasthttp.RequestCtx, err error) {
		lingerOn(ctx.Conn())
		next(ctx, err)
	}
}
