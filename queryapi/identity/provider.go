// Package identity is the built-in identity provider, /auth/v1 in the wire shape of GoTrue, so that its clients work
// unchanged; and it finds whose an access token is, for every surface that takes one.
package identity

import (
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"
	"golang.org/x/sync/semaphore"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/password"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/token"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	prefix    = "/auth/v1"
	bodyLimit = 64 << 10

	issuer       = "answerscope"   // of the provider's tokens
	audience     = "authenticated" // whom they are for
	loggedInRole = "authenticated" // the role of PostgreSQL of every token of a user

	answerTimeout = 4 * time.Second // for a handler to ask PostgreSQL, which may be silent, and to answer
	hashWait      = 3 * time.Second // for a turn to compute a hash; the rest of answerTimeout is for PostgreSQL
)

// Config is what an operator decides of the provider.
type Config struct {
	Proxies     httpd.Proxies // whose word for a client's address is taken
	CORSOrigins []string      // of pages that may sign in; none lets all pages, without cookies
	PublicURL   string        // at which browsers reach the dashboard; with https its cookie is held to TLS
}

// A Provider signs users in. It is safe for concurrent use.
type Provider struct {
	cfg       Config
	db        *postgres.DB
	keys      *token.Keys
	tokens    *Tokens
	limits    *limits
	hashing   *semaphore.Weighted // of those that compute the hash of a password
	wait      time.Duration       // for one's turn to compute one
	anonKeys  atomic.Pointer[[]string]
	dummyHash func() string // the hash for an address that is not known, so that it takes as long as a known one
	log       *slog.Logger
	warnTLS   sync.Once
}

// New returns a provider whose signing keys are encrypted with ring.
func New(cfg Config, db *postgres.DB, ring secret.Ring, log *slog.Logger) *Provider {
	keys := token.NewKeys(&keyStore{db: db, ring: ring, log: log})
	return &Provider{
		cfg: cfg, db: db, keys: keys, tokens: &Tokens{db: db, verifier: keys.NewVerifier(issuer, audience), sessions: true},
		limits: newLimits(), hashing: semaphore.NewWeighted(mostHashes), wait: hashWait, log: log,
		dummyHash: sync.OnceValue(func() string { return password.Hash(password.Generate()) }),
	}
}

// Tokens resolves the tokens of this provider.
func (p *Provider) Tokens() *Tokens { return p.tokens }

// Mount adds the surface /auth/v1 to a server. What GoTrue has beyond these paths is 404.
func (p *Provider) Mount(server *httpd.Server) {
	surface := server.Mount(httpd.Surface{Prefix: prefix, BodyLimit: bodyLimit, Error: refusal})
	surface.Use(p.shared(), func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.Next()
	})
	surface.Post("/token", httpd.Within(answerTimeout, p.token))
	surface.Get("/user", p.user)
	surface.Put("/user", func(*fiber.Ctx) error { return fiber.ErrNotFound }) // and not 405: it is no method that is missing
	surface.Post("/logout", httpd.Within(answerTimeout, p.logout))
	surface.Get("/.well-known/jwks.json", httpd.Within(answerTimeout, p.jwks))
}

// shared lets pages of other origins ask, as on /rest/v1, with whatever headers they like.
func (p *Provider) shared() fiber.Handler {
	cfg := cors.Config{AllowOrigins: "*", AllowMethods: "GET,HEAD,POST,PUT,PATCH,DELETE", ExposeHeaders: apiVersionHeader + ",Retry-After,X-Request-Id", MaxAge: 600}
	if len(p.cfg.CORSOrigins) > 0 {
		cfg.AllowOrigins = strings.Join(p.cfg.CORSOrigins, ",")
		cfg.AllowCredentials = cfg.AllowOrigins != "*"
	}
	return cors.New(cfg)
}

// jwks publishes the public keys, for those who verify tokens themselves.
func (p *Provider) jwks(c *fiber.Ctx) error {
	// The anon key is the first token that is signed: from then on there is a key to publish.
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
