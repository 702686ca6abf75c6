package mirror_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/answerscope/answerscope/pipeline/mirror"
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

func wantReady(t *testing.T, m *mirror.Mirror) {
	t.Helper()
	bound := time.NewTimer(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer bound.Stop()
	defer tick.Stop()
	for {
		err := m.Ready(t.Context())
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-bound.C:
			t.Fatalf("not ready: %v", err)
		}
	}
}

// root is one connection that sees and ends the others.
func (w *world) root(t *testing.T) *postgres.DB {
	t.Helper()
	pg := w.pg
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
func (w *world) cut(t *testing.T) {
	t.Helper()
	root := w.root(t)
	defer root.Close()
	const all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"
	if _, err := root.Exec(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// Of several mirrors one copies. One that waited for the lock again after Postgres
// was away stayed not ready for as long as the other lived.
func TestAllMirrorsAreReadyAgainAfterAnInterruption(t *testing.T) {
	w := newWorld(t)
	var mirrors []*mirror.Mirror
	var logs []interruptions
	for range 2 {
		log := make(interruptions, 100)
		m, stop := w.run(t, mirror.DefaultConfig(), w.from, log)
		defer stop()
		mirrors, logs = append(mirrors, m), append(logs, log)
	}
	w.connected(t, 2)
	w.cut(t)
	for i := range mirrors {
		logs[i].next(t)
	}
	for _, m := range mirrors {
		wantReady(t, m)
	}
}

// connected waits until n mirrors have asked for the outbox's lock.
func (w *world) connected(t *testing.T, n int) {
	t.Helper()
	bound := time.NewTimer(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer bound.Stop()
	defer tick.Stop()
	root := w.root(t)
	defer root.Close()
	for {
		var got int
		const question = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ~ 'answerscope_outbox|LISTEN|outbox_changes' AND pid != pg_backend_pid()"
		if err := root.QueryRow(t.Context(), question).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got == n {
			return
		}
		select {
		case <-tick.C:
		case <-bound.C:
			t.Fatalf("%d mirrors are connected, want %d", got, n)
		}
	}
}

// The pauses between tries grow while none succeeds, and only then: they grew over
// the life of the process, to 5 s after its sixth interruption.
func TestAnInterruptionForgetsTheEarlierOnes(t *testing.T) {
	w := newWorld(t)
	log := make(interruptions, 100)
	m, stop := w.run(t, mirror.DefaultConfig(), w.from, log)
	defer stop()
	for n := range 6 {
		wantReady(t, m)
		w.connected(t, 1)
		w.cut(t)
		if wait := log.next(t); wait > 150*time.Millisecond {
			t.Fatalf("after %d interruptions a pause of %v", n+1, wait)
		}
	}
}

// A proxy passes bytes between a mirror and Postgres until it falls silent, as a
// network does that lost one end.
type proxy struct {
	listener net.Listener
	to       string
	silent   atomic.Int64 // connections up to this one are
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
		if p.silent.Load() >= n {
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

// fallSilent loses what comes from now on, of the connections that there are.
func (p *proxy) fallSilent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent.Store(int64(len(p.open) / 2))
}

// A connection of which the other end is lost without a word was waited on for ever.
func TestAMirrorNoticesThatPostgresFellSilent(t *testing.T) {
	w := newWorld(t)
	address, err := url.Parse(w.pg.DSN)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, address.Host)
	address.Host = p.listener.Addr().String()
	pg := w.pg
	pg.DSN = address.String()
	from, err := postgres.Open(t.Context(), pg)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	cfg := mirror.DefaultConfig()
	cfg.Silence = 500 * time.Millisecond
	log := make(interruptions, 100)
	m, stop := w.run(t, cfg, from, log)
	defer stop()
	w.connected(t, 1)
	p.fallSilent()
	log.next(t)
	w.cut(t) // as Postgres does itself after a while: it holds the lock of who is lost
	wantReady(t, m)
	root := w.root(t)
	defer root.Close()
	org, err := root.AddOrganization(t.Context(), "Acme", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := root.AddBrand(t.Context(), org.ID, postgres.NewBrand{Name: "Lumen", Slug: "lumen"}); err != nil {
		t.Fatal(err)
	}
	w.want(t, "Lumen", "SELECT arrayStringConcat(groupArray(name), ',') FROM dimension_brands FINAL WHERE NOT deleted")
}
