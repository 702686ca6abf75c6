// Package api is the tracking server: /api/tracking starts tracking jobs and shows them, /cron starts those that are
// due.
package api

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

const bodyLimit = 1 << 20

// Server answers for jobs and a schedule.
type Server struct {
	db       *postgres.DB
	jobs     *tracking.Jobs
	schedule *tracking.Schedule
	now      func() time.Time
	watch    *watch
}

// New makes a server.
func New(db *postgres.DB, jobs *tracking.Jobs, due *tracking.Schedule, now func() time.Time) *Server {
	return &Server{db, jobs, due, now, newWatch(db)}
}

// Mount adds the routes below a prefix, /api/tracking. require finds who asks and refuses all others; starts
// and estimates limit those of a caller.
func (s *Server) Mount(server *httpd.Server, prefix string, require, starts, estimates fiber.Handler) {
	routes := server.Mount(httpd.Surface{Prefix: prefix, BodyLimit: bodyLimit, Error: s.refusal})
	routes.Get("/openapi.json", func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Send(openAPI)
	})
	routes.Use(require, private)
	routes.Post("/start", starts, s.start)
	routes.Post("/estimate", estimates, s.estimate)
	routes.Get("/jobs", s.list)
	routes.Get("/job/:id", s.show)
	routes.Delete("/job/:id", s.cancel)
	routes.Get("/budgets", s.budgets)
	routes.Put("/budgets", s.setBudget)
}

// private keeps answers out of caches that others share.
func private(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Next()
}

// mayStart says why a caller may not spend the organization's money; nil where they may.
func mayStart(caller identity.Identity) error {
	if !caller.AtLeast(identity.Member) {
		return problem.New(problem.Forbidden, "a %s may not start or cancel tracking jobs: want the role %s or one above it", caller.Role, identity.Member)
	}
	return nil
}

// refusal is {"error": message}; of a budget with the time until it resets.
func (s *Server) refusal(c *fiber.Ctx, err error) (status int, body any) {
	over, ok := errors.AsType[*postgres.BudgetError](err)
	if !ok {
		return httpd.PlainError(c, err)
	}
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(over.Resets.Sub(s.now()).Seconds()))))
	return http.StatusTooManyRequests, fiber.Map{"error": over.Error()}
}
