// Package metrics serves /api/v1: the figures of AI answers about a brand, as JSON for the reports of others.
//
// Each endpoint is a file with the type of its body and one method, which takes a caller and the parameters; the table
// in metrics.go lists them all. No figure is computed here: it comes from a query of sql/clickhouse, a verdict from
// internal/verdict, and this package checks the caller and the parameters, and writes the body.
package metrics

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"
	"github.com/gofiber/fiber/v2/utils"
	"github.com/gofrs/uuid/v5"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// An API serves /api/v1. It is safe for concurrent use.
type API struct {
	cfg       Config
	db        *postgres.DB
	warehouse *clickhouse.Conn
	now       func() time.Time
	slots     httpd.Slots
	cache     *responseCache

	slotTimeout, queryTimeout time.Duration
}

// New returns an API over the brands of db and the answers of warehouse. The clock decides the days of a request that
// names none.
func New(cfg Config, db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time) *API {
	a := &API{cfg: cfg, db: db, warehouse: warehouse, now: now,
		cache: newResponseCache(cfg.CacheBytes), slotTimeout: slotTimeout, queryTimeout: queryTimeout}
	if warehouse.Replicated() {
		a.queryTimeout = failoverTimeout
	}
	return a
}

const (
	// versionTimeout bounds the look-up of the warehouse version.
	versionTimeout = 3 * time.Second
	// slotTimeout bounds how long a request waits for a slot of its organization.
	slotTimeout = 10 * time.Second
	// queryTimeout bounds the request from then on, so that a store that hangs does not keep its connections.
	queryTimeout = 30 * time.Second
	// failoverTimeout is that with replicas, of which any may hang: the request fails, and the next one asks others.
	failoverTimeout = 10 * time.Second
)

// prefix has the version of the interface: every path below it keeps its meaning.
const prefix = "/api/v1"

// descriptionPath is the path of description, beside the endpoints.
const descriptionPath = "/openapi.json"

// description describes the endpoints in OpenAPI 3.1. It is written by hand and sent unchanged; tests compare every
// response with it.
//
//go:embed openapi.json
var description []byte

// An endpoint is one path, a parameter of which is {name}. It returns a body for encode, or a problem.
type endpoint struct {
	path   string
	answer func(a *API, ctx context.Context, caller identity.Identity, q *query) (any, error)
	tables []table // the lists of its body, as CSV

	withoutWarehouse bool     // it asks PostgreSQL alone
	topics           []string // whose records its figures count; nil: answers
}

// counts returns the topics whose records the figures count.
func (e endpoint) counts() []string {
	if e.topics == nil {
		return []string{postgres.TopicAnswers}
	}
	return e.topics
}

// endpoints are in the order of the interface.
var endpoints = []endpoint{
	{path: "/whoami", answer: (*API).whoami, withoutWarehouse: true},
	{path: "/brands", answer: (*API).brands, tables: tablesOf[brandsBody](), withoutWarehouse: true},
	{path: "/brands-overview", answer: (*API).brandsOverview, tables: tablesOf[overviewBody](),
		topics: []string{postgres.TopicAnswers, postgres.TopicVisits}},
	{path: "/filters", answer: (*API).filters, tables: tablesOf[filtersBody]()},
	{path: "/visibility-summary", answer: (*API).visibilitySummary, tables: tablesOf[summaryBody]()},
	{path: "/visibility-trend", answer: (*API).visibilityTrend, tables: tablesOf[trendBody]()},
	{path: "/entity-trend", answer: (*API).entityTrend, tables: tablesOf[entityTrendBody]()},
	{path: "/visibility-changes", answer: (*API).visibilityChanges, tables: tablesOf[Changes]()},
	{path: "/alert-preview", answer: (*API).alertPreview, tables: tablesOf[previewBody]()},
	{path: "/sampling-plan", answer: (*API).samplingPlan},
	{path: "/verdict-checks", answer: (*API).verdictChecks, tables: tablesOf[verdictChecksBody](),
		withoutWarehouse: true},
	{path: "/competitor-comparison", answer: (*API).competitorComparison, tables: tablesOf[comparisonBody]()},
	{path: "/sentiment", answer: (*API).sentiment, tables: tablesOf[sentimentBody]()},
	{path: "/fanout", answer: (*API).fanout, tables: tablesOf[fanoutBody]()},
	{path: "/citations", answer: (*API).citations, tables: tablesOf[citationsBody]()},
	{path: "/source-matrix", answer: (*API).sourceMatrix, tables: tablesOf[sourceMatrixBody]()},
	{path: "/ai-traffic", answer: (*API).aiTraffic, tables: tablesOf[trafficBody](),
		topics: []string{postgres.TopicVisits}},
	{path: "/ai-crawlers", answer: (*API).aiCrawlers, tables: tablesOf[crawlersBody](),
		topics: []string{postgres.TopicCrawls}},
	{path: "/ai-pages", answer: (*API).aiPages, tables: tablesOf[sitePagesBody](),
		topics: []string{postgres.TopicAnswers, postgres.TopicVisits, postgres.TopicCrawls}},
	{path: "/prompt-performance", answer: (*API).promptPerformance, tables: tablesOf[promptsBody]()},
	{path: "/prompt-matrix", answer: (*API).promptMatrix, tables: tablesOf[matrixBody]()},
	{path: "/shopping-cards", answer: (*API).shoppingCards, tables: tablesOf[cardsBody]()},
	{path: "/shopping-summary", answer: (*API).shoppingSummary, tables: tablesOf[shoppingSummaryBody]()},
	{path: "/suggestions", answer: (*API).suggestions, tables: tablesOf[Suggestions](), withoutWarehouse: true},
	{path: "/answers", answer: (*API).answers, tables: tablesOf[answersBody]()},
	{path: "/answers/{id}", answer: (*API).answer, tables: tablesOf[answerBody]()},
}

// Mount adds the surface /api/v1 to a server. A path that does not exist is 404 and another method 405 with Allow,
// with any key, because the paths are public, as their description is; on an endpoint the key is checked first. It
// returns the limit of its callers, for a surface that asks the same to share.
func (a *API) Mount(server *httpd.Server, keys *auth.KeyResolver) *httpd.CallerLimit {
	surface := newSurface(server, prefix)
	if len(a.cfg.CORSOrigins) > 0 {
		surface.Use(a.cors())
	}
	surface.Get(descriptionPath, rendered{body: description, contentType: fiber.MIMEApplicationJSON}.send)
	limit := httpd.NewCallerLimit(a.cfg.RateLimit, time.Now)
	a.route(surface, keys.Require(auth.MetricsRead), limit)
	return limit
}

// MountAt adds the same endpoints below another prefix, for the callers that guard accepts.
func (a *API) MountAt(server *httpd.Server, prefix string, guard fiber.Handler) {
	a.route(newSurface(server, prefix), guard, httpd.NewCallerLimit(a.cfg.RateLimit, time.Now))
}

func newSurface(server *httpd.Server, prefix string) fiber.Router {
	surface := server.Mount(httpd.Surface{Prefix: prefix, ETag: true, Compress: true, Error: responseError})
	surface.Use(privateCache)
	return surface
}

func (a *API) route(surface fiber.Router, guard fiber.Handler, limit *httpd.CallerLimit) {
	for _, e := range endpoints {
		path := strings.NewReplacer("{", ":", "}", "").Replace(e.path) // as fiber writes parameters
		surface.Get(path, guard, limit.Handle, func(c *fiber.Ctx) error { return a.serve(c, e) })
	}
}

// cors lets pages of the configured origins send requests, with a key of their own: a browser's cookie opens nothing
// here.
func (a *API) cors() fiber.Handler {
	return cors.New(cors.Config{
		AllowOrigins:  strings.Join(a.cfg.CORSOrigins, ","),
		AllowMethods:  "GET,HEAD",
		AllowHeaders:  "Authorization,If-None-Match",
		ExposeHeaders: "ETag,Link,Retry-After,RateLimit-Remaining,X-Request-Id",
		MaxAge:        600,
	})
}

func responseError(c *fiber.Ctx, err error) (status int, body any) {
	return httpd.PlainError(c, Explain(err))
}

var (
	errSlow = problem.New(problem.Unavailable,
		"a database of this service did not answer in time; ask again in a moment, or for fewer days")
	errAway = problem.New(problem.Unavailable, "a database of this service cannot be reached; ask again in a moment")
)

// Explain makes a problem of an error of a store that cannot be reached or is too slow.
func Explain(err error) error {
	switch kind, _ := problem.Of(err); {
	case kind != problem.Internal:
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: %w", errSlow, err)
	case postgres.IsTransient(err), clickhouse.IsTransient(err):
		return fmt.Errorf("%w: %w", errAway, err)
	}
	return err
}

// privateCache lets only the caller's own cache keep a response, errors too, which revalidates it each time.
func privateCache(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	c.Vary(fiber.HeaderAuthorization)
	return c.Next()
}

// serve sends the body of a request.
func (a *API) serve(c *fiber.Ctx, e endpoint) error {
	c.Vary(fiber.HeaderAccept)
	r := request{
		path: utils.CopyString(c.Path()), query: string(c.Context().URI().QueryString()), day: dayText(a.now().UTC()),
		asCSV: len(e.tables) > 0 && c.Accepts(fiber.MIMEApplicationJSON, mimeCSV) == mimeCSV,
	}
	body, err := a.respond(c.UserContext(), identity.FromContext(c.UserContext()), e, r, c.Params("id"))
	if err != nil {
		return err
	}
	return body.send(c)
}

// Ask returns the JSON body that a caller gets from an endpoint, such as /answers or /answers/{id} with an id. A store
// that does not answer is a problem.
func (a *API) Ask(ctx context.Context, caller identity.Identity, path string, params url.Values) ([]byte, error) {
	name, id, hasID := strings.Cut(path[1:], "/")
	if hasID {
		name += "/{id}"
	}
	i := slices.IndexFunc(endpoints, func(e endpoint) bool { return e.path == "/"+name })
	if i < 0 {
		return nil, problem.New(problem.Missing, "no such path")
	}
	r := request{path: prefix + path, query: params.Encode(), day: dayText(a.now().UTC())}
	body, err := a.respond(ctx, caller, endpoints[i], r, id)
	return body.body, Explain(err)
}

// respond returns the cached body of a request, else renders it.
func (a *API) respond(
	ctx context.Context, caller identity.Identity, e endpoint, r request, id string,
) (rendered, error) {
	version, err := a.version(ctx, e, r)
	if err != nil {
		return rendered{}, err
	}
	key := cacheKey{caller.OrganizationID, version, r}
	if cached, ok := a.cache.find(key, a.now()); ok {
		return cached, nil
	}
	body, err := a.render(ctx, caller, e, r, id)
	if err == nil {
		a.cache.add(key, body, a.now())
	}
	return body, err
}

// version returns the version of the data that a request depends on, or the zero one where nothing is cached. It is
// settled once all replicas have that data, so that each of them answers as any other.
func (a *API) version(ctx context.Context, e endpoint, r request) (version postgres.WarehouseVersion, err error) {
	if a.cache == nil || e.withoutWarehouse {
		return version, nil
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	var brand uuid.UUID
	if ids := parseQuery(r.query).values["brand_id"]; len(ids) == 1 {
		brand = uuid.FromStringOrNil(ids[0]) // of any other the request is refused, or has all brands
	}
	return a.db.WarehouseVersion(ctx, brand, e.counts()...)
}

// render answers a request within a slot of the caller's organization.
func (a *API) render(
	ctx context.Context, caller identity.Identity, e endpoint, r request, id string,
) (rendered, error) {
	slotCtx, cancel := context.WithTimeout(ctx, a.slotTimeout)
	defer cancel()
	release, err := a.slots.Acquire(slotCtx, caller.OrganizationID)
	if err != nil {
		return rendered{}, problem.New(problem.TooMany,
			"your organization has too many requests under way; ask again in a moment")
	}
	defer release()
	ctx, cancel = context.WithTimeout(ctx, a.queryTimeout)
	defer cancel()
	q := parseQuery(r.query)
	if strings.HasSuffix(e.path, "{id}") {
		q.values["id"] = append(q.values["id"], id)
	}
	list := q.table(e.tables, r.asCSV)
	body, err := e.answer(a, ctx, caller, q)
	if err != nil {
		return rendered{}, err
	}
	if list == nil {
		text, err := encode(body)
		return rendered{text, fiber.MIMEApplicationJSON, ""}, err
	}
	text, err := list.csv(body)
	csv := rendered{text, mimeCSV + "; charset=utf-8; header=present", ""}
	if page, ok := body.(pageBody); ok && page.next() != nil {
		csv.link = r.nextPage(*page.next())
	}
	return csv, err
}

// A request is everything that a body depends on, beside the organization and the warehouse.
type request struct {
	path, query string
	asCSV       bool
	day         string // today, on which the default window ends
}

// A rendered body is a response of status 200.
type rendered struct {
	body        []byte
	contentType string
	link        string // "": none
}

func (r rendered) send(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, r.contentType)
	if r.link != "" {
		c.Set(fiber.HeaderLink, r.link)
	}
	return c.Send(r.body)
}

const mimeCSV = "text/csv"

// A pageBody is a body that has a next page.
type pageBody interface{ next() *string }

func (b promptsBody) next() *string { return b.NextCursor }
func (b matrixBody) next() *string  { return b.NextCursor }
func (b cardsBody) next() *string   { return b.NextCursor }
func (b answersBody) next() *string { return b.NextCursor }

// nextPage returns the request for the next page, as a Link.
func (r request) nextPage(cursor string) string {
	query := url.Values{}
	for name, values := range parseQuery(r.query).values { // url.ParseQuery would drop a value with a semicolon
		value, _ := url.QueryUnescape(values[0]) // a bad value, or several of one name, were refused
		query.Set(name, value)
	}
	query.Set("cursor", cursor)
	return "<" + r.path + "?" + query.Encode() + `>; rel="next"`
}

// A queryFunc runs one of the queries of a body.
type queryFunc func(ctx context.Context, conn *clickhouse.Conn) error

// fetch returns a queryFunc that stores the rows of a query.
func fetch[P, R any](rows *[]R, q clickhouse.Source[P, R], params P) queryFunc {
	return func(ctx context.Context, conn *clickhouse.Conn) (err error) {
		*rows, err = q.All(ctx, conn, params)
		return err
	}
}

// runAll runs queries at once, and returns after the slowest or the first error.
func (a *API) runAll(ctx context.Context, queries ...queryFunc) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, run := range queries {
		group.Go(func() error { return run(ctx, a.warehouse) })
	}
	return group.Wait()
}

// Config has the settings of /api/v1.
type Config struct {
	RateLimit   int      // requests a second of one key; 0: no limit
	CacheBytes  int      // of the bodies cached for all organizations; 0: none
	CORSOrigins []string // of pages whose browsers may send requests, such as https://reports.example; *: all
}

// DefaultConfig lets no page of another origin send requests.
func DefaultConfig() Config { return Config{RateLimit: 100, CacheBytes: 64 << 20} }

// Validate returns all invalid settings.
func (c Config) Validate() error {
	var errs []error
	if c.RateLimit < 0 {
		errs = append(errs,
			fmt.Errorf("ANSWERSCOPE_RATE_LIMIT is %d: want requests a second, 0 for no limit", c.RateLimit))
	}
	for _, origin := range c.CORSOrigins {
		at, err := url.Parse(origin)
		valid := err == nil && at.Host != "" && (origin == "http://"+at.Host || origin == "https://"+at.Host)
		if origin != "*" && !valid {
			errs = append(errs, fmt.Errorf("ANSWERSCOPE_CORS_ORIGINS has %q: "+
				"want an origin such as https://reports.example, without a path, or *", origin))
		}
	}
	return errors.Join(errs...)
}
