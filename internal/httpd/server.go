// Package httpd is the edge of every HTTP surface: the public server with our settings, and the admin listener.
//
// A surface adds its routes to the router that Server.Mount returns, and its handlers return errors; the edge gives
// each request an id and a context, catches panics, turns an error into a body in the surface's shape, adds an ETag,
// compresses, measures and logs. See edge.go and surface.go.
package httpd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/semaphore"
)

// Config is how a public listener behaves.
type Config struct {
	Name         string               // of the listener in logs and metrics: queryapi, collector, …
	WriteTimeout time.Duration        // for one whole response
	BodyLimit    int                  // bytes of a request's body, where its surface sets no other limit
	HeaderLimit  int                  // bytes of a request's line and headers; 4 KB refuse a browser with many cookies
	Traces       trace.TracerProvider // gets a span of every request except /healthz; nil traces nothing
}

const (
	readTimeout = 15 * time.Second // for one whole request; without it a slow sender holds its connection for ever
	idleTimeout = 60 * time.Second // between two requests of a connection; a shutdown waits for idle ones
	drain       = 10 * time.Second // how long a stop waits for requests under way before it cancels them

	// maxConnections bounds the memory of clients that send nothing: each has a buffer of HeaderLimit bytes.
	maxConnections = 16 << 10
)

// DefaultConfig suits an API that people and programs call.
func DefaultConfig() Config {
	return Config{Name: "public", WriteTimeout: 60 * time.Second, BodyLimit: 4 << 20, HeaderLimit: 32 << 10}
}

// A Server is one public listener. Surfaces add their routes to App before Run.
type Server struct {
	App *fiber.App

	cfg      Config
	listener net.Listener
	log      *slog.Logger
	seconds  *prometheus.HistogramVec
	tracer   trace.Tracer        // nil when nothing is traced
	direct   map[string]direct   // by path
	bodies   *semaphore.Weighted // bytes of bodies in memory beyond smallBody of each
	surfaces []Surface
	requests context.Context // parent of every request's context
	abandon  context.CancelFunc
	serving  atomic.Bool
}

// Listen takes an address at once, so that one in use is known before anything else is started. A client that is
// refused while it sends reads its response: its connection is not closed before its body has ended, within bounds.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return newLingeringListener(listener.(*net.TCPListener), defaultLinger), nil
}

// Fiber is the listener's configuration of fiber: for New, and for a benchmark of fiber alone.
func (c Config) Fiber() fiber.Config {
	return fiber.Config{
		ReadTimeout:           readTimeout,
		WriteTimeout:          c.WriteTimeout,
		IdleTimeout:           idleTimeout,
		BodyLimit:             c.BodyLimit,
		ReadBufferSize:        c.HeaderLimit,
		CaseSensitive:         true,
		StrictRouting:         true,
		Immutable:             true, // strings of a request may be kept; fiber would reuse their bytes for the next one
		DisableStartupMessage: true,

		Concurrency:       maxConnections,
		StreamRequestBody: true, // fasthttp would allocate Content-Length before a byte arrives; see body.go

		DisablePreParseMultipartForm: true, // a form is a body that a surface refuses in its own words
	}
}

// New returns a server whose only route is GET /healthz. It owns listener, and serves once it Runs.
func New(cfg Config, listener net.Listener, log *slog.Logger, metrics prometheus.Registerer) *Server {
	s := &Server{cfg: cfg, listener: listener, log: log.With("listener", cfg.Name), seconds: requestSeconds(metrics),
		direct: map[string]direct{}, bodies: semaphore.NewWeighted(bodiesInMemory)}
	if cfg.Traces != nil {
		s.tracer = cfg.Traces.Tracer(scope)
	}
	s.requests, s.abandon = context.WithCancel(context.Background())
	settings := cfg.Fiber()
	settings.ErrorHandler = s.refuse
	s.App = fiber.New(settings)
	s.App.Server().CloseOnShutdown = true
	s.App.Server().HeaderReceived = s.beforeBody
	s.App.Server().ErrorHandler = lingerOnErrors(s.App.Server().ErrorHandler)
	s.App.Server().Handler = s.withBody(knownMethods(s.App.Server().Handler))
	s.App.Use(s.edge)
	s.App.Get("/healthz", func(c *fiber.Ctx) error { return c.JSON(fiber.Map{"status": "ok"}) })
	return s
}

// Precondition makes requests of routes that are added after it fail with the error of check, unless that is nil.
func (s *Server) Precondition(check func() error) {
	s.App.Use(func(c *fiber.Ctx) error {
		if err := check(); err != nil {
			return err
		}
		return c.Next()
	})
}

// URL is where the server is reached, http://127.0.0.1:8080.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Ready is nil while the server takes requests.
func (s *Server) Ready(context.Context) error {
	if !s.serving.Load() {
		return errors.New("not serving")
	}
	return nil
}

// Run serves until ctx is cancelled, then accepts no new connection, finishes the requests under way and returns. What
// is not finished after 10 s is cancelled.
func (s *Server) Run(ctx context.Context) error {
	defer s.abandon()
	s.serving.Store(true)
	defer s.serving.Store(false)
	served := make(chan error, 1)
	go func() { served <- s.App.Listener(s.listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", s.listener.Addr(), err)
	case <-ctx.Done():
	}
	draining, done := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer done()
	err := s.App.ShutdownWithContext(draining)
	_ = s.listener.Close() // Shutdown closes it only once serving has begun; a second Close does no harm
	if ended := <-served; ended != nil {
		s.log.Debug("listener ended", "error", ended)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("requests cut off", "after", drain, "next", "nothing: their clients may ask again")
		return nil
	}
	if err != nil {
		return fmt.Errorf("shut down %s: %w", s.listener.Addr(), err)
	}
	return nil
}
