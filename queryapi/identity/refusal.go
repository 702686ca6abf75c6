package identity

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// The version of the errors' shape, which clients of GoTrue look for before they read a code.
const (
	apiVersionHeader = "X-Supabase-Api-Version"
	apiVersion       = "2024-01-01"
)

// failure is an error of /auth/v1 with its status and code.
type failure struct {
	status        int
	code, message string
}

func (f *failure) Error() string { return f.message }

// What clients know by its code. A wrong credential never is a 5xx, which they would send again.
var (
	errCredentials  = &failure{http.StatusBadRequest, "invalid_credentials", "Invalid login credentials"}
	errTokenUnknown = &failure{http.StatusBadRequest, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found"}
	errTokenUsed    = &failure{http.StatusBadRequest, "refresh_token_already_used", "Invalid Refresh Token: Already Used"}
	errTooMany      = &failure{http.StatusTooManyRequests, "over_request_rate_limit", "Request rate limit reached"}
)

// refusal is {"code", "message"}.
func refusal(c *fiber.Ctx, err error) (status int, body any) {
	c.Set(apiVersionHeader, apiVersion)
	f := failureOf(err)
	if f.status == http.StatusServiceUnavailable {
		c.Set(fiber.HeaderRetryAfter, "1")
	}
	return f.status, fiber.Map{"code": f.code, "message": f.message}
}

func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	kind, message := problem.Of(err)
	switch {
	case isAway(err):
		return &failure{http.StatusServiceUnavailable, "unavailable", errUnavailable.Public}
	case errors.Is(err, errNoToken):
		return &failure{http.StatusUnauthorized, "no_authorization", message}
	case errors.Is(err, errNoUser):
		return &failure{http.StatusForbidden, "user_not_found", message}
	case errors.Is(err, errNoSession):
		return &failure{http.StatusForbidden, "session_not_found", message}
	case kind == problem.Unavailable:
		return &failure{http.StatusServiceUnavailable, "unavailable", message}
	case kind == problem.Unauthenticated, kind == problem.Forbidden:
		return &failure{http.StatusForbidden, "bad_jwt", message}
	}
	status, message := httpd.Explain(err)
	if status == http.StatusInternalServerError {
		return &failure{status, "unexpected_failure", message}
	}
	return &failure{status, strings.ReplaceAll(strings.ToLower(cmp.Or(http.StatusText(status), "refused")), " ", "_"), message}
}

var errUnavailable = problem.New(problem.Unavailable, "the database of this service cannot be reached; ask again in a moment")

// isAway reports whether an error is of a database that cannot be reached, or does not answer in time.
func isAway(err error) bool {
	kind, _ := problem.Of(err)
	return postgres.IsTransient(err) || kind == problem.Internal && errors.Is(err, context.DeadlineExceeded)
}

// plainRefusal answers 503 while the database cannot be reached.
func plainRefusal(c *fiber.Ctx, err error) (status int, body any) {
	if isAway(err) {
		err = errUnavailable
	}
	return httpd.PlainError(c, err)
}
