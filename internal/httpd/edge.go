package httpd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"
	"golang.org/x/sys/unix"
)

// edge is the outermost handler: every request ends here, answered, measured and logged.
func (s *Server) edge(c *fiber.Ctx) error {
	setNoSniff(c)
	if d, ok := s.direct[c.Path()]; ok {
		return s.serveDirect(c, d)
	}
	started := time.Now()
	id := requestID(c.Get(fiber.HeaderXRequestID))
	c.Set(fiber.HeaderXRequestID, id)
	// The context ends with the request, with its client's connection, or with the server.
	ctx, cancel := context.WithCancel(s.requests)
	defer cancel()
	watchClient(ctx, c.Context().Conn(), cancel)
	ctx, span := s.begin(ctx, c, id)
	route := unmatched
	defer func() { finishSpan(span, c, route, s.pathOf(c)) }()
	c.SetUserContext(ctx)

	err := recoverPanics(c, nextUnlessEncoded)
	route = c.Route().Path
	if err != nil {
		// The path of a request without a route comes from outside and must not become a label.
		if none, ok := errors.AsType[*fiber.Error](err); ok && (none.Code == fiber.StatusNotFound ||
			none.Code == fiber.StatusMethodNotAllowed || none == fiber.ErrUnsupportedMediaType) {
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
	s.seconds.WithLabelValues(s.cfg.Name, c.Method(), route,
		strconv.Itoa(status)).Observe(time.Since(started).Seconds())
	s.log.LogAttrs(ctx, slog.LevelDebug, "request", slog.String("request", id), slog.String("method", c.Method()),
		slog.String("path", s.pathOf(c)), slog.Int("status", status), slog.Duration("took", time.Since(started)))
	return nil
}

// nextUnlessEncoded refuses compressed bodies: fiber and fasthttp have functions that decompress them without a bound.
func nextUnlessEncoded(c *fiber.Ctx) error {
	for _, encoding := range c.Request().Header.PeekAll(fiber.HeaderContentEncoding) {
		if !bytes.EqualFold(encoding, []byte("identity")) {
			return fiber.ErrUnsupportedMediaType
		}
	}
	return c.Next()
}

// setNoSniff keeps browsers from guessing another type of a response.
func setNoSniff(c *fiber.Ctx) { c.Set(fiber.HeaderXContentTypeOptions, "nosniff") }

// Direct gives every request for path to handle, of any method. It is for the one path that is requested tens of
// thousands of times a second: such a request has no id, no context that ends with its client, no span and no line in
// the log, and its response is neither tagged nor compressed. It is measured, and errors and panics are answered as on
// any other path. It is called before Run.
func (s *Server) Direct(path string, handle fiber.Handler) {
	s.direct[path] = direct{path, handle, s.seconds.WithLabelValues(s.cfg.Name, fiber.MethodPost, path, "204")}
}

// direct is a path that is answered without the rest of the edge.
type direct struct {
	path     string
	handle   fiber.Handler
	accepted prometheus.Observer // of nearly all its requests
}

func (s *Server) serveDirect(c *fiber.Ctx, d direct) error {
	started := time.Now()
	if err := recoverPanics(c, d.handle); err != nil {
		if failed := s.refuse(c, err); failed != nil {
			return failed
		}
	}
	seconds, status := d.accepted, c.Response().StatusCode()
	if c.Method() != fiber.MethodPost || status != fiber.StatusNoContent {
		seconds = s.seconds.WithLabelValues(s.cfg.Name, c.Method(), d.path, strconv.Itoa(status))
	}
	seconds.Observe(time.Since(started).Seconds())
	return nil
}

// recoverPanics runs a handler and returns a panic as an error that keeps its stack for the log.
func recoverPanics(c *fiber.Ctx, handle fiber.Handler) (err error) {
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

// requestID is the id that a proxy or the client gave, if it is safe in a header and a log; else a new one.
func requestID(header string) string {
	strange := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-' && r != '_' && r != '.'
	}
	if len(header) == 0 || len(header) > 128 || strings.ContainsFunc(header, strange) {
		return uuid.Must(uuid.NewV4()).String()
	}
	return header
}

// unmatched stands for the route where there is none.
const unmatched = "unmatched"

// unknownMethod is the key under which a request keeps a method that fiber does not know.
const unknownMethod = "unknown method"

// Method is the method that a request was sent with.
func Method(c *fiber.Ctx) string {
	if method, ok := c.Locals(unknownMethod).(string); ok {
		return method
	}
	return c.Method()
}

// knownMethods replaces a method that fiber does not know by one that no route answers, so that it ends as 404 or 405
// with Allow; fiber would answer 400 without calling the edge.
func knownMethods(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	methods := map[string]bool{}
	for _, method := range fiber.DefaultMethods {
		methods[method] = true
	}
	return func(ctx *fasthttp.RequestCtx) {
		if method := string(ctx.Method()); !methods[method] {
			ctx.SetUserValue(unknownMethod, method)
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
		if registered, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
			return registered.ExistingCollector.(*prometheus.HistogramVec)
		}
		panic(err) // two collectors of one name and other labels are a mistake in the source
	}
	return seconds
}

// clientInterval is between two checks that a client is still connected. Most requests are done before the first.
const clientInterval = 250 * time.Millisecond

// watchClient calls gone when the client of conn disconnects before ctx, the request's context, ends: its query is then
// cancelled. fasthttp does not read a connection while it answers; a peek at the socket takes no bytes of the next
// request.
func watchClient(ctx context.Context, conn net.Conn, gone func()) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	var check func()
	check = func() {
		switch {
		case ctx.Err() != nil:
		case disconnected(socket):
			gone()
		default:
			time.AfterFunc(clientInterval, check)
		}
	}
	time.AfterFunc(clientInterval, check)
}

// disconnected peeks one byte: none, without an error, is the end of the stream.
func disconnected(socket syscall.Conn) bool {
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	over := false
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		over = n == 0 && err == nil || err == unix.ECONNRESET
	})
	return over || err != nil
}
