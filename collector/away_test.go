package collector

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/collector/visitor"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/ingest/producer/spool"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

// PostgreSQL and Kafka hang: their connections stand and answer nothing, first under a collector that runs, then when
// one starts. Each beacon is answered in time, and is in the spool.
func TestBeaconsAreAcceptedWhilePostgresAndKafkaHang(t *testing.T) {
	control := store.ControlPlane(t)
	lumen := addBrand(t, store.OpenControlPlane(t, control), "lumen", "lumen.example")
	proxy := testkit.NewProxy(t, control.DSN)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "partitions.json"),
		[]byte(`{"topic":"visits","partitions":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, start := range []string{"with PostgreSQL", "without PostgreSQL"} {
		stop, s := startAway(t, proxy.DSN, dir)
		wait.For(t, "the sites, "+start, func() bool { return s.visit(t, lumen).StatusCode == http.StatusNoContent })
		if start == "with PostgreSQL" {
			wait.For(t, "the list of sites on disk", func() bool {
				_, err := os.Stat(filepath.Join(dir, "sites.json"))
				return err == nil
			})
		}
		proxy.Drop()
		for range 5 {
			if wrong := s.beacon(t, lumen); wrong != "" {
				t.Errorf("started %s: %s", start, wrong)
			}
		}
		stop()
	}
	kept, err := spool.Open(spool.Config{Dir: filepath.Join(dir, "spool"), SegmentBytes: 1 << 20},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	if n := kept.Records(); n != 12 {
		t.Errorf("%d records are in the spool, want the 12 that were accepted", n)
	}
}

// startAway starts a collector whose Kafka accepts connections and never answers.
func startAway(t *testing.T, dsn, dir string) (stop func(), s *environment) {
	t.Helper()
	hanging, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hanging.Close() })
	cfg := postgres.DefaultConfig()
	cfg.DSN = dsn
	db, err := postgres.OpenLater(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s = &environment{metrics: prometheus.NewRegistry()}
	log := slog.New(slog.NewTextHandler(&s.log, nil))
	sites := site.New(filepath.Join(dir, "sites.json"), db, s.metrics, log)
	visitors, err := visitor.New("", db, s.metrics, log)
	if err != nil {
		t.Fatal(err)
	}
	appends := producer.DefaultConfig()
	appends.Brokers, appends.AckTimeout = []string{hanging.Addr().String()}, time.Second
	appends.Spool.Dir, appends.Spool.PartitionsFile = filepath.Join(dir, "spool"), filepath.Join(dir, "partitions.json")
	p, err := producer.New(appends, log, s.metrics)
	if err != nil {
		t.Fatal(err)
	}
	if s.collector, err = New(DefaultConfig(),
		Parts{Sites: sites, Visitors: visitors, Append: p.Append}, s.metrics, log); err != nil {
		t.Fatal(err)
	}
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, log, s.metrics)
	s.collector.Mount(server)
	s.address = listener.Addr().String()
	var stops []func()
	for _, run := range []func(context.Context) error{sites.Run, visitors.Run, p.Run, server.Run} {
		stops = append(stops, testkit.Start(t, run))
	}
	return func() {
		for i := range stops {
			stops[len(stops)-1-i]()
		}
		db.Close()
	}, s
}

// visit sends a beacon.
func (s *environment) visit(t *testing.T, of brandOf) reply {
	t.Helper()
	return s.send(t, http.MethodPost, of.beacon("https://lumen.example/?utm_source=chatgpt.com", ""),
		"Origin: https://lumen.example")
}

// beacon sends a beacon and returns what is wrong with its answer.
func (s *environment) beacon(t *testing.T, of brandOf) string {
	t.Helper()
	began := time.Now()
	r := s.visit(t, of)
	if took := time.Since(began); r.StatusCode != http.StatusNoContent || took > wait.Hang {
		return fmt.Sprintf("answered %d after %s: %s", r.StatusCode, took, r.body)
	}
	return ""
}
