package metrics

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// An API answers /api/v1. It is safe for concurrent use.
type API struct {
	db        *postgres.DB
	warehouse *clickhouse.Conn
	now       func() time.Time
}

// New returns an API over the brands of db and the answers of warehouse. The clock decides which days are meant where
// a request names none.
func New(db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time) *API {
	return &API{db, warehouse, now}
}

// prefix is the version of the interface: every path below it keeps its meaning.
const prefix = "/api/v1"

// An endpoint is one path. Its answer is a body that encode writes, or a problem.
type endpoint struct {
	path   string
	answer func(a *API, ctx context.Context, caller identity.Identity, q *query) (any, error)
}

// endpoints are all of them, in the order of the interface.
var endpoints = []endpoint{
	{"/whoami", (*API).whoami},
	{"/brands", (*API).brands},
	{"/visibility-summary", (*API).visibilitySummary},
	{"/visibility-trend", (*API).visibilityTrend},
	{"/competitor-comparison", (*API).competitorComparison},
	{"/citations", (*API).citations},
	{"/ai-traffic", (*API).aiTraffic},
	{"/ai-crawlers", (*API).aiCrawlers},
	{"/prompt-performance", (*API).promptPerformance},
	{"/shopping-cards", (*API).shoppingCards},
}

// Mount adds the endpoints below /api/v1 of app. A path that does not exist is 404 and another method 405 with Allow
// whatever key is sent, because the paths are public, as their description is; on an endpoint the key is checked first.
func (a *API) Mount(app fiber.Router, keys *apikey.Resolver) {
	group := app.Group(prefix, uncached)
	group.Get(descriptionPath, describe)
	for _, e := range endpoints {
		group.Get(e.path, keys.Require, func(c *fiber.Ctx) error { return a.serve(c, e) })
	}
}

// uncached lets only the caller's own cache keep a response, errors too, and has it revalidated each time.
func uncached(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	c.Vary(fiber.HeaderAuthorization)
	return c.Next()
}

// queryTimeout bounds a request, so that a store that hangs does not keep its connections for ever.
const queryTimeout = 30 * time.Second

func (a *API) serve(c *fiber.Ctx, e endpoint) error {
	q := parseQuery(string(c.Context().URI().QueryString()))
	ctx, cancel := context.WithTimeout(c.UserContext(), queryTimeout)
	defer cancel()
	body, err := e.answer(a, ctx, identity.FromContext(c.UserContext()), q)
	if err != nil {
		return err
	}
	text, err := encode(body)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(text)
}
