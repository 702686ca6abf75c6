package upkeep_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/postgres"
)

// interruptions are the waits after which a mirror tries again.
type interruptions chan time.Duration

func (interruptions) Enabled(context.Context, slog.Level) bool { return true }
func (i interruptions) WithAttrs([]slog.Attr) slog.Handler     { return i }
func (i interruptions) WithGroup(string) slog.Handler          { return i }
func (i interruptions) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "mirror interrupted" {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "wait" {
				i <- a.Value.Duration()
			}
			return true
		})
	}
	return nil
}

func (i interruptions) next(t *testing.T) time.Duration {
	t.Helper()
	select {
	case wait := <-i:
		return wait
	case <-time.After(30 * time.Second):
		t.Fatal("the mirror is not interrupted")
		return 0
	}
}

func wantReady(t *testing.T, m *upkeep.Mirror) {
	t.Helper()
	wait.For(t, "the mirror to be ready", func() bool { return m.Ready(t.Context()) == nil })
}

// root is one connection that sees and ends the others.
func (e *mirroringEnvironment) root(t *testing.T) *postgres.DB {
	t.Helper()
	pg := e.pg
	pg.MaxConns = 1
	root, err := postgres.Open(t.Context(), pg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.Exec(t.Context(), "RESET ROLE"); err != nil {
		t.Fatal(err)
	}
	return root
}

// cut ends every other connection to the database.
func (e *mirroringEnvironment) cut(t *testing.T) {
	t.Helper()
	root := e.root(t)
	defer root.Close()
	const all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"
	if _, err := root.Exec(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// Of several mirrors one copies. A standby that had to reconnect stayed not ready for as long as the other one ran.
func TestAllMirrorsAreReadyAgainAfterAnInterruption(t *testing.T) {
	e := newMirroring(t)
	var mirrors []*upkeep.Mirror
	var logs []interruptions
	for range 2 {
		log := make(interruptions, 100)
		m := e.mirror(slog.New(log))
		defer testkit.Start(t, m.Run)()
		mirrors, logs = append(mirrors, m), append(logs, log)
	}
	e.connected(t, 2)
	e.cut(t)
	for i := range mirrors {
		logs[i].next(t)
	}
	for _, m := range mirrors {
		wantReady(t, m)
	}
}

// connected waits until n mirrors have asked for the outbox's lock.
func (e *mirroringEnvironment) connected(t *testing.T, n int) {
	t.Helper()
	root := e.root(t)
	defer root.Close()
	wait.For(t, fmt.Sprintf("%d mirrors to be connected", n), func() bool {
		var got int
		if err := root.QueryRow(t.Context(), `
			SELECT count(*)
			FROM pg_stat_activity
			WHERE datname = current_database() AND pid != pg_backend_pid()
			  AND query ~ 'answerscope_lead|LISTEN|outbox_changes'`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got == n
	})
}

// The pauses between tries grow only while none succeeds. They once grew over the whole run of the process, to 5 s
// after its sixth interruption.
func TestPausesBeginShortAfterASuccess(t *testing.T) {
	e := newMirroring(t)
	log := make(interruptions, 100)
	m := e.mirror(slog.New(log))
	defer testkit.Start(t, m.Run)()
	for n := range 6 {
		wantReady(t, m)
		e.connected(t, 1)
		e.cut(t)
		if wait := log.next(t); wait > 150*time.Millisecond {
			t.Fatalf("after %d interruptions a pause of %v", n+1, wait)
		}
	}
}

// A proxy passes bytes between a mirror and Postgres until drop makes it lose them, as a broken network does.
type proxy struct {
	listener net.Listener
	to       string
	dropped  atomic.Int64 // connections up to this one lose what they are sent
	mu       sync.Mutex
	open     []net.Conn
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, to: to}
	go p.serve()
	t.Cleanup(func() {
		listener.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range p.open {
			c.Close()
		}
	})
	return p
}

func (p *proxy) serve() {
	for n := int64(1); ; n++ {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.to)
		if err != nil {
			near.Close()
			return
		}
		p.mu.Lock()
		p.open = append(p.open, near, far)
		p.mu.Unlock()
		go p.pass(n, far, near)
		go p.pass(n, near, far)
	}
}

func (p *proxy) pass(n int64, to, from net.Conn) {
	b := make([]byte, 64<<10)
	for {
		got, err := from.Read(b)
		if p.dropped.Load() >= n {
			io.Copy(io.Discard, from)
			return
		}
		if err == nil {
			_, err = to.Write(b[:got])
		}
		if err != nil {
			to.Close()
			return
		}
	}
}

// drop loses what the open connections are sent from now on.
func (p *proxy) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped.Store(int64(len(p.open) / 2))
}

// A mirror once waited for ever on a connection whose other end was lost without a reset.
func TestAMirrorNoticesALostConnection(t *testing.T) {
	e := newMirroring(t)
	address, err := url.Parse(e.pg.DSN)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, address.Host)
	address.Host = p.listener.Addr().String()
	pg := e.pg
	pg.DSN = address.String()
	e.from = store.OpenControlPlane(t, pg)
	log := make(interruptions, 100)
	m := e.mirror(slog.New(log))
	m.SetTimeout(500 * time.Millisecond)
	defer testkit.Start(t, m.Run)()
	e.connected(t, 1)
	p.drop()
	log.next(t)
	e.cut(t) // as Postgres does itself after a while: the lost connection still holds the lock
	wantReady(t, m)
	root := e.root(t)
	defer root.Close()
	addBrand(t, root)
	e.want(t, "Lumen", "SELECT arrayStringConcat(groupArray(name), ',') FROM dimension_brands FINAL WHERE NOT deleted")
}
