// Package metrics answers /api/v1: what AI answers say of a brand, as JSON that other people's reports are built on.
//
// An endpoint is one file with its body's type and one function from a caller and a query string to that body; the
// table in metrics.go names them all. A figure is never computed here: it comes ready-made from a query of
// sql/clickhouse, and this package decides who may ask, what may be asked, and how the answer is written.
package metrics

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"
	"github.com/gofiber/fiber/v2/utils"
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
	slots     httpd.Slots
	cache     *responseCache

	slotTimeout, queryTimeout time.Duration
}

// New returns an API over the brands of db and the answers of warehouse. The clock decides which days are meant where
// a request names none.
func New(cfg Config, db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time) *API {
	return &API{cfg: cfg, db: db, warehouse: warehouse, now: now,
		cache: newResponseCache(cfg.CacheBytes), slotTimeout: slotTimeout, queryTimeout: queryTimeout}
}

const (
	// versionTimeout bounds the look-up of the warehouse version.
	versionTimeout = 3 * time.Second
	// slotTimeout bounds how long a request waits for one of its organization's slots.
	slotTimeout = 10 * time.Second
	// queryTimeout bounds the request from then on, so that a store that hangs does not keep its connections for ever.
	queryTimeout = 30 * time.Second
)

// prefix is the version of the interface: every path below it keeps its meaning.
const prefix = "/api/v1"

// descriptionPath is where description is, beside the endpoints.
const descriptionPath = "/openapi.json"

// description describes the endpoints in OpenAPI 3.1. It is written by hand and sent unchanged; tests compare every
// response with it.
//
//go:embed openapi.json
var description []byte

// An endpoint is one path, a parameter of which is {name}. Its answer is a body that encode writes, or a problem.
type endpoint struct {
	path   string
	answer func(a *API, ctx context.Context, caller identity.Identity, q *query) (any, error)
	tables []table // the lists of its body

	ofControlPlane bool // it asks PostgreSQL alone
}

// endpoints are all of them, in the order of the interface.
var endpoints = []endpoint{
	{path: "/whoami", answer: (*API).whoami, ofControlPlane: true},
	{path: "/brands", answer: (*API).brands, tables: tablesOf[brandsBody](), ofControlPlane: true},
	{path: "/filters", answer: (*API).filters, tables: tablesOf[filtersBody]()},
	{path: "/visibility-summary", answer: (*API).visibilitySummary, tables: tablesOf[summaryBody]()},
	{path: "/visibility-trend", answer: (*API).visibilityTrend, tables: tablesOf[trendBody]()},
	{path: "/competitor-comparison", answer: (*API).competitorComparison, tables: tablesOf[comparisonBody]()},
	{path: "/citations", answer: (*API).citations, tables: tablesOf[citationsBody]()},
	{path: "/ai-traffic", answer: (*API).aiTraffic, tables: tablesOf[trafficBody]()},
	{path: "/ai-crawlers", answer: (*API).aiCrawlers, tables: tablesOf[crawlersBody]()},
	{path: "/ai-pages", answer: (*API).aiPages, tables: tablesOf[sitePagesBody]()},
	{path: "/prompt-performance", answer: (*API).promptPerformance, tables: tablesOf[promptsBody]()},
	{path: "/shopping-cards", answer: (*API).shoppingCards, tables: tablesOf[cardsBody]()},
	{path: "/answers", answer: (*API).answers, tables: tablesOf[answersBody]()},
	{path: "/answers/{id}", answer: (*API).answer, tables: tablesOf[answerBody]()},
}

// Mount adds the surface /api/v1 to a server. A path that does not exist is 404 and another method 405 with Allow
// whatever key is sent, because the paths are public, as their description is; on an endpoint the key is checked first.
func (a *API) Mount(server *httpd.Server, keys *apikey.Resolver) {
	surface := surfaceAt(server, prefix)
	if len(a.cfg.CORSOrigins) > 0 {
		surface.Use(a.shared())
	}
	surface.Get(descriptionPath, func(c *fiber.Ctx) error { return send(c, description) })
	a.route(surface, keys.Require(apikey.MetricsRead))
}

// MountAt adds the same endpoints below another prefix, for the callers that guard lets pass.
func (a *API) MountAt(server *httpd.Server, prefix string, guard fiber.Handler) {
	a.route(surfaceAt(server, prefix), guard)
}

func surfaceAt(server *httpd.Server, prefix string) fiber.Router {
	surface := server.Mount(httpd.Surface{Prefix: prefix, ETag: true, Compress: true, Error: refusal})
	surface.Use(uncached)
	return surface
}

func (a *API) route(surface fiber.Router, guard fiber.Handler) {
	limit := httpd.NewCallerLimit(a.cfg.RateLimit, time.Now)
	for _, e := range endpoints {
		surface.Get(inFiber.Replace(e.path), guard, limit.Handle, func(c *fiber.Ctx) error { return a.serve(c, e) })
	}
}

// inFiber writes the parameters of a path as fiber does.
var inFiber = strings.NewReplacer("{", ":", "}", "")

// shared lets pages of the origins that the operator names ask, with a key that they send themselves: no cookie of a
// browser opens anything here.
func (a *API) shared() fiber.Handler {
	return cors.New(cors.Config{
		AllowOrigins:  strings.Join(a.cfg.CORSOrigins, ","),
		AllowMethods:  "GET,HEAD",
		AllowHeaders:  "Authorization,If-None-Match",
		ExposeHeaders: "ETag,Link,Retry-After,RateLimit-Remaining,X-Request-Id",
		MaxAge:        600,
	})
}

// refusal answers 503 while a store cannot be reached, or is too slow.
func refusal(c *fiber.Ctx, err error) (status int, body any) {
	switch kind, _ := problem.Of(err); {
	case kind != problem.Internal:
	case errors.Is(err, context.DeadlineExceeded):
		err = problem.New(problem.Unavailable, "a database of this service did not answer in time; ask again in a moment, or for fewer days")
	case postgres.IsTransient(err), clickhouse.Unreached(err):
		err = problem.New(problem.Unavailable, "a database of this service cannot be reached; ask again in a moment")
	}
	return httpd.PlainError(c, err)
}

// uncached lets only the caller's own cache keep a response, errors too, and has it revalidated each time.
func uncached(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	c.Vary(fiber.HeaderAuthorization)
	return c.Next()
}

func (a *API) serve(c *fiber.Ctx, e endpoint) error {
	ctx, caller := c.UserContext(), identity.FromContext(c.UserContext())
	inCSV := c.Accepts(fiber.MIMEApplicationJSON, mimeCSV) == mimeCSV && len(e.tables) > 0
	asked := request{path: utils.CopyString(c.Path()), query: string(c.Context().URI().QueryString()), inCSV: inCSV, day: dayText(a.now().UTC())}
	c.Vary(fiber.HeaderAccept)
	version, err := a.version(ctx, e)
	if err != nil {
		return err
	}
	key := cacheKey{caller.OrganizationID, version, asked}
	if found, ok := a.cache.find(key, a.now()); ok {
		return found.send(c)
	}
	made, err := a.make(ctx, caller, e, asked, c.AllParams())
	if err != nil {
		return err
	}
	a.cache.add(key, made, a.now())
	return made.send(c)
}

// version is that of the warehouse where bodies are cached and an endpoint asks it, else 0. With replicas nothing is
// cached: one that lags answers with what was before a version that is already known, and its body would serve until the
// next.
func (a *API) version(ctx context.Context, e endpoint) (int64, error) {
	if a.cache == nil || e.ofControlPlane || a.warehouse.Replicated() {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	return a.db.WarehouseVersion(ctx)
}

// make answers a request.
func (a *API) make(ctx context.Context, caller identity.Identity, e endpoint, asked request, params map[string]string) (rendered, error) {
	release, err := a.slot(ctx, caller)
	if err != nil {
		return rendered{}, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, a.queryTimeout)
	defer cancel()
	q := parseQuery(asked.query)
	for name, value := range params {
		q.given[name] = append(q.given[name], value)
	}
	list := q.table(e.tables, asked.inCSV)
	body, err := e.answer(a, ctx, caller, q)
	if err != nil {
		return rendered{}, err
	}
	if list == nil {
		text, err := encode(body)
		return rendered{text, fiber.MIMEApplicationJSON, ""}, err
	}
	text, err := list.csv(body)
	made := rendered{text, mimeCSV + "; charset=utf-8; header=present", ""}
	if list, ok := body.(pages); ok && list.next() != nil {
		made.link = asked.nextPage(*list.next())
	}
	return made, err
}

// slot waits for one of the caller's organization.
func (a *API) slot(ctx context.Context, caller identity.Identity) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, a.slotTimeout)
	defer cancel()
	if release, err = a.slots.Acquire(ctx, caller.OrganizationID); err != nil {
		return nil, problem.New(problem.TooMany, "your organization has too many requests under way; ask again in a moment")
	}
	return release, nil
}

// A request is all that a body depends on, beside the organization and the warehouse.
type request struct {
	path, query string
	inCSV       bool
	day         string // today, on which the default window ends
}

// A rendered body is a response of status 200.
type rendered struct {
	body []byte
	kind string
	link string // "": none
}

func (r rendered) send(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, r.kind)
	if r.link != "" {
		c.Set(fiber.HeaderLink, r.link)
	}
	return c.Send(r.body)
}

const mimeCSV = "text/csv"

// pages is a body that is read page by page.
type pages interface{ next() *string }

func (b promptsBody) next() *string { return b.NextCursor }
func (b cardsBody) next() *string   { return b.NextCursor }
func (b answersBody) next() *string { return b.NextCursor }

// nextPage is the request for the page after this one, as a Link.
func (r request) nextPage(cursor string) string {
	query := url.Values{}
	for name, values := range parseQuery(r.query).given { // url.ParseQuery would drop what has a semicolon
		value, _ := url.QueryUnescape(values[0]) // one that has none, or several values, was refused
		query.Set(name, value)
	}
	query.Set("cursor", cursor)
	return "<" + r.path + "?" + query.Encode() + `>; rel="next"`
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

// Config is what an operator decides of /api/v1.
type Config struct {
	RateLimit   int      // requests a second of one key; 0 is no limit
	CacheBytes  int      // of bodies that answer repeated questions, of all organizations; 0: none is cached
	CORSOrigins []string // of pages in whose browsers it may be asked, such as https://reports.example; * is all
}

// DefaultConfig lets no page of another origin ask.
func DefaultConfig() Config { return Config{RateLimit: 100, CacheBytes: 64 << 20} }

// Validate says which setting is wrong, and what would be right.
func (c Config) Validate() error {
	var errs []error
	if c.RateLimit < 0 {
		errs = append(errs, fmt.Errorf("ANSWERSCOPE_RATE_LIMIT is %d: want requests a second, 0 for no limit", c.RateLimit))
	}
	for _, origin := range c.CORSOrigins {
		at, err := url.Parse(origin)
		if origin != "*" && (err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.Scheme+"://"+at.Host != origin) {
			errs = append(errs, fmt.Errorf("ANSWERSCOPE_CORS_ORIGINS has %q: want an origin such as https://reports.example, without a path, or *", origin))
		}
	}
	return errors.Join(errs...)
}
