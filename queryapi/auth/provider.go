// Package auth finds who sends a request, for every surface: by API key (KeyResolver), access token (Tokens) or the
// dashboard's cookie (Provider). It also serves /auth/v1, the built-in identity provider in the wire format of GoTrue,
// so that its clients work unchanged, /signin/oidc, the sign-in by an OpenID provider, and /api/keys.
package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"
	"github.com/gofrs/uuid/v5"
	"golang.org/x/sync/semaphore"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/queryapi/page"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	prefix    = "/auth/v1"
	bodyLimit = 64 << 10

	issuer       = "answerscope"   // iss of the provider's tokens
	audience     = "authenticated" // their aud
	loggedInRole = "authenticated" // PostgreSQL role of users' tokens

	answerTimeout = 4 * time.Second // of a handler, since PostgreSQL may not answer
	hashWait      = 3 * time.Second // until a slot for hashing is free; the rest of answerTimeout is for PostgreSQL
)

// Config holds the settings of the provider.
type Config struct {
	Proxies     httpd.Proxies // trusted proxies
	CORSOrigins []string      // origins of pages that may sign in; none allows any origin, without cookies
	PublicURL   string        // the dashboard's address in browsers; with https its cookie requires TLS
	OIDC        config.OIDC   // by which users sign in to the dashboard, beside their passwords
}

// A Provider signs users in. It is safe for concurrent use.
type Provider struct {
	cfg       Config
	db        *postgres.DB
	ring      secret.Ring
	keys      *SigningKeys
	tokens    *Tokens
	attempts  *Attempts[netip.Prefix]
	hashing   *semaphore.Weighted // slots to compute password hashes
	wait      time.Duration       // for a slot
	anonKeys  atomic.Pointer[[]string]
	dummyHash func() string // checked for an unknown address, so that it takes as long as a known one
	log       *slog.Logger
	warnTLS   sync.Once
}

// NewProvider returns a provider whose signing keys are encrypted with ring.
func NewProvider(cfg Config, db *postgres.DB, ring secret.Ring, log *slog.Logger) *Provider {
	keys := NewSigningKeys(&keyStore{db: db, ring: ring, log: log})
	return &Provider{
		cfg: cfg, db: db, ring: ring, keys: keys,
		tokens:   &Tokens{db: db, verifier: keys.NewVerifier(issuer, audience), sessions: true},
		attempts: NewAttempts[netip.Prefix](maxSignIns, signInWindow), hashing: semaphore.NewWeighted(maxHashes),
		wait: hashWait, log: log,
		dummyHash: sync.OnceValue(func() string { return HashPassword(GeneratePassword()) }),
	}
}

// Tokens returns the resolver of this provider's tokens.
func (p *Provider) Tokens() *Tokens { return p.tokens }

// Keys returns the keys that sign this provider's tokens.
func (p *Provider) Keys() *SigningKeys { return p.keys }

// Mount adds the surface /auth/v1 to a server. Other paths of GoTrue are 404.
func (p *Provider) Mount(server *httpd.Server) {
	surface := server.Mount(httpd.Surface{Prefix: prefix, BodyLimit: bodyLimit, Error: refusal})
	surface.Use(p.cors(), func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.Next()
	})
	surface.Post("/token", httpd.Within(answerTimeout, p.token))
	surface.Get("/user", p.user)
	surface.Put("/user", httpd.Within(answerTimeout, p.putUser))
	surface.Post("/logout", httpd.Within(answerTimeout, p.logout))
	surface.Get("/.well-known/jwks.json", httpd.Within(answerTimeout, p.jwks))
}

// cors admits pages of other origins with any header, as /rest/v1 does.
func (p *Provider) cors() fiber.Handler {
	cfg := cors.Config{AllowOrigins: "*", AllowMethods: "GET,HEAD,POST,PUT,PATCH,DELETE",
		ExposeHeaders: apiVersionHeader + ",Retry-After,X-Request-Id", MaxAge: 600}
	if len(p.cfg.CORSOrigins) > 0 {
		cfg.AllowOrigins = strings.Join(p.cfg.CORSOrigins, ",")
		cfg.AllowCredentials = cfg.AllowOrigins != "*"
	}
	return cors.New(cfg)
}

// jwks publishes the public keys, for services that verify tokens themselves.
func (p *Provider) jwks(c *fiber.Ctx) error {
	// Signing the anon key creates the first signing key.
	if _, err := p.AnonKeys(c.UserContext()); err != nil {
		return err
	}
	keys, err := p.keys.Public(c.UserContext())
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "public, max-age=60")
	return c.JSON(fiber.Map{"keys": keys})
}

// userBody is the user object of GoTrue. The address counts as confirmed, since an operator entered it.
type userBody struct {
	ID               uuid.UUID       `json:"id"`
	Audience         string          `json:"aud"`
	Role             string          `json:"role"`
	Email            string          `json:"email"`
	EmailConfirmedAt time.Time       `json:"email_confirmed_at"`
	Phone            string          `json:"phone"`
	ConfirmedAt      time.Time       `json:"confirmed_at"`
	LastSignInAt     *time.Time      `json:"last_sign_in_at,omitempty"`
	AppMetadata      appMetadata     `json:"app_metadata"`
	UserMetadata     json.RawMessage `json:"user_metadata"`
	Identities       []struct{}      `json:"identities"`
	CreatedAt        time.Time       `json:"created_at"`
	UpdatedAt        time.Time       `json:"updated_at"`
	IsAnonymous      bool            `json:"is_anonymous"`
}

type appMetadata struct {
	Provider       string    `json:"provider"`
	Providers      []string  `json:"providers"`
	OrganizationID uuid.UUID `json:"organization_id"`
}

func userBodyOf(a postgres.Account) userBody {
	return userBody{
		ID: a.ID, Audience: audience, Role: loggedInRole, Email: a.Email, EmailConfirmedAt: a.CreatedAt,
		ConfirmedAt: a.CreatedAt, LastSignInAt: a.LastSignInAt,
		AppMetadata:  appMetadata{Provider: "email", Providers: []string{"email"}, OrganizationID: a.OrganizationID},
		UserMetadata: a.UserMetadata, Identities: []struct{}{}, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}

func (p *Provider) user(c *fiber.Ctx) error {
	caller, err := p.tokens.account(c.UserContext(), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	return c.JSON(userBodyOf(caller.Account))
}

// logout ends sessions of the caller: all, this one (local), or all others. It ignores a body.
func (p *Provider) logout(c *fiber.Ctx) error {
	caller, err := p.tokens.account(c.UserContext(), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	scope := c.Query("scope", postgres.AllSessions)
	switch scope {
	case postgres.AllSessions, postgres.ThisSession, postgres.OtherSessions:
	default:
		return &failure{http.StatusBadRequest, "validation_failed", "scope: want global, local or others"}
	}
	if err := p.db.EndSessions(c.UserContext(), caller.ID, caller.session, scope); err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}

// The version of the error format, which clients of GoTrue check before they read a code.
const (
	apiVersionHeader = "X-Supabase-Api-Version"
	apiVersion       = "2024-01-01"
)

// failure is an error of /auth/v1 with its status and code.
type failure struct {
	status        int
	code, message string
}

func (f *failure) Error() string { return f.message }

// The failures that clients recognize by code. A wrong credential is never a 5xx, which clients would retry.
var (
	errCredentials  = &failure{http.StatusBadRequest, "invalid_credentials", "Invalid login credentials"}
	errTokenUnknown = &failure{http.StatusBadRequest, "refresh_token_not_found",
		"Invalid Refresh Token: Refresh Token Not Found"}
	errTokenUsed = &failure{http.StatusBadRequest, "refresh_token_already_used",
		"Invalid Refresh Token: Already Used"}
	errTooMany = &failure{http.StatusTooManyRequests, "over_request_rate_limit", "Request rate limit reached"}
)

// refusal returns {"code", "message"}.
func refusal(c *fiber.Ctx, err error) (status int, body any) {
	c.Set(apiVersionHeader, apiVersion)
	f := failureOf(err)
	if f.status == http.StatusServiceUnavailable {
		c.Set(fiber.HeaderRetryAfter, "1")
	}
	return f.status, fiber.Map{"code": f.code, "message": f.message}
}

func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	kind, message := problem.Of(err)
	switch {
	case isAway(err):
		return &failure{http.StatusServiceUnavailable, "unavailable", errUnavailable.Public}
	case errors.Is(err, errNoToken):
		return &failure{http.StatusUnauthorized, "no_authorization", message}
	case errors.Is(err, errNoUser):
		return &failure{http.StatusForbidden, "user_not_found", message}
	case errors.Is(err, errNoSession):
		return &failure{http.StatusForbidden, "session_not_found", message}
	case kind == problem.Unavailable:
		return &failure{http.StatusServiceUnavailable, "unavailable", message}
	case kind == problem.Unauthenticated, kind == problem.Forbidden:
		return &failure{http.StatusForbidden, "bad_jwt", message}
	}
	status, message := httpd.Explain(err)
	if status == http.StatusInternalServerError {
		return &failure{status, "unexpected_failure", message}
	}
	return &failure{status, strings.ReplaceAll(strings.ToLower(cmp.Or(http.StatusText(status), "refused")), " ", "_"),
		message}
}

var errUnavailable = problem.New(problem.Unavailable,
	"the database of this service cannot be reached; ask again in a moment")

// isAway reports whether a database cannot be reached, or does not answer in time.
func isAway(err error) bool {
	kind, _ := problem.Of(err)
	return postgres.IsTransient(err) || kind == problem.Internal && errors.Is(err, context.DeadlineExceeded)
}

// explained turns an error of the database into a problem: it is away, a limit of rows is reached, or a value is
// refused with the right ones. Any other error stays as it is.
func explained(err error) error {
	limit, full := errors.AsType[postgres.ErrLimit](err)
	value, refused := errors.AsType[postgres.ErrValue](err)
	switch {
	case isAway(err):
		return errUnavailable
	case full && limit.IsShort:
		return problem.New(problem.TooMany, "%s", limit.Text)
	case full:
		return problem.New(problem.Conflict, "%s", limit.Text)
	case refused:
		if text, ok := value.Public(); ok {
			return problem.New(problem.Invalid, "%s", text)
		}
	}
	return err
}

// PlainRefusal returns {"error": message}, with the message of explained.
func PlainRefusal(c *fiber.Ctx, err error) (status int, body any) {
	if limit, full := errors.AsType[postgres.ErrLimit](err); full && limit.IsShort {
		c.Set(fiber.HeaderRetryAfter, "3600")
	}
	return httpd.PlainError(c, explained(err))
}

// PageRefusal is PlainRefusal in HTML.
func PageRefusal(c *fiber.Ctx, err error) (status int, body any) {
	status, message := httpd.Explain(explained(err))
	if f, ok := errors.AsType[*failure](err); ok {
		status, message = f.status, f.message
	}
	p := page.Page{Title: "That did not work", Text: []string{message}}
	if strings.HasPrefix(c.Path(), "/signin") {
		p.Links = []page.Link{{Text: "Sign in again", Address: "/signin"}}
	}
	return status, p.HTML(c)
}
