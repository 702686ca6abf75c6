package httpd

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/problem"
)

// statuses is the table of the surfaces whose errors are {"error": "<message>"}.
var statuses = map[problem.Kind]int{
	problem.Invalid:  http.StatusBadRequest,
	problem.Unproven: http.StatusUnauthorized,
	problem.Denied:   http.StatusForbidden,
	problem.Missing:  http.StatusNotFound,
	problem.Conflict: http.StatusConflict,
	problem.Away:     http.StatusServiceUnavailable,
	problem.Internal: http.StatusInternalServerError,
}

// next is what whoever reads of a failed request should do.
func next(status int) string {
	if status == http.StatusServiceUnavailable {
		return "see the engine that the error names; /readyz says when it is back"
	}
	return "if it goes on, keep this line for whoever mends it"
}

// refuse answers a failed request with {"error": message} and the status of its kind. Only a problem's public message
// leaves the house; a cause, a panic and its stack are in the log, beside the request's id.
func (s *Server) refuse(c *fiber.Ctx, err error) error {
	if errors.Is(err, fiber.ErrBadGateway) { // so fiber calls what its connection failed with: there is nobody to answer, and nothing to mend
		return nil
	}
	status, message := verdict(err)
	if status >= http.StatusInternalServerError {
		attrs := []slog.Attr{
			slog.String("request", string(c.Response().Header.Peek(fiber.HeaderXRequestID))),
			slog.String("method", c.Method()), slog.String("path", c.Path()), slog.Any("error", err),
			slog.String("next", next(status)),
		}
		if p, ok := errors.AsType[*panicked](err); ok {
			attrs = append(attrs, slog.String("stack", string(p.stack)))
		}
		if trace := traceOf(c.UserContext()); trace != "" {
			attrs = append(attrs, slog.String("trace", trace))
		}
		s.log.LogAttrs(c.UserContext(), slog.LevelError, "request failed", attrs...)
	}
	switch status {
	case http.StatusUnauthorized:
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	case http.StatusServiceUnavailable:
		c.Set(fiber.HeaderRetryAfter, "1")
	}
	c.Response().ResetBody() // a handler may have begun one
	return c.Status(status).JSON(fiber.Map{"error": message})
}

// verdict is the status and the message that the caller may read.
func verdict(err error) (int, string) {
	if refused, ok := errors.AsType[*fiber.Error](err); ok {
		return refused.Code, explain(refused)
	}
	kind, message := problem.Of(err)
	status, ok := statuses[kind]
	if !ok {
		return http.StatusInternalServerError, "internal error"
	}
	return status, message
}

// explain words what the router and the server refuse by themselves.
func explain(refused *fiber.Error) string {
	switch refused.Code {
	case http.StatusNotFound:
		return "no such path"
	case http.StatusMethodNotAllowed:
		return "method not allowed; see the Allow header"
	case http.StatusInternalServerError:
		return "internal error"
	}
	return strings.ToLower(http.StatusText(refused.Code))
}
