package testkit

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// A Wire leads to a server until it is cut. What was sent before has arrived, and
// nothing can be said or heard any more: as when the process at this end is killed.
// It is safe for concurrent use.
type Wire struct {
	DSN string // the server's, by way of the wire

	server   string
	listener net.Listener
	said     atomic.Int64
	cutAt    atomic.Int64 // cut after so many; 0: never
	with     []*Wire      // are cut too
	hushed   atomic.Bool

	bytes     atomic.Int64
	bytesMost atomic.Int64 // the end after so many; 0: never
	mutes     atomic.Bool  // and it is no cut

	mu   sync.Mutex
	open []net.Conn
	done bool
}

// NewWire leads to the server of dsn. It is cut at the end of the test.
func NewWire(t testing.TB, dsn string) *Wire {
	t.Helper()
	address, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{server: address.Host, listener: listener}
	address.Host = listener.Addr().String()
	w.DSN = address.String()
	go w.accept()
	t.Cleanup(w.Cut)
	return w
}

// CutAfter cuts this wire, and others with it, once this end has said something n
// times from now, 1 or more; the last of it arrives.
func (w *Wire) CutAfter(n int, others ...*Wire) {
	w.with = others
	w.cutAt.Store(w.said.Load() + int64(n))
}

// Bytes is how many bytes this end has said.
func (w *Wire) Bytes() int64 { return w.bytes.Load() }

// CutAfterBytes cuts this wire once this end has said so many bytes from now, 1 or more;
// the last of them arrives, and none after.
func (w *Wire) CutAfterBytes(n int64) { w.bytesMost.Store(w.bytes.Load() + n) }

// MuteAfterBytes is CutAfterBytes for what this end says alone: the server hears that it
// has ended, and is heard.
func (w *Wire) MuteAfterBytes(n int64) {
	w.mutes.Store(true)
	w.CutAfterBytes(n)
}

// IsCut says whether it has been cut.
func (w *Wire) IsCut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

// Cut cuts it.
func (w *Wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	w.done = true
	_ = w.listener.Close() // it ends the loop of accept, whatever it says
	for _, conn := range w.open {
		_ = conn.Close() // the other direction may have closed it
	}
}

// Hush loses whatever is said from now on, in both directions, and closes nothing: as
// when a network has lost the other end.
func (w *Wire) Hush() { w.hushed.Store(true) }

func (w *Wire) accept() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		far, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", w.server)
		if err != nil {
			_ = near.Close() // who dialed is told so by this
			continue
		}
		w.mu.Lock()
		w.open = append(w.open, near, far)
		w.mu.Unlock()
		go w.pass(mouth{far, w}, near, w.count)
		go w.pass(near, far, func() {})
	}
}

// pass brings what is read to the other end until either is closed.
func (w *Wire) pass(to io.WriteCloser, from io.Reader, passed func()) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !w.hushed.Load() {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
			passed()
		}
		if err != nil {
			return
		}
	}
}

func (w *Wire) count() {
	if said := w.said.Add(1); said == w.cutAt.Load() {
		w.Cut()
		for _, other := range w.with {
			other.Cut()
		}
	}
}

// A mouth is where what this end says comes out.
type mouth struct {
	net.Conn

	wire *Wire
}

// Write says of b what may still be said.
func (m mouth) Write(b []byte) (int, error) {
	said, most := m.wire.bytes.Add(int64(len(b))), m.wire.bytesMost.Load()
	if most == 0 || said < most {
		return m.Conn.Write(b)
	}
	last := b[:max(0, int64(len(b))-(said-most))]
	if len(last) == 0 {
		return len(b), nil // to nobody
	}
	_, err := m.Conn.Write(last)
	if far, ok := m.Conn.(*net.TCPConn); ok && m.wire.mutes.Load() {
		return len(b), errors.Join(err, far.CloseWrite())
	}
	m.wire.Cut()
	return len(last), errors.Join(err, net.ErrClosed)
}
