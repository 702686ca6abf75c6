package httpd

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
)

const maxNearest = 120 // bytes of a name that are compared

// ReadJSON reads a body that is one JSON value without unknown fields. Its error names the wanted shape.
func ReadJSON(c *fiber.Ctx, target any, want string) error {
	decoder := json.NewDecoder(bytes.NewReader(c.BodyRaw()))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(target)
	if err == nil {
		_, err = decoder.Token()
	}
	if err != io.EOF || len(bytes.TrimSpace(c.BodyRaw())) == 0 {
		return problem.New(problem.Invalid, "the body cannot be read: want %s", want)
	}
	return nil
}

// Parameters refuses a query that has other parameters than these, one of them twice, or an empty one: a misspelt
// filter must not look as if it had filtered. It comes after the handler that finds who asks.
func Parameters(names ...string) fiber.Handler {
	return func(c *fiber.Ctx) (err error) {
		seen := map[string]bool{}
		c.Context().QueryArgs().VisitAll(func(key, value []byte) {
			name := string(key)
			switch {
			case err != nil:
			case !slices.Contains(names, name):
				err = problem.New(problem.Invalid, "%.60q: want %s", name, InsteadOf(name, names))
			case seen[name]:
				err = problem.New(problem.Invalid, "%s: want it once", name)
			case len(value) == 0:
				err = problem.New(problem.Invalid, "%s: want a value, or no such parameter", name)
			}
			seen[name] = true
		})
		if err != nil {
			return err
		}
		return c.Next()
	}
}

// InsteadOf returns the parameter that an endpoint with these names wants in place of another name.
func InsteadOf(name string, names []string) string {
	if len(names) == 0 {
		return "no parameter, as this endpoint has none"
	}
	cut := strings.ToLower(name[:min(len(name), maxNearest)])
	return "a parameter of this endpoint, the nearest is " + problem.Nearest(cut, names, math.MaxInt)[0]
}

// RequireAdmin lets admins and owners pass. No answer to them is kept by a cache. It comes after the handler that finds
// who asks.
func RequireAdmin(c *fiber.Ctx) error {
	if caller := identity.FromContext(c.UserContext()); !caller.AtLeast(identity.Admin) {
		return problem.New(problem.Forbidden, "this is not for a %s: want the role admin or owner", caller.Role)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Next()
}
