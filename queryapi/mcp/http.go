package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/gofiber/fiber/v2/middleware/cors"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/metrics"
)

const (
	prefix       = "/mcp"
	metadataPath = "/.well-known/oauth-protected-resource"
	bodyLimit    = 64 << 10
)

// A Surface is POST /mcp. Every request stands alone: there are no sessions and no streams.
type Surface struct {
	Figures     Asker
	PublicURL   string   // address in browsers; "": the listener's
	TrackingURL string   // "": there is no tool track
	Origins     []string // of pages that may ask beside those of PublicURL
	Issuer      string   // of apps' access tokens, an address; "": clients find none
	Forward     Forwarder
	Log         *slog.Logger
	Metrics     prometheus.Registerer
}

// A Forwarder returns the credential with which the tracking server is asked for a caller, "" for the caller's own.
type Forwarder func(ctx context.Context, caller identity.Identity) (string, error)

// Figures asks /api/v1 of this process, as the caller in the context.
func Figures(api *metrics.API) Asker {
	return func(ctx context.Context, r Request) (json.RawMessage, error) {
		return api.Ask(ctx, identity.FromContext(ctx), r.Path, r.Query)
	}
}

// errOrigin keeps pages of other sites from asking with what a browser knows.
var errOrigin = problem.New(problem.Forbidden,
	"pages of this origin may not ask: want --public-url or one of --cors-origins")

// errBatch keeps a request from being many, which would count as one of the caller's limit.
var errBatch = problem.New(problem.Invalid, "a batch of messages: want one in each request")

// Mount adds the surface to a server. The guard sets the caller's identity, and refuses requests without one.
func (s Surface) Mount(server *httpd.Server, guard, limit fiber.Handler) {
	s.PublicURL = cmp.Or(s.PublicURL, server.URL())
	handler := s.handler()
	surface := server.Mount(httpd.Surface{Prefix: prefix, BodyLimit: bodyLimit, Compress: true, Error: s.refusal})
	if len(s.Origins) > 0 {
		surface.Use(cors.New(cors.Config{AllowOrigins: strings.Join(s.Origins, ","), AllowMethods: http.MethodPost,
			AllowHeaders:  "Authorization,Content-Type,MCP-Protocol-Version,Mcp-Method,Mcp-Name",
			ExposeHeaders: "WWW-Authenticate,Retry-After,X-Request-Id"}))
	}
	surface.Post("", s.checkOrigin, guard, limit, func(c *fiber.Ctx) error {
		if bytes.HasPrefix(bytes.TrimLeft(c.BodyRaw(), " \t\r\n"), []byte("[")) {
			return errBatch
		}
		ctx := withCredential(c.UserContext(), httpd.Bearer(c.Get(fiber.HeaderAuthorization)))
		ctx = context.WithValue(ctx, requestKey{}, ctx)
		c.Set(fiber.HeaderCacheControl, "no-store")
		return adaptor.HTTPHandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handler.ServeHTTP(w, r.WithContext(ctx))
		})(c)
	})
	if s.Issuer != "" {
		server.App.Use(metadataPath, cors.New(cors.Config{AllowOrigins: "*", AllowMethods: http.MethodGet}))
		server.App.Get(metadataPath, s.describe)
		server.App.Get(metadataPath+prefix, s.describe)
	}
}

// handler speaks the protocol, with the tools of the caller's scopes.
func (s Surface) handler() http.Handler {
	track := over(s.TrackingURL, "the tracking server", s.forwardCredential)
	tools := newServer(func(ctx context.Context, r Request) (json.RawMessage, error) {
		if r.isTracking() {
			return track(ctx, r)
		}
		return s.Figures(ctx, r)
	}, s.PublicURL, time.Now, s.Log, s.Metrics)
	reader, writer := tools.protocol(false), tools.protocol(true)
	return sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		caller := identity.FromContext(r.Context())
		if s.TrackingURL != "" && slices.Contains(caller.Scopes, auth.TrackingWrite) &&
			auth.CheckRole(caller.Role, auth.TrackingWrite) == nil {
			return writer
		}
		return reader
	}, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

// forwardCredential returns the credential with which the tracking server is asked.
func (s Surface) forwardCredential(ctx context.Context) (string, error) {
	if s.Forward != nil {
		if credential, err := s.Forward(ctx, identity.FromContext(ctx)); err != nil || credential != "" {
			return credential, err
		}
	}
	return credentialOf(ctx), nil
}

// checkOrigin lets programs pass, which send no origin, and pages of this installation and of the origins that are set.
func (s Surface) checkOrigin(c *fiber.Ctx) error {
	origin := c.Get(fiber.HeaderOrigin)
	if origin != "" && origin != s.PublicURL && !slices.ContainsFunc(s.Origins, func(admitted string) bool {
		return admitted == origin || admitted == "*"
	}) {
		return errOrigin
	}
	return c.Next()
}

// refusal answers what ends before the protocol, with the challenge that clients know.
func (s Surface) refusal(c *fiber.Ctx, err error) (status int, body any) {
	status, body = httpd.PlainError(c, metrics.Explain(err))
	scope, challenge := fmt.Sprintf(`, scope="%s"`, auth.MetricsRead), `Bearer realm="answerscope"`
	switch {
	case status == http.StatusForbidden && !errors.Is(err, errOrigin):
		challenge += `, error="insufficient_scope"` + scope
	case status != http.StatusUnauthorized:
		return status, body
	case c.Get(fiber.HeaderAuthorization) != "":
		challenge += `, error="invalid_token"`
	}
	// Without an issuer every path of discovery is 404: a client that finds another answer there, or its address here,
	// tries to sign in, and ignores the key that it was given.
	if s.Issuer != "" {
		challenge += fmt.Sprintf(`, resource_metadata="%s%s%s"`, s.PublicURL, metadataPath, prefix)
		if status == http.StatusUnauthorized {
			challenge += scope
		}
	}
	c.Set(fiber.HeaderWWWAuthenticate, challenge)
	return status, body
}

// describe answers where tokens come from (RFC 9728).
func (s Surface) describe(c *fiber.Ctx) error {
	return c.JSON(fiber.Map{
		"resource": s.PublicURL + prefix, "resource_name": "answerscope", "authorization_servers": []string{s.Issuer},
		"scopes_supported":         []string{auth.MetricsRead, auth.TrackingWrite},
		"bearer_methods_supported": []string{"header"},
	})
}

type requestKey struct{}

// within bounds a call. The library lets calls outlive their request, so the request's context comes in the call's.
func within(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if request, ok := ctx.Value(requestKey{}).(context.Context); ok {
		ctx = request
	}
	return context.WithTimeout(ctx, timeout)
}
