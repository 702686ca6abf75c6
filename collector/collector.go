// Package collector takes beacons from the pages of brands and appends them to the log as visits.
//
// POST /t/collect is beacon.go, top to bottom. It checks in this order, and the first check that fails is the answer:
//
//  1. the method                               405; OPTIONS is a preflight (refusal.go)
//  2. Content-Encoding, Content-Type           415
//  3. the size of the body, 8,192 bytes        413
//  4. the body as a whole                      400 (decode.go)
//  5. each beacon's brand and origin           403
//  6. bots, and visits without a platform      204 with X-Answerscope (visit.go)
//  7. the limits of site and address           429 (limit.go)
//  8. room on the disk, the log or the spool   503
//  9. the append to the log or the spool       204
//
// An array is answered as one: all of its beacons pass, or none is counted. Only visits to append count towards a
// limit: other origins, and beacons that are dropped, do not use it up.
//
// The hot path queries no database, takes no lock that all cores share, and stores nothing of a request: a visitor's
// address goes into two functions of package visitor and no further.
package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/time/rate"

	"github.com/answerscope/answerscope/collector/script"
	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/collector/visitor"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/useragent"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Config has the settings of a collector.
type Config struct {
	SiteLimit      int           // beacons a second of one site; up to a second's worth may come at once
	TrustedProxies httpd.Proxies // their X-Forwarded-For and country header are believed
	CountryHeader  string        // header in which a trusted proxy names the visitor's country; "" is none
}

// DefaultConfig trusts no header.
func DefaultConfig() Config { return Config{SiteLimit: 500} }

// Validate joins an error for each wrong field.
func (c Config) Validate() error {
	var errs []error
	if c.SiteLimit < maxItems || c.SiteLimit > 10_000_000 {
		const want = "site limit %d: want %d, so that a whole array passes, to 10000000 beacons a second"
		errs = append(errs, fmt.Errorf(want, c.SiteLimit, maxItems))
	}
	if strings.Trim(strings.ToLower(c.CountryHeader), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		errs = append(errs, fmt.Errorf("country header %q: want the name of a header, such as CF-IPCountry",
			c.CountryHeader))
	}
	return errors.Join(errs...)
}

// Path is where beacons are posted.
const Path = "/t/collect"

// Parts are the look-ups of a Collector and its way to the log.
type Parts struct {
	Sites    *site.Directory
	Visitors *visitor.Visitors

	// Append is the method of producer.Producer: nil when the topic has all values, and none of them after
	// ErrOverloaded, ErrNoRoom, ErrNotReady or ErrStopped. The values may be used again.
	Append func(ctx context.Context, topic string, values ...[]byte) error
}

// Collector answers POST /t/collect.
type Collector struct {
	cfg          Config
	parts        Parts
	limits       *limits
	metrics      *metrics
	log          *slog.Logger
	appendErrors rate.Sometimes
	requests     sync.Pool // of *request
}

// New makes a collector. Its metrics are registered on reg.
func New(cfg Config, parts Parts, reg prometheus.Registerer, log *slog.Logger) (*Collector, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure collector: %w", err)
	}
	useragent.Look("") // reads the patterns, so that the first beacon does not wait for it
	c := &Collector{cfg: cfg, parts: parts, limits: newLimits(cfg.SiteLimit), metrics: newMetrics(reg), log: log,
		appendErrors: rate.Sometimes{Interval: time.Second}}
	c.requests.New = func() any { return &request{c: c} }
	return c, nil
}

// Build makes a collector that saves the list of brands' domains in dataDir, with the parts that it needs.
func Build(
	cfg Config, dataDir, countryDatabase string,
	db *postgres.DB, appends *producer.Producer, reg prometheus.Registerer, log *slog.Logger,
) (*Collector, []lifecycle.Part, error) {
	sites := site.New(filepath.Join(dataDir, "sites.json"), db, reg, log)
	visitors, err := visitor.New(countryDatabase, db, reg, log)
	if err != nil {
		return nil, nil, err
	}
	c, err := New(cfg, Parts{Sites: sites, Visitors: visitors, Append: appends.Append}, reg, log)
	return c, []lifecycle.Part{
		{Name: "sites", Run: sites.Run, Ready: sites.Ready},
		{Name: "visitors", Run: visitors.Run},
	}, err
}

// Mount adds the routes of beacons and of the script. Beacons bypass the edge, which costs more than a beacon does.
func (c *Collector) Mount(server *httpd.Server) {
	server.Direct(Path, c.Handle)
	script.Mount(server.App)
}

// Listener configures a server for many small requests of unknown clients: none of them may be large, or slow.
func Listener() httpd.Config {
	cfg := httpd.DefaultConfig()
	cfg.Name = "collector"
	cfg.WriteTimeout = 15 * time.Second
	cfg.BodyLimit = 64 << 10   // a body that is too large for a beacon is answered 413 in our own words up to here
	cfg.HeaderLimit = 16 << 10 // of memory for each connection
	return cfg
}

// metrics has the counters of the common outcomes, so that a beacon looks up none by its labels.
type metrics struct {
	beacons  *prometheus.CounterVec
	accepted prometheus.Counter
	dropped  map[string]prometheus.Counter // by reason
	crawlers *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return promauto.With(reg).NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		beacons: counter("answerscope_collector_beacons_total",
			"Beacons by outcome (accepted, dropped, refused) and reason; "+
				"a request whose body was not read counts as one.",
			"outcome", "reason"),
		crawlers: counter("answerscope_collector_crawler_beacons_total",
			"Beacons that an AI crawler sent while it read a page, by its name. They are dropped.", "crawler"),
		dropped: map[string]prometheus.Counter{},
	}
	m.accepted = m.beacons.WithLabelValues("accepted", "")
	for _, reason := range []string{dropBot, dropCrawler, dropPrivacy, dropNoSource} {
		m.dropped[reason] = m.beacons.WithLabelValues("dropped", reason)
	}
	return m
}
