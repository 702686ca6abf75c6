package httpd

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/problem"
)

// A Surface is a path prefix with its own rules for bodies and errors, for every failure below it: a handler, a panic,
// a path or method that does not exist, a body that is too large.
type Surface struct {
	Prefix    string // /rest/v1 is that path and everything below it; / is every path
	BodyLimit int    // bytes of a request's body; 0: the listener's
	ETag      bool   // tags whole successful bodies, and answers 304 to a client that has them
	Compress  bool   // with br or gzip, as the client accepts
	Strangers bool   // may write: their bodies have its limit too, without a credential
	Secret    bool   // its paths hold secrets, which neither logs nor spans show

	// LimitOf gives a path a limit of its own, in place of BodyLimit; nil: none has one.
	LimitOf func(path string) int
	// Error gives an error its status and its body, HTML or a value for JSON, and adds headers to c; nil is PlainError.
	Error     func(c *fiber.Ctx, err error) (status int, body any)
	ErrorType string // Content-Type of errors; "": application/json
}

// HTML is a whole document.
type HTML string

// plain is the surface of all paths that no other one has.
var plain = Surface{ETag: true, Compress: true}

// Mount returns the router of a surface. It is called before Run.
func (s *Server) Mount(surface Surface) fiber.Router {
	s.surfaces = append(s.surfaces, surface)
	return s.App.Group(surface.Prefix)
}

// Within bounds the context of a handler, whose error is then one of context.DeadlineExceeded.
func Within(timeout time.Duration, handle fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		ctx := c.UserContext()
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		c.SetUserContext(limited)
		defer c.SetUserContext(ctx) // the edge takes a context that ended for a client that has gone
		return handle(c)
	}
}

// surfaceOf is the surface with the longest prefix of path.
func (s *Server) surfaceOf(path string) *Surface {
	best := &plain
	for i := range s.surfaces {
		prefix := strings.TrimSuffix(s.surfaces[i].Prefix, "/")
		if below, ok := strings.CutPrefix(path, prefix); ok && (below == "" || below[0] == '/') &&
			len(prefix) >= len(best.Prefix) {
			best = &s.surfaces[i]
		}
	}
	return best
}

// pathOf is the path of a request, as logs and spans show it.
func (s *Server) pathOf(c *fiber.Ctx) string {
	if surface := s.surfaceOf(c.Path()); surface.Secret {
		return surface.Prefix + "/…"
	}
	return c.Path()
}

// refuse answers a failed request in the shape of its surface. Causes, panics and their stacks are only logged, with
// the request's id.
func (s *Server) refuse(c *fiber.Ctx, err error) error {
	if errors.Is(err, fiber.ErrBadGateway) { // fiber's error of a broken connection: it has no client to answer
		return nil
	}
	surface := s.surfaceOf(c.Path())
	render := surface.Error
	if render == nil {
		render = PlainError
	}
	c.Response().ResetBody() // a handler may have begun one
	setNoSniff(c)            // the server's own errors have not passed the edge
	status, body := render(c, err)
	// A disconnected client is no failure.
	if status >= http.StatusInternalServerError && c.UserContext().Err() == nil {
		s.logFailure(c, status, err)
	}
	if text, ok := body.(HTML); ok {
		c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
		return c.Status(status).SendString(string(text))
	}
	return c.Status(status).JSON(body, cmp.Or(surface.ErrorType, fiber.MIMEApplicationJSON))
}

func (s *Server) logFailure(c *fiber.Ctx, status int, err error) {
	next := "if it goes on, report it with this line"
	if status == http.StatusServiceUnavailable {
		next = "check the engine that the error names; /readyz says when it is back"
	}
	attrs := []slog.Attr{
		slog.String("request", string(c.Response().Header.Peek(fiber.HeaderXRequestID))),
		slog.String("method", c.Method()), slog.String("path", s.pathOf(c)),
		slog.Any("error", err), slog.String("next", next),
	}
	if p, ok := errors.AsType[*panicked](err); ok {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	if trace := traceOf(c.UserContext()); trace != "" {
		attrs = append(attrs, slog.String("trace", trace))
	}
	s.log.LogAttrs(c.UserContext(), slog.LevelError, "request failed", attrs...)
}

// PlainError is {"error": message} with the status of Explain.
func PlainError(c *fiber.Ctx, err error) (status int, body any) {
	status, message := Explain(err)
	switch status {
	case http.StatusUnauthorized:
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	case http.StatusServiceUnavailable:
		c.Set(fiber.HeaderRetryAfter, "1")
	case http.StatusTooManyRequests:
		if c.GetRespHeader(fiber.HeaderRetryAfter) == "" { // a CallerLimit knows better
			c.Set(fiber.HeaderRetryAfter, "1")
		}
	}
	return status, fiber.Map{"error": message}
}

var statuses = map[problem.Kind]int{
	problem.Invalid:         http.StatusBadRequest,
	problem.Unauthenticated: http.StatusUnauthorized,
	problem.Forbidden:       http.StatusForbidden,
	problem.Missing:         http.StatusNotFound,
	problem.Conflict:        http.StatusConflict,
	problem.Unprocessable:   http.StatusUnprocessableEntity,
	problem.TooMany:         http.StatusTooManyRequests,
	problem.Unavailable:     http.StatusServiceUnavailable,
}

// Explain is the status of an error, and the message that the caller may read: a problem's, or what the router and the
// server refuse by themselves. Everything else is 500 "internal error".
func Explain(err error) (status int, message string) {
	if refused, ok := errors.AsType[*fiber.Error](err); ok {
		return refused.Code, cmp.Or(routerMessages[refused.Code], strings.ToLower(http.StatusText(refused.Code)))
	}
	kind, message := problem.Of(err)
	return cmp.Or(statuses[kind], http.StatusInternalServerError), message
}

var routerMessages = map[int]string{
	http.StatusNotFound:             "no such path",
	http.StatusMethodNotAllowed:     "method not allowed; see the Allow header",
	http.StatusUnsupportedMediaType: "want a body without Content-Encoding",
	http.StatusInternalServerError:  "internal error",
}
