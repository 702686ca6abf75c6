package api

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

type platformRoutes struct{ platforms *tracking.Platforms }

// MountPlatforms adds the routes below /api/providers to a router: members read platforms, owners set keys and
// limits. The handlers before them authenticate the caller.
func MountPlatforms(router fiber.Router, platforms *tracking.Platforms, before ...fiber.Handler) {
	r := platformRoutes{platforms}
	before = append(slices.Clone(before), noStore, httpd.Parameters())
	router.Get("", append(slices.Clone(before), r.list)...)
	router.Put("/:platform", append(slices.Clone(before), r.setKey)...)
	router.Delete("/:platform", append(slices.Clone(before), r.removeKey)...)
	router.Get("/:platform/limits", append(slices.Clone(before), r.limits)...)
	router.Put("/:platform/limits", append(slices.Clone(before), r.setLimits)...)
}

func (r platformRoutes) list(c *fiber.Ctx) error {
	organization := identity.FromContext(c.UserContext()).OrganizationID
	platforms, captures, err := r.platforms.All(c.UserContext(), organization)
	if err != nil {
		return err
	}
	views := func(list []tracking.Platform) []tracking.View {
		all := []tracking.View{}
		for _, p := range list {
			all = append(all, p.View())
		}
		return all
	}
	return c.JSON(fiber.Map{"providers": views(platforms), "capture_providers": views(captures)})
}

// setKey stores the key of the body, {"key": "…"}, and answers with the platform.
func (r platformRoutes) setKey(c *fiber.Ctx) error {
	caller, slug := identity.FromContext(c.UserContext()), c.Params("platform")
	if err := checkMaySetKey(caller, slug); err != nil {
		return err
	}
	var body struct {
		Key string `json:"key"`
	}
	if json.Unmarshal(c.BodyRaw(), &body) != nil {
		return problem.New(problem.Invalid, `the body: want {"key": "…"}`)
	}
	if err := r.platforms.SetKey(c.UserContext(), caller.UserID, caller.OrganizationID, slug, body.Key); err != nil {
		return err
	}
	return r.show(c, caller.OrganizationID, slug)
}

// show answers with a platform.
func (r platformRoutes) show(c *fiber.Ctx, organization uuid.UUID, slug string) error {
	p, err := r.platforms.Find(c.UserContext(), organization, slug)
	if err != nil {
		return err
	}
	return c.JSON(p.View())
}

func (r platformRoutes) removeKey(c *fiber.Ctx) error {
	caller, slug := identity.FromContext(c.UserContext()), c.Params("platform")
	if err := checkMaySetKey(caller, slug); err != nil {
		return err
	}
	if err := r.platforms.RemoveKey(c.UserContext(), caller.UserID, caller.OrganizationID, slug); err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}

// limits shows the limits that the organization has set; the list has those in force.
func (r platformRoutes) limits(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	limits, err := r.platforms.OwnLimits(c.UserContext(), caller.OrganizationID, c.Params("platform"))
	if err != nil {
		return err
	}
	return c.JSON(limits)
}

// setLimits replaces the limits that the organization has set, and answers with the platform.
func (r platformRoutes) setLimits(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	limits := postgres.ProviderLimits{OrganizationID: caller.OrganizationID, Platform: c.Params("platform")}
	if !caller.AtLeast(identity.Owner) {
		return problem.New(problem.Forbidden, "a %s may not set limits: want an owner of the organization", caller.Role)
	}
	if err := decode(c.BodyRaw(), &limits.AccountLimits); err != nil {
		return problem.New(problem.Unprocessable, `%v: want {"requests_per_minute": 5000, "tokens_per_minute": `+
			`2000000, "in_flight": 200}, of which some may be left out`, err)
	}
	if err := r.platforms.SetLimits(c.UserContext(), caller.UserID, limits); err != nil {
		return err
	}
	return r.show(c, caller.OrganizationID, limits.Platform)
}

// checkMaySetKey refuses a caller who may not set the key of a platform, and a platform without keys.
func checkMaySetKey(caller identity.Identity, slug string) error {
	if err := tracking.CheckNeedsKey(slug); err != nil {
		return err
	}
	if !caller.AtLeast(identity.Owner) {
		return problem.New(problem.Forbidden,
			"a %s may not set or remove keys of platforms: want an owner of the organization", caller.Role)
	}
	return nil
}

// budgets shows the budgets of the caller's organization, and how much of each is spent.
func (s *Server) budgets(c *fiber.Ctx) error {
	budgets, err := s.db.BudgetUsage(c.UserContext(), identity.FromContext(c.UserContext()).OrganizationID, s.now())
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"budgets": budgets})
}

// setBudget replaces the budget for the body's platform, or for all together. API keys spend budgets, so they may not
// set them.
func (s *Server) setBudget(c *fiber.Ctx) error {
	var body struct {
		Platform     *string `json:"platform"`
		RunsPerDay   *int64  `json:"runsPerDay"`
		RunsPerMonth *int64  `json:"runsPerMonth"`
		CostPerDay   *string `json:"costPerDay"`
		CostPerMonth *string `json:"costPerMonth"`
	}
	if err := decode(c.BodyRaw(), &body); err != nil {
		return err
	}
	if body.Platform == nil {
		return problem.New(problem.Invalid, "platform: missing; want the name of one, or \"\" for all together")
	}
	budget := postgres.Budget{
		Platform: *body.Platform, RunsPerDay: body.RunsPerDay, RunsPerMonth: body.RunsPerMonth,
		CostPerDay: body.CostPerDay, CostPerMonth: body.CostPerMonth,
	}
	if err := tracking.CheckBudget(&budget); err != nil {
		return err
	}
	caller := identity.FromContext(c.UserContext())
	if caller.KeyID != uuid.Nil || !caller.AtLeast(identity.Owner) {
		return problem.New(problem.Forbidden,
			"only an owner of the organization may set budgets, and not with an API key")
	}
	if err := s.db.SetBudget(c.UserContext(), caller.UserID, caller.OrganizationID, budget); err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}
