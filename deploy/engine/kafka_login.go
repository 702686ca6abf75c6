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

// The embedded broker reads a request before it looks whether the client has logged in: it allocates as many bytes as
// the request's first four say, and ends this process at a kind of request that it does not know. So what a client
// sends before that is read here first.
const (
	loginTimeout = 10 * time.Second
	loginBytes   = 64 << 10 // of a request; those of a login have a few hundred
)

// loginListener accepts connections on which a client has to log in first.
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

// loginConn lets requests of a login pass until the server has answered one with its signature, and then everything. A
// request is its length (int32), kind (int16), version (int16) and the rest; see kafka.apache.org/protocol.
type loginConn struct {
	net.Conn
	loggedIn atomic.Bool
	version  atomic.Int32 // of the last SaslAuthenticate request

	head []byte // of the request that is read, as much as was not handed on
	rest int    // bytes of it that are not read
}

// Read hands on no more than one request.
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

// Write notices the answer that ends a login: a SCRAM server's signature, "v=" (RFC 5802).
func (c *loginConn) Write(p []byte) (int, error) {
	if !c.loggedIn.Load() && isLogin(p, int16(c.version.Load())) {
		c.loggedIn.Store(true)
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}

// isLogin reads a response: its length and number (int32), for some versions tags, and the answer.
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
