package api

import (
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// budgets are what the caller's organization may spend, with what it has spent.
func (s *Server) budgets(c *fiber.Ctx) error {
	list, err := s.db.BudgetUsage(c.UserContext(), identity.FromContext(c.UserContext()).OrganizationID, s.now())
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"budgets": list})
}

// setBudget replaces the budget for the body's platform, or for all together. Programs, which spend it, may not.
func (s *Server) setBudget(c *fiber.Ctx) error {
	var body struct {
		Platform     *string `json:"platform"`
		RunsPerDay   *int64  `json:"runsPerDay"`
		RunsPerMonth *int64  `json:"runsPerMonth"`
		CostPerDay   *string `json:"costPerDay"`
		CostPerMonth *string `json:"costPerMonth"`
	}
	if err := decode(c.Body(), &body); err != nil {
		return err
	}
	if body.Platform == nil {
		return problem.New(problem.Invalid, "platform: missing; want the name of one, or \"\" for all together")
	}
	budget := postgres.Budget{Platform: *body.Platform, RunsPerDay: body.RunsPerDay, RunsPerMonth: body.RunsPerMonth, CostPerDay: body.CostPerDay, CostPerMonth: body.CostPerMonth}
	if err := tracking.CheckBudget(&budget); err != nil {
		return err
	}
	caller := identity.FromContext(c.UserContext())
	if caller.KeyID != uuid.Nil || !caller.AtLeast(identity.Owner) {
		return problem.New(problem.Forbidden, "only an owner of the organization may set budgets, and not with an API key")
	}
	if err := s.db.SetBudget(c.UserContext(), caller.UserID, caller.OrganizationID, budget); err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}
