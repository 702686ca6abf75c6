package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

// Admin is the operator's listener: /readyz, /metrics and /debug/pprof. It is the standard library's server, because
// profiles are streamed and both handlers are written for it.
type Admin struct {
	listener net.Listener
	server   *http.Server
}

// NewAdmin owns listener from then on.
func NewAdmin(listener net.Listener, ready *Readiness, metrics prometheus.Gatherer, log *slog.Logger) *Admin {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		lacks, missing := ready.look(r.Context())
		status, body := http.StatusOK, map[string]any{"ready": len(lacks) == 0}
		if len(lacks) > 0 {
			status, body["not_ready"] = http.StatusServiceUnavailable, lacks
		}
		if len(missing) > 0 {
			body["missing"] = missing
		}
		answer(w, status, body)
	})
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &Admin{listener: listener, server: &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Content-Type-Options", "nosniff")
			mux.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 5 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}
}

// URL is where the operator looks, http://127.0.0.1:9090.
func (a *Admin) URL() string { return "http://" + a.listener.Addr().String() }

// Run serves until ctx is cancelled; a profile under way is cut off.
func (a *Admin) Run(ctx context.Context) error {
	unhook := context.AfterFunc(ctx, func() { _ = a.server.Close() }) // Serve returns what matters
	defer unhook()
	if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", a.listener.Addr(), err)
	}
	return nil
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error is a client that has gone
}

// A Check returns nil when something works now, else why it does not.
type Check func(ctx context.Context) error

// checkTimeout bounds one check, so that /readyz answers while something hangs.
const checkTimeout = 2 * time.Second

// Readiness is the list of what must work before the process takes traffic. What has no check yet is not ready. It is a
// prometheus.Collector, so that an alert sees what /readyz says.
type Readiness struct {
	mu       sync.Mutex
	names    []string
	checks   map[string]Check
	optional map[string]bool // names that the process takes traffic without
}

// NewReadiness requires each of names.
func NewReadiness(names ...string) *Readiness {
	return &Readiness{names: names, checks: map[string]Check{}, optional: map[string]bool{}}
}

// Provide gives name its check; a name that was not required is added.
func (r *Readiness) Provide(name string, check Check) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
	r.checks[name] = check
}

// Note gives name a check of something that the process works without for a while: /readyz shows it as missing.
func (r *Readiness) Note(name string, check Check) {
	r.Provide(name, check)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.optional[name] = true
}

// A Lack is one thing that is not ready.
type Lack struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`

	optional bool
}

// Lacking runs all checks at once and returns what is not ready, in the order in which it was required; nil means
// ready.
func (r *Readiness) Lacking(ctx context.Context) []Lack {
	lacks, _ := r.look(ctx)
	return lacks
}

// look runs all checks at once and returns what is not ready, and apart from it what is only missing.
func (r *Readiness) look(ctx context.Context) (lacks, missing []Lack) {
	for _, l := range r.all(ctx) {
		switch {
		case l.Reason == "":
		case l.optional:
			missing = append(missing, l)
		default:
			lacks = append(lacks, l)
		}
	}
	return lacks, missing
}

// all is what was required, without a reason where it is ready.
func (r *Readiness) all(ctx context.Context) []Lack {
	r.mu.Lock()
	all := make([]Lack, len(r.names))
	var running sync.WaitGroup
	for i, name := range r.names {
		all[i].Name, all[i].optional = name, r.optional[name]
		if check := r.checks[name]; check != nil {
			running.Go(func() { all[i].Reason = reason(ctx, check) })
		} else {
			all[i].Reason = "not started yet"
		}
	}
	r.mu.Unlock()
	running.Wait()
	return all
}

// reason is why a check fails, "" if it does not. It waits no longer than checkTimeout, even if the check ignores its
// context.
func reason(ctx context.Context, check Check) string {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- check(ctx) }()
	select {
	case err := <-result:
		if err != nil {
			return err.Error()
		}
		return ""
	case <-ctx.Done():
		return fmt.Sprintf("no answer within %s", checkTimeout)
	}
}

// Wait returns once nothing lacks, or with what still does when ctx ends.
func (r *Readiness) Wait(ctx context.Context) error {
	for {
		lacks := r.Lacking(ctx)
		if len(lacks) == 0 {
			return nil
		}
		if err := lifecycle.Pause(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("wait for %s (%s): %w", lacks[0].Name, lacks[0].Reason, err)
		}
	}
}

var readyDesc = prometheus.NewDesc("answerscope_ready", "1 for what works, 0 for what /readyz says does not, by its name there.", []string{"check"}, nil)

// Describe describes the one metric.
func (r *Readiness) Describe(to chan<- *prometheus.Desc) { to <- readyDesc }

// Collect runs every check.
func (r *Readiness) Collect(to chan<- prometheus.Metric) {
	for _, required := range r.all(context.Background()) {
		value := 1.0
		if required.Reason != "" {
			value = 0
		}
		to <- prometheus.MustNewConstMetric(readyDesc, prometheus.GaugeValue, value, required.Name)
	}
}
