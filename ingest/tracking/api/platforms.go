package api

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
)

// MountPlatforms adds the paths below /api/providers to a router: members read, the owner writes. The handlers before
// them find who asks, by whatever credential.
func MountPlatforms(router fiber.Router, platforms *tracking.Platforms, before ...fiber.Handler) {
	p := platformRoutes{platforms}
	router.Get("", append(slices.Clone(before), p.list)...)
	router.Put("/:platform", append(slices.Clone(before), p.put)...)
	router.Delete("/:platform", append(slices.Clone(before), p.remove)...)
}

type platformRoutes struct{ *tracking.Platforms }

func (p platformRoutes) list(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	list, err := p.List(c.UserContext(), caller.OrganizationID)
	if err != nil {
		return err
	}
	views := []tracking.View{}
	for _, found := range list {
		views = append(views, found.View())
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"providers": views})
}

// put sets the key of the body, {"key": "…"}, and answers with the provider.
func (p platformRoutes) put(c *fiber.Ctx) error {
	caller, slug := identity.FromContext(c.UserContext()), c.Params("platform")
	if err := mayWrite(caller, slug); err != nil {
		return err
	}
	var body struct {
		Key string `json:"key"`
	}
	if json.Unmarshal(c.Body(), &body) != nil {
		return problem.New(problem.Invalid, `the body: want {"key": "…"}`)
	}
	if err := p.Set(c.UserContext(), caller.UserID, caller.OrganizationID, slug, body.Key); err != nil {
		return err
	}
	found, err := p.Find(c.UserContext(), caller.OrganizationID, slug)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(found.View())
}

func (p platformRoutes) remove(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	if err := mayWrite(caller, c.Params("platform")); err != nil {
		return err
	}
	if err := p.Remove(c.UserContext(), caller.UserID, caller.OrganizationID, c.Params("platform")); err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}

// mayWrite says why a caller may not write the key of a platform; nil where they may.
func mayWrite(caller identity.Identity, slug string) error {
	if err := tracking.CheckNeedsKey(slug); err != nil {
		return err
	}
	if !caller.AtLeast(identity.Owner) {
		return problem.New(problem.Forbidden, "a %s may not set or remove keys of platforms: want an owner of the organization", caller.Role)
	}
	return nil
}
