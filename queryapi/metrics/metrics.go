// Package metrics answers /api/v1: what AI answers say of a brand, as JSON that other people's reports are built on.
//
// An endpoint is one file with its body's type and one function from a caller and a query string to that body; the
// table in metrics.go names them all. A figure is never computed here: it comes ready-made from a query of
// sql/clickhouse, and this package decides who may ask, what may be asked, and how the answer is written.
package metrics

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"
	"github.com/gofrs/uuid/v5"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// An API answers /api/v1. It is safe for concurrent use.
type API struct {
	cfg       Config
	db        *postgres.DB
	warehouse *clickhouse.Conn
	now       func() time.Time
	slots     slots
}

// New returns an API over the brands of db and the answers of warehouse. The clock decides which days are meant where
// a request names none.
func New(cfg Config, db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time) *API {
	return &API{cfg: cfg, db: db, warehouse: warehouse, now: now, slots: slots{of: map[uuid.UUID]*organizationSlots{}}}
}

// prefix is the version of the interface: every path below it keeps its meaning.
const prefix = "/api/v1"

// descriptionPath is where description is, beside the endpoints.
const descriptionPath = "/openapi.json"

// description describes the endpoints in OpenAPI 3.1. It is written by hand and sent unchanged; tests compare every
// response with it.
//
//go:embed openapi.json
var description []byte

// An endpoint is one path. Its answer is a body that encode writes, or a problem.
type endpoint struct {
	path   string
	answer func(a *API, ctx context.Context, caller identity.Identity, q *query) (any, error)
}

// endpoints are all of them, in the order of the interface.
var endpoints = []endpoint{
	{"/whoami", (*API).whoami},
	{"/brands", (*API).brands},
	{"/filters", (*API).filters},
	{"/visibility-summary", (*API).visibilitySummary},
	{"/visibility-trend", (*API).visibilityTrend},
	{"/competitor-comparison", (*API).competitorComparison},
	{"/citations", (*API).citations},
	{"/ai-traffic", (*API).aiTraffic},
	{"/ai-crawlers", (*API).aiCrawlers},
	{"/prompt-performance", (*API).promptPerformance},
	{"/shopping-cards", (*API).shoppingCards},
}

// Mount adds the surface /api/v1 to a server. A path that does not exist is 404 and another method 405 with Allow
// whatever key is sent, because the paths are public, as their description is; on an endpoint the key is checked first.
func (a *API) Mount(server *httpd.Server, keys *apikey.Resolver) {
	surface := server.Mount(httpd.Surface{Prefix: prefix, ETag: true, Compress: true, Error: refusal})
	surface.Use(uncached)
	if len(a.cfg.CORSOrigins) > 0 {
		surface.Use(a.shared())
	}
	keyed, limit := keys.Require(apikey.MetricsRead), apikey.Limit(a.cfg.RateLimit, time.Now)
	surface.Get(descriptionPath, func(c *fiber.Ctx) error { return send(c, description) })
	for _, e := range endpoints {
		surface.Get(e.path, keyed, limit, func(c *fiber.Ctx) error { return a.serve(c, e) })
	}
}

// shared lets pages of the origins that the operator names ask, with a key that they send themselves: no cookie of a
// browser opens anything here.
func (a *API) shared() fiber.Handler {
	return cors.New(cors.Config{
		AllowOrigins:  strings.Join(a.cfg.CORSOrigins, ","),
		AllowMethods:  "GET,HEAD",
		AllowHeaders:  "Authorization,If-None-Match",
		ExposeHeaders: "ETag,Retry-After,RateLimit-Remaining,X-Request-Id",
		MaxAge:        600,
	})
}

// refusal answers 503 while a store cannot be reached.
func refusal(c *fiber.Ctx, err error) (status int, body any) {
	if postgres.Unreached(err) || clickhouse.Unreached(err) {
		err = problem.New(problem.Away, "a database of this service cannot be reached; ask again in a moment")
	}
	return httpd.PlainError(c, err)
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
	caller := identity.FromContext(c.UserContext())
	release, err := a.slots.acquire(ctx, caller.OrganizationID)
	if err != nil {
		return problem.New(problem.TooMany, "your organization has too many requests under way; ask again in a moment")
	}
	defer release()
	body, err := e.answer(a, ctx, caller, q)
	if err != nil {
		return err
	}
	text, err := encode(body)
	if err != nil {
		return err
	}
	return send(c, text)
}

func send(c *fiber.Ctx, document []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(document)
}

// A part is one of the queries that a body needs.
type part func(ctx context.Context, conn *clickhouse.Conn) error

// into is the part that stores the rows of a query.
func into[P, R any](rows *[]R, q clickhouse.Query[P, R], params P) part {
	return func(ctx context.Context, conn *clickhouse.Conn) (err error) {
		*rows, err = q.All(ctx, conn, params)
		return err
	}
}

// gather runs all parts at once, and returns after the slowest or the first error.
func (a *API) gather(ctx context.Context, parts ...part) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, ask := range parts {
		group.Go(func() error { return ask(ctx, a.warehouse) })
	}
	return group.Wait()
}
