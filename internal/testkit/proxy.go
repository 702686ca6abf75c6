package testkit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
)

// A Proxy is a TCP proxy in front of a server, which a test can cut. What was sent before the cut has arrived and
// nothing passes after it, as when the client process is killed. It is safe for concurrent use.
type Proxy struct {
	DSN string // the server's, through the proxy

	server   string
	listener net.Listener

	writes    atomic.Int64 // by the client
	maxWrites atomic.Int64 // cut after so many; 0: never
	others    []*Proxy     // are cut at the same time
	dropping  atomic.Bool
	refusing  atomic.Bool
	refused   atomic.Int64 // connections

	bytes     atomic.Int64 // sent by the client
	maxBytes  atomic.Int64 // close after so many; 0: never
	halfClose atomic.Bool  // and only in the client's direction

	mu     sync.Mutex
	conns  []net.Conn
	closed bool
}

// NewProxy returns a proxy to the server of dsn. It is cut at the end of the test.
func NewProxy(t testing.TB, dsn string) *Proxy {
	t.Helper()
	address, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, address.Host, func(l net.Listener) net.Listener { return l })
	address.Host = p.listener.Addr().String()
	p.DSN = address.String()
	return p
}

// TLSProxy returns an address that speaks TLS in front of one that does not, until the test ends. It asks clients for a
// certificate of the CA. The embedded ClickHouse has no TLS listener of its own; what it sends through one is the same.
func TLSProxy(t testing.TB, address string, ca *CA, server Certificate) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(server.Cert, server.Key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(ca.File)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(text)
	p := newProxy(t, address, func(l net.Listener) net.Listener {
		return tls.NewListener(l, &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
		})
	})
	return p.listener.Addr().String()
}

func newProxy(t testing.TB, server string, wrap func(net.Listener) net.Listener) *Proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: server, listener: wrap(listener)}
	go p.accept()
	t.Cleanup(p.Cut)
	return p
}

// CutAfter cuts this proxy, and others with it, after n more writes of the client, 1 or more; the last of them arrives.
func (p *Proxy) CutAfter(n int, others ...*Proxy) {
	p.others = others
	p.maxWrites.Store(p.writes.Load() + int64(n))
}

// Bytes is how many bytes the client has sent.
func (p *Proxy) Bytes() int64 { return p.bytes.Load() }

// CutAfterBytes cuts this proxy after n more bytes of the client, 1 or more; the last of them arrives.
func (p *Proxy) CutAfterBytes(n int64) { p.maxBytes.Store(p.bytes.Load() + n) }

// HalfCloseAfterBytes is CutAfterBytes for the client's direction only: the server sees the end of the stream, and its
// answer arrives.
func (p *Proxy) HalfCloseAfterBytes(n int64) {
	p.halfClose.Store(true)
	p.CutAfterBytes(n)
}

// IsCut says whether it has been cut.
func (p *Proxy) IsCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Cut closes every connection and accepts no more.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	_ = p.listener.Close() // it ends accept
	p.closeAll()
}

// Drop loses everything that is sent from now on, in both directions, and closes nothing: as when the network loses the
// other end.
func (p *Proxy) Drop() { p.dropping.Store(true) }

// Pass ends Drop for what is sent from now on. The connections of that time are closed, since they have lost a part.
func (p *Proxy) Pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropping.Store(false)
	p.closeAll()
}

// Refuse closes every connection, and each new one, until Accept.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusing.Store(true)
	p.closeAll()
}

// Refused is how many new connections have been closed by Refuse.
func (p *Proxy) Refused() int64 { return p.refused.Load() }

// Accept ends Refuse.
func (p *Proxy) Accept() { p.refusing.Store(false) }

func (p *Proxy) closeAll() {
	for _, conn := range p.conns {
		_ = conn.Close() // the other direction may have closed it
	}
	p.conns = nil
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.refusing.Load() {
			_ = client.Close()
			p.refused.Add(1)
			continue
		}
		server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.server)
		if err != nil {
			_ = client.Close() // shows the client that the server is away
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		go p.copy(limited{server, p}, client, p.count)
		go p.copy(client, server, func() {})
	}
}

// copy forwards what is read until either end is closed.
func (p *Proxy) copy(to io.WriteCloser, from io.Reader, forwarded func()) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !p.dropping.Load() {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
			forwarded()
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) count() {
	if p.writes.Add(1) == p.maxWrites.Load() {
		p.Cut()
		for _, other := range p.others {
			other.Cut()
		}
	}
}

// limited writes to the server no more than maxBytes.
type limited struct {
	net.Conn

	proxy *Proxy
}

func (l limited) Write(b []byte) (int, error) {
	sent, most := l.proxy.bytes.Add(int64(len(b))), l.proxy.maxBytes.Load()
	if most == 0 || sent < most {
		return l.Conn.Write(b)
	}
	last := b[:max(0, int64(len(b))-(sent-most))]
	if len(last) == 0 {
		return len(b), nil // dropped
	}
	_, err := l.Conn.Write(last)
	if server, ok := l.Conn.(*net.TCPConn); ok && l.proxy.halfClose.Load() {
		return len(b), errors.Join(err, server.CloseWrite())
	}
	l.proxy.Cut()
	return len(last), errors.Join(err, net.ErrClosed)
}
