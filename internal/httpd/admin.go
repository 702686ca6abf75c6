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
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
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
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics,
		promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}))
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
	// A page of another site reaches what listens on this machine alone by a name that its owner resolves to it. What
	// listens elsewhere has names of its network.
	address, isTCP := listener.Addr().(*net.TCPAddr)
	isLocal := isTCP && address.IP.IsLoopback()
	return &Admin{listener: listener, server: &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Content-Type-Options", "nosniff")
			if isLocal && !isAddress(r.Host) {
				http.Error(w, "want an IP address or localhost as Host", http.StatusMisdirectedRequest)
				return
			}
			mux.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 5 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}
}

// isAddress reports whether a Host is an IP address, or a name of one label, such as localhost.
func isAddress(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || !strings.Contains(host, ".")
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
