package httpd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"
)

// edge is the outermost handler: whatever happens in the routes, a request ends here, answered, measured and logged.
func (s *Server) edge(c *fiber.Ctx) error {
	if d := s.direct[c.Path()]; d != nil {
		return d.serve(c)
	}
	started := time.Now()
	id := requestID(c.Get(fiber.HeaderXRequestID))
	c.Set(fiber.HeaderXRequestID, id)
	ctx, cancel := s.newContext(c)
	defer cancel()
	ctx, span := s.begin(ctx, c, id)
	route := unmatched
	defer func() { finishSpan(span, c, route) }()
	c.SetUserContext(context.WithValue(ctx, idKey{}, id))

	err := guarded(c, (*fiber.Ctx).Next)
	route = c.Route().Path
	if err != nil {
		if unrouted(err) {
			route = unmatched
		}
		if failed := s.refuse(c, err); failed != nil {
			return failed
		}
	}
	if err := finish(c, s.surfaceOf(c.Path())); err != nil {
		return err
	}

	status := c.Response().StatusCode()
	s.seconds.WithLabelValues(s.cfg.Name, c.Method(), route, strconv.Itoa(status)).Observe(time.Since(started).Seconds())
	s.log.LogAttrs(ctx, slog.LevelDebug, "request", slog.String("request", id), slog.String("method", c.Method()),
		slog.String("path", c.Path()), slog.Int("status", status), slog.Duration("took", time.Since(started)))
	return nil
}

// guarded runs a handler and returns a panic as an error that keeps its stack for the log.
func guarded(c *fiber.Ctx, handle fiber.Handler) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &panicked{cause: cause, stack: debug.Stack()}
		}
	}()
	return handle(c)
}

type panicked struct {
	cause any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.cause) }

// newContext returns a context that ends with the request, with its client's connection, or with the server.
func (s *Server) newContext(c *fiber.Ctx) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(s.requests)
	unwatch := watchClient(c.Context().Conn(), cancel)
	return ctx, func() {
		unwatch()
		cancel()
	}
}

type idKey struct{}

// RequestID is the id of the request that ctx belongs to, as the client and the log know it; "" outside of one.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(idKey{}).(string)
	return id
}

// requestID is the id that a proxy or the client gave, if it is safe in a header and a log; else a new one.
func requestID(given string) string {
	if len(given) == 0 || len(given) > 128 {
		return uuid.Must(uuid.NewV4()).String()
	}
	for i := range len(given) {
		if b := given[i]; (b < '0' || b > '9') && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') && b != '-' && b != '_' && b != '.' {
			return uuid.Must(uuid.NewV4()).String()
		}
	}
	return given
}

// unmatched stands for the route where there is none.
const unmatched = "unmatched"

// unrouted says that no route was found. The path of such a request comes from outside and must not become a label.
func unrouted(err error) bool {
	var routing *fiber.Error
	return errors.As(err, &routing) && (routing.Code == fiber.StatusNotFound || routing.Code == fiber.StatusMethodNotAllowed)
}

// knownMethods replaces a method that fiber does not know by one that no route answers, so that it ends as 404 or 405
// with Allow; fiber would answer 400 without calling the edge.
func knownMethods(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	known := map[string]bool{}
	for _, method := range fiber.DefaultMethods {
		known[method] = true
	}
	return func(ctx *fasthttp.RequestCtx) {
		if !known[string(ctx.Method())] {
			ctx.Request.Header.SetMethod(fiber.MethodTrace)
		}
		next(ctx)
	}
}

// requestSeconds registers the histogram of requests, or returns the one that another listener registered.
func requestSeconds(metrics prometheus.Registerer) *prometheus.HistogramVec {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "answerscope_http_request_seconds",
		Help:    "How long requests took, by listener, method, route and status.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"listener", "method", "route", "status"})
	if err := metrics.Register(seconds); err != nil {
		if known, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
			return known.ExistingCollector.(*prometheus.HistogramVec)
		}
		panic(err) // two collectors of one name and other labels are a mistake in the source
	}
	return seconds
}
