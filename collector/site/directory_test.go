package site_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// soon is how long a change may take on a busy machine; docs/operations.md promises two seconds.
const soon = wait.Hang

// An environment is a database with one organization, and the way there.
type environment struct {
	dsn          string
	db           *postgres.DB
	organization postgres.Organization
	file         string
	log          logbuffer.Buffer
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	w := &environment{dsn: store.ControlPlane(t).DSN, file: filepath.Join(t.TempDir(), "sites", "list")}
	w.db = open(t, w.dsn)
	var err error
	if w.organization, err = w.db.AddOrganization(t.Context(), "Acme", "acme"); err != nil {
		t.Fatal(err)
	}
	return w
}

func open(t *testing.T, dsn string) *postgres.DB {
	t.Helper()
	cfg := postgres.DefaultConfig()
	cfg.DSN = dsn
	db, err := postgres.OpenLater(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// brand is a new one with domains.
func (w *environment) brand(t *testing.T, name string, domains ...string) uuid.UUID {
	t.Helper()
	b, _, err := w.db.AddBrand(t.Context(), w.organization.ID, postgres.NewBrand{Name: name, Domains: domains})
	if err != nil {
		t.Fatal(err)
	}
	return b.ID
}

func (w *environment) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := w.db.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

// root does what only a superuser may.
func (w *environment) root(t *testing.T, text string) {
	t.Helper()
	cfg := postgres.DefaultConfig()
	cfg.DSN, cfg.MaxConns = w.dsn, 1
	db, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{"RESET ROLE", text} {
		if _, err := db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
}

// directory is one that runs until the end of the test, or until stop.
func (w *environment) directory(t *testing.T, db *postgres.DB) (d *site.Directory, stop func()) {
	t.Helper()
	d = site.New(w.file, db, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(&w.log, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return d, stop
}

// within waits until the condition is true, and fails the test where that takes longer than soon.
func within(t *testing.T, what string, condition func() bool) {
	t.Helper()
	began := time.Now()
	wait.For(t, what, condition)
	if took := time.Since(began); took > soon {
		t.Fatalf("%s: took %v, want at most %v", what, took, soon)
	}
}

func ready(t *testing.T, d *site.Directory) {
	t.Helper()
	within(t, "the directory is ready", func() bool { return d.Ready(t.Context()) == nil })
}

// allows reports whether d accepts an origin for a brand.
func allows(d *site.Directory, brand uuid.UUID, host string) bool {
	s, ok := d.Site(brand)
	return ok && s.BrandID == brand && s.Allows(host)
}

func TestADomainWorksAndStopsWithinTwoSeconds(t *testing.T) {
	w := newEnvironment(t)
	acme := w.brand(t, "Acme", "acme.example")
	d, _ := w.directory(t, w.db)
	ready(t, d)
	s, ok := d.Site(acme)
	if !ok || s.OrganizationID != w.organization.ID || !s.Allows("www.acme.example") {
		t.Fatalf("site %+v, %v", s, ok)
	}
	if _, ok := d.Site(uuid.Must(uuid.NewV4())); ok {
		t.Error("there is a site of no brand")
	}
	w.exec(t, "INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, 'https://New.Example./path')", acme)
	within(t, "a new domain works", func() bool {
		return allows(d, acme, "new.example") && d.Registered("www.new.example")
	})
	w.exec(t, "UPDATE public.brand_domains SET domain = 'newer.example' WHERE domain = 'new.example'")
	within(t, "a changed domain works, and does not", func() bool {
		return allows(d, acme, "newer.example") && !allows(d, acme, "new.example")
	})
	w.exec(t, "DELETE FROM public.brand_domains WHERE domain = 'newer.example'")
	within(t, "a removed domain stops", func() bool {
		return !allows(d, acme, "newer.example") && !d.Registered("newer.example")
	})
	if s.Allows("newer.example") || !s.Allows("acme.example") {
		t.Error("a site that was given out has changed")
	}

	other := w.brand(t, "Other", "other.example")
	within(t, "a new brand is known", func() bool {
		return allows(d, other, "other.example") && !allows(d, acme, "other.example")
	})
	w.exec(t, "DELETE FROM public.brands WHERE id = $1", other)
	within(t, "a deleted brand is unknown", func() bool {
		_, ok := d.Site(other)
		return !ok && !d.Registered("other.example")
	})
	w.exec(t, "DELETE FROM public.organizations")
	within(t, "a deleted organization's brand is unknown", func() bool { _, ok := d.Site(acme); return !ok })
}

// Notifications are lost by poolers of connections, and with connections.
func TestAChangeWithoutANotificationIsNoticed(t *testing.T) {
	w := newEnvironment(t)
	acme := w.brand(t, "Acme", "acme.example")
	w.root(t, "DROP FUNCTION private.notify_sites CASCADE")
	d, _ := w.directory(t, w.db)
	ready(t, d)
	w.exec(t, "INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, 'new.example')", acme)
	within(t, "a new domain works", func() bool { return allows(d, acme, "new.example") })
	w.exec(t, "DELETE FROM public.brand_domains WHERE domain = 'new.example'")
	within(t, "a removed domain stops", func() bool { return !allows(d, acme, "new.example") })
	w.exec(t, "DELETE FROM public.brands")
	within(t, "a deleted brand is unknown", func() bool { _, ok := d.Site(acme); return !ok })
}

func TestADirectoryStartsFromDiskAndFollowsOnceItCan(t *testing.T) {
	w := newEnvironment(t)
	acme := w.brand(t, "Acme", "acme.example")
	p := newProxy(t, w.dsn)
	db := open(t, p.dsn)

	p.close()
	first, stop := w.directory(t, db)
	within(t, "its absence to be logged", func() bool { return strings.Contains(w.log.String(), "sites not followed") })
	if first.Ready(t.Context()) == nil || allows(first, acme, "acme.example") || first.Registered("acme.example") {
		t.Error("a directory knows sites without Postgres and file")
	}
	p.open()
	ready(t, first)
	stop()
	if info, err := os.Stat(w.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("file %v, %v", info, err)
	}

	p.close()
	second, _ := w.directory(t, db)
	if err := second.Ready(t.Context()); err != nil || !allows(second, acme, "www.acme.example") {
		t.Fatalf("a start without Postgres: %v", err)
	}
	w.exec(t, "INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, 'new.example')", acme)
	w.exec(t, "DELETE FROM public.brand_domains WHERE domain = 'acme.example'")
	p.open()
	within(t, "what was changed meanwhile is known", func() bool {
		return allows(second, acme, "new.example") && !allows(second, acme, "acme.example")
	})

	for range 3 { // also with connections that die under it
		p.close()
		w.exec(t, "DELETE FROM public.brand_domains WHERE domain = 'new.example'")
		if !allows(second, acme, "new.example") {
			t.Fatal("without Postgres the last list is not used")
		}
		p.open()
		within(t, "a removed domain stops", func() bool { return !allows(second, acme, "new.example") })
		w.exec(t, "INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, 'new.example')", acme)
		within(t, "a new domain works", func() bool { return allows(second, acme, "new.example") })
	}
}

// A network may lose one end: what is asked there is never answered, and no notification comes.
func TestAConnectionThatHangsIsReplaced(t *testing.T) {
	w := newEnvironment(t)
	acme := w.brand(t, "Acme", "acme.example")
	g := newProxy(t, w.dsn)
	d, _ := w.directory(t, open(t, g.dsn))
	ready(t, d)
	g.hang()
	w.exec(t, "DELETE FROM public.brand_domains")
	within(t, "a removed domain stops", func() bool { return !allows(d, acme, "acme.example") })
}

func TestADamagedFileIsLoggedAndNotTaken(t *testing.T) {
	w := newEnvironment(t)
	acme := w.brand(t, "Acme", "acme.example")
	d, stop := w.directory(t, w.db)
	ready(t, d)
	within(t, "the list is kept", func() bool { _, err := os.Stat(w.file); return err == nil })
	stop()
	whole, err := os.ReadFile(w.file)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, w.dsn)
	p.close()
	away := open(t, p.dsn)
	for name, text := range map[string][]byte{
		"empty": nil, "cut": whole[:len(whole)/2], "a byte less": whole[:len(whole)-2],
		"its title alone": whole[:bytes.IndexByte(whole, '\n')+1],
		"another domain":  bytes.Replace(whole, []byte("acme.example"), []byte("evil.example"), 1),
		"another thing":   []byte("[]\n"), "longer": append(bytes.Clone(whole), "x\n"...),
	} {
		if err := os.WriteFile(w.file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		d, stop := w.directory(t, away)
		if d.Ready(t.Context()) == nil || allows(d, acme, "acme.example") {
			t.Errorf("a file that is %s was taken", name)
		}
		stop()
	}
	if logged := strings.Count(w.log.String(), "list of sites on disk not taken"); logged != 7 {
		t.Errorf("logged %d times, want 7:\n%s", logged, &w.log)
	}
	p.open()
	d, _ = w.directory(t, away)
	ready(t, d)
	within(t, "the file is good again", func() bool {
		now, err := os.ReadFile(w.file)
		return err == nil && bytes.Equal(now, whole)
	})
	if left, err := filepath.Glob(w.file + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left on disk: %v, %v", left, err)
	}
}

// What a killed process left half written is no obstacle, and a disk that does not take the list is logged and tried
// again with the next change.
func TestADiskThatRefusesTheListIsLogged(t *testing.T) {
	w := newEnvironment(t)
	acme := w.brand(t, "Acme", "acme.example")
	if err := os.MkdirAll(filepath.Join(w.file, "obstacle"), 0o700); err != nil {
		t.Fatal(err)
	}
	d, _ := w.directory(t, w.db)
	ready(t, d)
	within(t, "the failure to be logged", func() bool {
		return strings.Contains(w.log.String(), "list of sites not kept on disk")
	})
	if err := errors.Join(os.RemoveAll(w.file), os.WriteFile(w.file+".new", []byte("half a li"), 0o644)); err != nil {
		t.Fatal(err)
	}
	w.exec(t, "INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, 'new.example')", acme)
	within(t, "a new domain works", func() bool { return allows(d, acme, "new.example") })
	within(t, "the list is kept", func() bool {
		info, err := os.Stat(w.file)
		return err == nil && info.Mode().Perm() == 0o600
	})
}

// A proxy stands before Postgres; it can be closed and opened again.
type proxy struct {
	dsn, server string
	listener    net.Listener
	mu          sync.Mutex
	closed      bool
	conns       map[net.Conn]bool
	writers     []*writer
}

// A writer is one end of a connection; once it hangs, what is written to it is lost.
type writer struct {
	net.Conn
	hangs atomic.Bool
}

func (e *writer) Write(p []byte) (int, error) {
	if e.hangs.Load() {
		return len(p), nil
	}
	return e.Conn.Write(p)
}

func (g *proxy) add(e *writer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writers = append(g.writers, e)
}

// hang lets nothing pass through the present connections, and keeps them open.
func (g *proxy) hang() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range g.writers {
		e.hangs.Store(true)
	}
}

func newProxy(t *testing.T, dsn string) *proxy {
	t.Helper()
	address, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &proxy{server: address.Host, listener: listener, conns: map[net.Conn]bool{}}
	address.Host = listener.Addr().String()
	g.dsn = address.String()
	go g.serve()
	t.Cleanup(func() { listener.Close(); g.close() })
	return g
}

func (g *proxy) serve() {
	for {
		near, err := g.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		far, err := net.Dial("tcp", g.server)
		if err != nil || !g.keep(near, far) {
			near.Close()
			continue
		}
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			to := &writer{Conn: way[0]}
			g.add(to)
			go func() {
				_, _ = io.Copy(to, way[1])
				to.Close()
			}()
		}
	}
}

func (g *proxy) keep(conns ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range conns {
		g.conns[c] = true
	}
	return !g.closed
}

func (g *proxy) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for c := range g.conns {
		c.Close()
	}
	clear(g.conns)
}

func (g *proxy) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = false
}
