package apikey

import (
	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/identity"
)

// Require lets only requests with a working key pass, with the key's user as their identity; the others end in a
// problem of kind Unproven, which the edge answers with 401 and WWW-Authenticate.
func (r *Resolver) Require(c *fiber.Ctx) error {
	caller, err := r.Resolve(c.UserContext(), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	c.SetUserContext(identity.NewContext(c.UserContext(), caller))
	return c.Next()
}
