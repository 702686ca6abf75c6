package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The embedded broker reads a request before it checks the login: it allocates the length in the request's first four
// bytes, and ends this process at an unknown kind of request. So requests before a login are checked here first.
const (
	loginTimeout = 10 * time.Second
	loginBytes   = 64 << 10 // of a request; a login needs a few hundred
)

// loginListener accepts connections on which a client must log in first.
type loginListener struct{ net.Listener }

func listenForLogins(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	return loginListener{l}, nil
}

func (l loginListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &loginConn{Conn: conn}, conn.SetReadDeadline(time.Now().Add(loginTimeout))
}

// loginConn passes only requests of a login until the server answers one with its signature. A request has its length
// (int32), kind (int16), version (int16) and content; see kafka.apache.org/protocol.
type loginConn struct {
	net.Conn
	loggedIn atomic.Bool
	version  atomic.Int32 // of the last SaslAuthenticate request

	head []byte // unread bytes of the current request's head
	rest int    // bytes of the request behind its head
}

// Read returns bytes of one request at most.
func (c *loginConn) Read(p []byte) (n int, err error) {
	if len(c.head) == 0 && c.rest == 0 {
		if c.loggedIn.Load() {
			return c.Conn.Read(p)
		}
		if err := c.readHead(); err != nil {
			return 0, err
		}
	}
	if len(c.head) > 0 {
		n = copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	n, err = c.Conn.Read(p[:min(len(p), c.rest)])
	c.rest -= n
	return n, err
}

func (c *loginConn) readHead() error {
	head := make([]byte, 8)
	if _, err := io.ReadFull(c.Conn, head); err != nil {
		return err
	}
	size, kind := binary.BigEndian.Uint32(head), kmsg.Key(binary.BigEndian.Uint16(head[4:]))
	if !c.loggedIn.Load() {
		switch kind {
		case kmsg.ApiVersions, kmsg.SASLHandshake, kmsg.SASLAuthenticate:
		default:
			return fmt.Errorf("request %d before a login", kind)
		}
		if size < 4 || size > loginBytes {
			return fmt.Errorf("request of %d bytes before a login", size)
		}
		if kind == kmsg.SASLAuthenticate {
			c.version.Store(int32(binary.BigEndian.Uint16(head[6:])))
		}
	}
	c.head, c.rest = head, max(int(size)-4, 0)
	return nil
}

// Write detects the answer that ends a login: a SCRAM server's signature, "v=" (RFC 5802).
func (c *loginConn) Write(p []byte) (int, error) {
	if !c.loggedIn.Load() && isLogin(p, int16(c.version.Load())) {
		c.loggedIn.Store(true)
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}

// isLogin parses a response: its length and number (int32), in some versions tags, and the answer.
func isLogin(response []byte, version int16) bool {
	answer := kmsg.NewPtrSASLAuthenticateResponse()
	answer.SetVersion(version)
	begin := 8
	if answer.IsFlexible() {
		begin++
	}
	return len(response) > begin && answer.ReadFrom(response[begin:]) == nil &&
		answer.ErrorCode == 0 && bytes.HasPrefix(answer.SASLAuthBytes, []byte("v="))
}
