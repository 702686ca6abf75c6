package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/collector/script"
	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/collector/visitor"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/useragent"
)

// Config is how beacons are taken.
type Config struct {
	SiteLimit     int    // beacons a second of one site; up to a second's worth may come at once
	CountryHeader string // a header in which a trusted proxy says the visitor's country; "" is none
}

// DefaultConfig trusts no header.
func DefaultConfig() Config { return Config{SiteLimit: 500} }

// Validate says everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if c.SiteLimit < maxItems || c.SiteLimit > 10_000_000 {
		errs = append(errs, fmt.Errorf("site limit %d: want %d, so that a whole array passes, to 10000000 beacons a second", c.SiteLimit, maxItems))
	}
	for _, b := range []byte(c.CountryHeader) {
		if (b < '0' || b > '9') && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') && b != '-' {
			errs = append(errs, fmt.Errorf("country header %q: want the name of a header, such as CF-IPCountry", c.CountryHeader))
			break
		}
	}
	return errors.Join(errs...)
}

// Path is where beacons are posted.
const Path = "/t/collect"

// Parts are what a Collector asks about each beacon, and what it hands the visits to.
type Parts struct {
	Sites    *site.Directory
	Visitors *visitor.Visitors

	// Append returns nil when the topic has all values for good. Its errors are those of producer.Append:
	// ErrOverloaded, ErrNotReady and ErrStopped say that it has none of them. It keeps no value.
	Append func(ctx context.Context, topic string, values ...[]byte) error
}

// Collector answers POST /t/collect.
type Collector struct {
	cfg      Config
	parts    Parts
	limits   *limits
	metrics  *metrics
	log      *slog.Logger
	logged   atomic.Int64 // Unix second of the last failure in the log
	requests sync.Pool    // of *request
}

// New makes a collector. Its metrics are registered on reg.
func New(cfg Config, parts Parts, reg prometheus.Registerer, log *slog.Logger) (*Collector, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure collector: %w", err)
	}
	useragent.Look("") // reads the patterns, so that the first beacon does not wait for it
	m, err := newMetrics(reg)
	if err != nil {
		return nil, fmt.Errorf("configure collector: %w", err)
	}
	c := &Collector{cfg: cfg, parts: parts, limits: newLimits(cfg.SiteLimit, time.Now()), metrics: m, log: log}
	c.requests.New = func() any { return &request{c: c} }
	return c, nil
}

// Mount adds the routes: that of beacons past the edge, which costs more than a beacon does, and those of the script.
func (c *Collector) Mount(server *httpd.Server) {
	server.Direct(Path, c.Handle)
	script.Mount(server.App)
}

// Listener is for many small requests of strangers: none of them may be large, or slow.
func Listener() httpd.Config {
	cfg := httpd.DefaultConfig()
	cfg.Name = "collector"
	cfg.WriteTimeout = 15 * time.Second
	cfg.BodyLimit = 64 << 10   // what is larger than a beacon may be is still told so, up to here
	cfg.HeaderLimit = 16 << 10 // a connection holds as much
	return cfg
}

// metrics keep the counters of the common outcomes, so that a beacon looks up none by its labels.
type metrics struct {
	beacons  *prometheus.CounterVec
	accepted prometheus.Counter
	dropped  map[string]prometheus.Counter // by reason
	crawlers *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		beacons: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_collector_beacons_total", Help: "Beacons by outcome (accepted, dropped, refused) and reason; a request whose body was not read counts as one."},
			[]string{"outcome", "reason"}),
		crawlers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_collector_crawler_beacons_total", Help: "Beacons that an AI crawler sent while it read a page, by its name. They are dropped."},
			[]string{"crawler"}),
		dropped: map[string]prometheus.Counter{},
	}
	m.accepted = m.beacons.WithLabelValues("accepted", "")
	for _, reason := range []string{dropBot, dropCrawler, dropPrivacy, dropNoSource} {
		m.dropped[reason] = m.beacons.WithLabelValues("dropped", reason)
	}
	return m, errors.Join(reg.Register(m.beacons), reg.Register(m.crawlers))
}

func (m *metrics) refused(reason string, n int) {
	m.beacons.WithLabelValues("refused", reason).Add(float64(n))
}
