package apikey

import "github.com/gofiber/fiber/v2"

type identity struct{}

// Require lets only requests with a working key pass; the others end in a problem
// of kind Unproven, which the edge answers with 401 and WWW-Authenticate.
func (r *Resolver) Require(c *fiber.Ctx) error {
	who, err := r.Resolve(c.UserContext(), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	c.Locals(identity{}, who)
	return c.Next()
}

// From is whom a request speaks for, behind Require.
func From(c *fiber.Ctx) Identity { return c.Locals(identity{}).(Identity) }
