// Package rest serves a schema of PostgreSQL over HTTP in the dialect of PostgREST, so that its clients work unchanged.
//
// A request takes five steps, each of which may refuse it:
//
//   - parse.go and parse_*.go read the request. They know no schema.
//   - plan.go and plan_*.go find the relations, columns, relationships and functions that the request names in the
//     schema cache (schema*.go), which is read from PostgreSQL's catalog and read again on NOTIFY pgrst.
//   - render.go and render_*.go write one statement: identifiers from the cache or quoted, values as parameters.
//   - run.go executes it in one transaction that has the caller's role and claims.
//   - respond.go makes status, headers and body of the result.
//
// call.go has what only calls of functions need: their plan and their SQL.
//
// The package knows no table by name: which schemas it serves, and to whom, is configuration.
package rest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/answerscope/answerscope/internal/httpd"
)

// An Authenticator finds the caller of a request. An *Error is the response; any other error is an internal one.
type Authenticator func(c *fiber.Ctx) (Caller, error)

// An API serves schemas of a database. It is safe for concurrent use.
type API struct {
	cfg            Config
	pool           *pgxpool.Pool
	authenticate   Authenticator
	log            *slog.Logger
	schemas        *atomic.Pointer[schemaCache] // to nil until it was read
	sameOriginOnly bool                         // pages of other origins may not read responses
	slots          *httpd.Slots
	lost           *atomic.Bool // the connection that listens has failed
}

// New returns an API over the database of a pool, whose login may take the roles of all callers. It answers 503 until
// Run has read the schema.
func New(cfg Config, pool *pgxpool.Pool, authenticate Authenticator, log *slog.Logger) *API {
	return &API{
		cfg: cfg, pool: pool, authenticate: authenticate, log: log,
		schemas: &atomic.Pointer[schemaCache]{}, slots: &httpd.Slots{}, lost: &atomic.Bool{},
	}
}

// At returns the same API at another prefix, with another way to find callers, such as a cookie. Pages of other origins
// may not read its responses. It needs no Run of its own.
func (a *API) At(prefix string, authenticate Authenticator) *API {
	other := *a
	other.cfg.Prefix, other.authenticate, other.sameOriginOnly = prefix, authenticate, true
	return &other
}

// Ready returns nil once the schema has been read.
func (a *API) Ready(context.Context) error {
	if a.schemas.Load() == nil {
		return errors.New("schema not read yet")
	}
	return nil
}

// Mount adds the API to a server. Everything below its prefix is answered in its own form, errors too.
func (a *API) Mount(server *httpd.Server) {
	surface := server.Mount(httpd.Surface{
		Prefix: a.cfg.Prefix, BodyLimit: bodyLimit, ErrorType: mediaJSON.contentType(), Error: a.serverError,
		Strangers: a.cfg.AnonWrites,
	})
	surface.Use(a.serve)
}

func (a *API) serve(c *fiber.Ctx) error {
	raw, ok := a.readRequest(c)
	if !ok {
		return fiber.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), a.cfg.AcquireTimeout+a.cfg.StatementTimeout+grace)
	defer cancel()
	out, err := a.answer(ctx, c, raw)
	if refusal, ok := errors.AsType[*Error](err); ok {
		a.logFailure(c, refusal)
		out = refusal.response()
	} else if err != nil {
		return err
	}
	out.headers = append(out.headers, a.corsHeaders(raw)...)
	out.send(c)
	return nil
}

// readRequest copies a request; false if it is not below the prefix.
func (a *API) readRequest(c *fiber.Ctx) (rawRequest, bool) {
	uri := c.Request().URI()
	path, below := strings.CutPrefix(string(uri.PathOriginal()), strings.TrimSuffix(a.cfg.Prefix, "/"))
	if !below || path != "" && path[0] != '/' {
		return rawRequest{}, false
	}
	raw := rawRequest{method: httpd.Method(c), path: path, query: string(uri.QueryString()), body: c.BodyRaw()}
	c.Request().Header.VisitAll(func(name, value []byte) {
		raw.headers = append(raw.headers, [2]string{string(name), string(value)})
	})
	return raw, true
}

// answer takes a request through all steps.
func (a *API) answer(ctx context.Context, c *fiber.Ctx, raw rawRequest) (*response, error) {
	if raw.preflight() {
		return &response{status: http.StatusOK}, nil
	}
	schemas := a.schemas.Load()
	if schemas == nil {
		return nil, refuse(http.StatusServiceUnavailable, "PGRST002",
			"Could not query the database for the schema cache. Retrying.")
	}
	caller, err := a.authenticate(c)
	if err != nil {
		return nil, err
	}
	request, err := parse(raw, a.cfg, schemas.timezones)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(request, schemas, a.cfg)
	if err != nil {
		return nil, err
	}
	if request.action >= actionInfo {
		return plan.respondOptions(), nil
	}
	startCtx, cancel := context.WithTimeout(ctx, a.cfg.AcquireTimeout)
	defer cancel()
	release, err := a.acquireSlot(startCtx, caller)
	if err != nil {
		return nil, err
	}
	plan.caller = caller
	if startCtx, cancel, err = a.prepare(ctx, startCtx, plan); err != nil {
		release()
		return nil, err
	}
	defer cancel()
	result, err := a.run(ctx, startCtx, plan)
	if err != nil {
		release()
		return nil, err
	}
	out, err := plan.respond(result)
	if err != nil {
		release()
		return nil, err
	}
	out.release = release
	return out, nil
}

// acquireSlot waits for a slot of the caller's organization.
func (a *API) acquireSlot(ctx context.Context, caller Caller) (release func(), err error) {
	if caller.Organization.IsNil() {
		return func() {}, nil
	}
	release, err = a.slots.Acquire(ctx, caller.Organization)
	switch {
	case err == nil:
		return release, nil
	case a.lost.Load():
		return nil, connectionError(err)
	}
	return nil, TooMany("your organization has too many requests under way; ask again in a moment").
		withHeader(fiber.HeaderRetryAfter, "1")
}

// largeBody is the size from which a body keeps its slot until it is sent, so that clients that read slowly do not fill
// this process with bodies. The kernel takes smaller ones at once.
const largeBody = 64 << 10

// A slotBody is a body that keeps a slot until the server has sent it or failed to.
type slotBody struct {
	net.Buffers
	release func()
}

func (b *slotBody) Close() error {
	b.release()
	return nil
}

// send writes a response.
func (r *response) send(c *fiber.Ctx) {
	c.Status(r.status)
	if phrase := onOneLine(r.phrase); phrase != "" {
		c.Response().Header.SetStatusMessage([]byte(phrase))
	}
	for _, h := range r.headers {
		c.Response().Header.Add(onOneLine(h[0]), onOneLine(h[1]))
	}
	size := 0
	for _, chunk := range r.body {
		size += len(chunk)
	}
	switch {
	case c.Method() == http.MethodHead:
	case r.release != nil && size >= largeBody:
		c.Response().SetBodyStream(&slotBody{r.body, r.release}, size)
		return
	case len(r.body) > 0:
		c.Response().SetBodyRaw(r.body[0]) // the only chunk
	}
	if r.release != nil {
		r.release()
	}
}

// onOneLine replaces line breaks, which a header must not have.
func onOneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// serverError is the response to what the server itself refuses below the prefix: a body that is too large, a panic.
func (a *API) serverError(c *fiber.Ctx, err error) (status int, body any) {
	status, message := httpd.Explain(err)
	code := "PGRSTX00"
	switch status {
	case http.StatusNotFound:
		code, message = "PGRST125", "Invalid path specified in request URL"
	case http.StatusRequestEntityTooLarge:
		code, message = "PGRST102", "The body is too large"
	}
	c.Set("Proxy-Status", "PostgREST; error="+code)
	raw, _ := a.readRequest(c)
	for _, h := range a.corsHeaders(raw) {
		c.Set(h[0], h[1])
	}
	return status, json.RawMessage(refuse(status, code, message).body())
}

func (a *API) logFailure(c *fiber.Ctx, e *Error) {
	if e.status < http.StatusInternalServerError || c.UserContext().Err() != nil { // the client has gone
		return
	}
	a.log.Error("request failed", "request", c.GetRespHeader(fiber.HeaderXRequestID), "method", c.Method(),
		"path", c.Path(), "status", e.status, "error", e,
		"next", "see whether the function or view that it names is right, and whether the database can be reached")
}
