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
// The package knows no table by name: which schemas it serves, and to whom, is configuration.
package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/answerscope/answerscope/internal/httpd"
)

// An Authenticator finds who sends a request. An *Error is the answer; any other error is an internal one.
type Authenticator func(c *fiber.Ctx) (Caller, error)

// An API serves schemas of a database. It is safe for concurrent use.
type API struct {
	cfg   Config
	pool  *pgxpool.Pool
	who   Authenticator
	log   *slog.Logger
	cache *atomic.Pointer[cache] // of nil until it was read
	own   bool                   // only pages of this origin may read answers
	slots *httpd.Slots
	lost  *atomic.Bool // the listening connection got no answer
}

// New returns an API over the database of a pool, whose login may take the roles of all callers. It answers 503 until
// Run has read the schema.
func New(cfg Config, pool *pgxpool.Pool, who Authenticator, log *slog.Logger) *API {
	return &API{cfg: cfg, pool: pool, who: who, log: log, cache: new(atomic.Pointer[cache]), slots: &httpd.Slots{}, lost: &atomic.Bool{}}
}

// At is the same API at another prefix, for callers that are found another way, such as by a cookie. Pages of other
// origins may not read its answers. It needs no Run of its own.
func (a *API) At(prefix string, who Authenticator) *API {
	other := *a
	other.cfg.Prefix, other.who, other.own = prefix, who, true
	return &other
}

// Mount adds the surface to a server. Everything below its prefix is answered in its own form, errors too.
func (a *API) Mount(server *httpd.Server) {
	surface := server.Mount(httpd.Surface{
		Prefix: a.cfg.Prefix, BodyLimit: bodyLimit, ErrorType: mediaJSON.contentType(), Error: a.refusal,
	})
	surface.Use(a.serve)
}

func (a *API) serve(c *fiber.Ctx) error {
	in, ok := a.incoming(c)
	if !ok {
		return fiber.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), a.cfg.AcquireTimeout+a.cfg.StatementTimeout+grace)
	defer cancel()
	out, err := a.answer(ctx, c, in)
	if refused, ok := errors.AsType[*Error](err); ok {
		a.logFailure(c, refused)
		out = refused.response()
	} else if err != nil {
		return err
	}
	out.headers = append(out.headers, a.shared(in)...)
	out.send(c)
	return nil
}

// answer takes a request through all steps.
func (a *API) answer(ctx context.Context, c *fiber.Ctx, in incoming) (*response, error) {
	if in.preflight() {
		return &response{status: http.StatusOK}, nil
	}
	known := a.cache.Load()
	if known == nil {
		return nil, refuse(http.StatusServiceUnavailable, "PGRST002", "Could not query the database for the schema cache. Retrying.")
	}
	caller, err := a.who(c)
	if err != nil {
		return nil, err
	}
	request, refused := parse(in, a.cfg, known.timezones)
	if refused != nil {
		return nil, refused
	}
	plan, refused := known.plan(request, a.cfg)
	if refused != nil {
		return nil, refused
	}
	if request.action >= actionInfo {
		return plan.inform(), nil
	}
	starting, started := context.WithTimeout(ctx, a.cfg.AcquireTimeout)
	defer started()
	release, refused := a.slot(starting, caller)
	if refused != nil {
		return nil, refused
	}
	result, refused := a.run(ctx, starting, known, plan, caller)
	if refused != nil {
		release()
		return nil, refused
	}
	out, refused := plan.respond(result)
	if refused != nil {
		release()
		return nil, refused
	}
	out.release = release
	return out, nil
}

// slot waits for one of the caller's organization.
func (a *API) slot(starting context.Context, caller Caller) (release func(), refused *Error) {
	if caller.Organization.IsNil() {
		return func() {}, nil
	}
	release, err := a.slots.Acquire(starting, caller.Organization)
	if err == nil {
		return release, nil
	}
	if a.lost.Load() {
		return nil, ofConnection(err)
	}
	busy := TooMany("your organization has too many requests under way; ask again in a moment")
	busy.headers = [][2]string{{fiber.HeaderRetryAfter, "1"}}
	return nil, busy
}

// incoming copies what a request says; false is one that is not below the prefix.
func (a *API) incoming(c *fiber.Ctx) (incoming, bool) {
	uri := c.Request().URI()
	path, below := strings.CutPrefix(string(uri.PathOriginal()), strings.TrimSuffix(a.cfg.Prefix, "/"))
	if !below || path != "" && path[0] != '/' {
		return incoming{}, false
	}
	in := incoming{method: httpd.Method(c), path: path, query: string(uri.QueryString()), body: c.BodyRaw()}
	c.Request().Header.VisitAll(func(name, value []byte) {
		in.headers = append(in.headers, [2]string{string(name), string(value)})
	})
	return in, true
}

// response is the answer that an error is.
func (e *Error) response() *response {
	out := &response{status: e.status, phrase: e.phrase, body: e.body()}
	out.headers = append(out.headers, e.headers...)
	out.add("Content-Type", mediaJSON.contentType())
	if e.code != "" {
		out.add("Proxy-Status", "PostgREST; error="+e.code)
	}
	if e.status == http.StatusServiceUnavailable {
		out.add("Retry-After", "1")
	}
	return out
}

// largeBody is from how many bytes on a body keeps its slot until the client has it, so that clients that read slowly
// do not fill this process with bodies. Smaller ones are the kernel's at once.
const largeBody = 64 << 10

// A heldBody is a body that keeps a slot until the server has sent it, or given it up.
type heldBody struct {
	*bytes.Reader
	release func()
}

func (b *heldBody) Close() error {
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
	if r.release != nil && len(r.body) >= largeBody && c.Method() != http.MethodHead {
		c.Response().SetBodyStream(&heldBody{bytes.NewReader(r.body), r.release}, len(r.body))
		return
	}
	if c.Method() != http.MethodHead {
		c.Response().SetBodyRaw(r.body)
	}
	if r.release != nil {
		r.release()
	}
}

// onOneLine is text without line breaks, which a header must not have.
func onOneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// refusal is the answer to what the server itself refuses below the prefix: a body that is too large, a panic.
func (a *API) refusal(c *fiber.Ctx, err error) (status int, body any) {
	status, message := httpd.Explain(err)
	code := "PGRSTX00"
	switch status {
	case http.StatusNotFound:
		code, message = "PGRST125", "Invalid path specified in request URL"
	case http.StatusRequestEntityTooLarge:
		code, message = "PGRST102", "The body is too large"
	}
	c.Set("Proxy-Status", "PostgREST; error="+code)
	in, _ := a.incoming(c)
	for _, h := range a.shared(in) {
		c.Set(h[0], h[1])
	}
	return status, json.RawMessage(refuse(status, code, message).body())
}

func (a *API) logFailure(c *fiber.Ctx, e *Error) {
	if e.status < http.StatusInternalServerError || c.UserContext().Err() != nil { // a client that has gone is no failure
		return
	}
	a.log.Error("request failed", "request", c.GetRespHeader(fiber.HeaderXRequestID), "method", c.Method(), "path", c.Path(), "status", e.status,
		"error", e, "next", "see whether the function or view that it names is right, and whether the database can be reached")
}

// Ready is nil once the schema has been read.
func (a *API) Ready(context.Context) error {
	if a.cache.Load() == nil {
		return errors.New("schema not read yet")
	}
	return nil
}
