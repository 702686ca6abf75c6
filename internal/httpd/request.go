package httpd

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
)

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

// RequireAdmin lets admins and owners pass. No answer to them is kept by a cache. It comes after the handler that finds
// who asks.
func RequireAdmin(c *fiber.Ctx) error {
	if caller := identity.FromContext(c.UserContext()); !caller.AtLeast(identity.Admin) {
		return problem.New(problem.Forbidden, "this is not for a %s: want the role admin or owner", caller.Role)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Next()
}
