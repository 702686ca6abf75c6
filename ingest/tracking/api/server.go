// Package api serves what users and programs do with tracking: /api/tracking starts jobs and shows them, /api/providers
// has platforms and their keys, and /cron starts the jobs that are due.
package api

import (
	_ "embed"
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

//go:embed openapi.json
var openAPI []byte

const bodyLimit = 1 << 20

// Server answers requests about tracking jobs, and starts them.
type Server struct {
	db       *postgres.DB
	jobs     *tracking.Jobs
	schedule *tracking.Schedule
	now      func() time.Time
	waits    httpd.Slots // of callers that wait for a job
}

// New returns a server without routes.
func New(db *postgres.DB, jobs *tracking.Jobs, schedule *tracking.Schedule, now func() time.Time) *Server {
	return &Server{db: db, jobs: jobs, schedule: schedule, now: now, waits: httpd.Slots{AtOnce: maxWaits}}
}

// Mount adds the routes below a prefix, such as /api/tracking. authenticate sets the caller's identity and refuses
// requests without one; limit, and startLimit and estimateLimit of their own routes, limit the rate of a caller.
func (s *Server) Mount(
	server *httpd.Server, prefix string, authenticate, limit, startLimit, estimateLimit fiber.Handler,
) {
	routes := server.Mount(httpd.Surface{Prefix: prefix, BodyLimit: bodyLimit, Error: s.errorBody})
	routes.Get("/openapi.json", func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Send(openAPI)
	})
	routes.Use(authenticate, limit, noStore)
	none := httpd.Parameters()
	routes.Post("/start", startLimit, none, s.start)
	routes.Post("/estimate", estimateLimit, none, s.estimate)
	routes.Get("/jobs", httpd.Parameters("brand_id", "limit", "cursor"), s.list)
	routes.Get("/job/:id", httpd.Parameters("wait"), s.show)
	routes.Get("/job/:id/platforms", none, s.platforms)
	routes.Delete("/job/:id", none, s.cancel)
	routes.Get("/spending", httpd.Parameters("brand_id", "date_from", "date_to"), s.spending)
	routes.Get("/budgets", none, s.budgets)
	routes.Put("/budgets", none, s.setBudget)
}

// noStore keeps responses out of shared caches.
func noStore(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Next()
}

// checkMaySpend refuses a caller who may not spend the organization's money.
func checkMaySpend(caller identity.Identity) error {
	if !caller.AtLeast(identity.Member) {
		return problem.New(problem.Forbidden,
			"a %s may not start or cancel tracking jobs: want the role %s or one above it",
			caller.Role, identity.Member)
	}
	return nil
}

// errorBody returns {"error": message}; where a budget is spent, Retry-After has the seconds until it resets.
func (s *Server) errorBody(c *fiber.Ctx, err error) (status int, body any) {
	overBudget, ok := errors.AsType[*postgres.BudgetError](err)
	if !ok {
		return httpd.PlainError(c, err)
	}
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(overBudget.Resets.Sub(s.now()).Seconds()))))
	return http.StatusTooManyRequests, fiber.Map{"error": overBudget.Error()}
}
