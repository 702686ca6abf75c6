package collector

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/collector/visitor"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"

// An environment is a collector on real sites, whose log is a list.
type environment struct {
	lumen, rival brandOf // of two organizations
	collector    *Collector
	metrics      *prometheus.Registry
	address      string
	log          logbuffer.Buffer

	mu      sync.Mutex
	visits  []event.Visit
	refuses error // what the log says
}

type brandOf struct{ organization, brand uuid.UUID }

func newEnvironment(t *testing.T, cfg Config) *environment {
	t.Helper()
	s := &environment{metrics: prometheus.NewRegistry()}
	log := slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	sites, visitors := s.sites(t, log)
	cfg.TrustedProxies = httpd.Proxies{netip.MustParsePrefix("127.0.0.0/8")}
	var err error
	s.collector, err = New(cfg, Parts{Sites: sites, Visitors: visitors, Append: s.append}, s.metrics, log)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, log, s.metrics)
	s.collector.Mount(server)
	s.address = listener.Addr().String()
	running(t, server.Run)
	return s
}

// sites are those of two organizations, from a database of their own.
func (s *environment) sites(t testing.TB, log *slog.Logger) (*site.Directory, *visitor.Visitors) {
	t.Helper()
	db := store.OpenControlPlane(t, store.ControlPlane(t))
	s.lumen = addBrand(t, db, "lumen", "lumen.example", "xn--bcher-kva.example")
	s.rival = addBrand(t, db, "rival", "rival.example")
	sites := site.New("", db, s.metrics, log)
	visitors, err := visitor.New("", db, s.metrics, log)
	if err != nil {
		t.Fatal(err)
	}
	running(t, sites.Run)
	running(t, visitors.Run)
	wait.For(t, "the sites", func() bool { _, known := sites.Site(s.rival.brand); return known })
	wait.For(t, "the salts of visitors", func() bool {
		return visitors.Hash(s.lumen.brand, netip.MustParseAddr("192.0.2.1"), "", time.Now()) != 0
	})
	return sites, visitors
}

func (s *environment) append(_ context.Context, topic string, values ...[]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuses != nil {
		return s.refuses
	}
	for _, value := range values {
		var v event.Visit
		if err := event.DecodeVisit(bytes.Clone(value), &v); err != nil || topic != event.TopicVisits {
			return fmt.Errorf("a record of topic %s that cannot be decoded: %w", topic, err)
		}
		s.visits = append(s.visits, v)
	}
	return nil
}

// took returns the visits since it was last asked.
func (s *environment) took() []event.Visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.visits = nil }()
	return s.visits
}

// refuse has the log answer err from now on; nil takes again.
func (s *environment) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = err
}

func addBrand(t testing.TB, db *postgres.DB, slug string, domains ...string) brandOf {
	t.Helper()
	o, err := db.AddOrganization(t.Context(), slug, slug)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := db.AddBrand(t.Context(), o.ID, postgres.NewBrand{Name: slug, Domains: domains})
	if err != nil {
		t.Fatal(err)
	}
	return brandOf{o.ID, b.ID}
}

func running(t testing.TB, run func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// reply is an answer, read whole.
type reply struct {
	*http.Response
	body string
}

// send makes a request as written: a header is a line, and may come twice. A User-Agent and a Content-Type are added
// where none is given, "Name:" leaves one out.
func (s *environment) send(t *testing.T, method, body string, headers ...string) reply {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var request strings.Builder
	fmt.Fprintf(&request, "%s %s HTTP/1.1\r\nHost: t.example\r\nConnection: close\r\nContent-Length: %d\r\n", method,
		Path, len(body))
	for _, usual := range []string{"User-Agent: " + chrome, "Content-Type: text/plain;charset=UTF-8"} {
		name, _, _ := strings.Cut(usual, ":")
		if !slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, name+":") }) {
			headers = append(headers, usual)
		}
	}
	for _, header := range headers {
		if !strings.HasSuffix(header, ":") {
			request.WriteString(header + "\r\n")
		}
	}
	request.WriteString("\r\n" + body)
	if _, err := io.WriteString(conn, request.String()); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response, string(text)}
}

// beacon is that of a session's first view of a brand's page, with more fields, which begin with a comma.
func (b brandOf) beacon(page, more string) string {
	return fmt.Sprintf(`{"u":%q,"r":"","b":"%s","e":"view","i":"s1"%s}`, page, b.brand, more)
}
