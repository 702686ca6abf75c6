// Package oauth lets apps such as claude.ai ask /mcp for a user: the authorization server (OAuth 2.1 by the Model
// Context Protocol), the check of its tokens, and the list of connected apps.
//
//   - client.go resolves an app: registered by itself (RFC 7591), or by its metadata document, whose address is its id.
//   - authorize.go asks the signed-in user for consent and sends the browser back with a code.
//   - token.go changes a code or a refresh token for an access token, and revokes.
//   - guard.go admits requests with such an access token. No other surface takes one, for it has another issuer and
//     audience than users' tokens.
package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	resourcePath  = "/mcp"
	serverInfo    = "/.well-known/oauth-authorization-server"
	authorizePath = "/authorize"
	tokenPath     = "/token"
	registerPath  = "/register"
	revokePath    = "/revoke"

	bodyLimit     = 16 << 10
	answerTimeout = 8 * time.Second // of a handler, which may fetch a document

	maxRegistrations = 100 // from a network, an hour
)

var scopes = []string{auth.MetricsRead, auth.TrackingWrite}

// A Fetcher returns the document at an address, which a stranger has chosen.
type Fetcher func(ctx context.Context, address string) ([]byte, error)

// An Issuer lets apps act for users. A nil one, where the feature is off, takes API keys alone. It is safe for
// concurrent use.
type Issuer struct {
	url      string // of this installation in browsers: https, without a path
	fetch    Fetcher
	db       *postgres.DB
	provider *auth.Provider
	verifier *auth.TokenVerifier
	attempts *auth.Attempts[netip.Prefix] // to register

	mu        sync.Mutex
	documents map[string]document // by address
}

// New returns the issuer of an installation, whose users sign in at a provider.
func New(publicURL string, fetch Fetcher, db *postgres.DB, provider *auth.Provider) *Issuer {
	return &Issuer{
		url: publicURL, fetch: fetch, db: db, provider: provider,
		verifier:  provider.Keys().NewVerifier(publicURL, publicURL+resourcePath),
		attempts:  auth.NewAttempts[netip.Prefix](maxRegistrations, time.Hour),
		documents: map[string]document{},
	}
}

// Mount adds the endpoints to a server, at the paths where clients look without having read the metadata.
func (i *Issuer) Mount(server *httpd.Server) {
	surface := func(path string) fiber.Router {
		router := server.Mount(httpd.Surface{Prefix: path, BodyLimit: bodyLimit, Error: refuse})
		router.Use(cors.New(cors.Config{AllowOrigins: "*", AllowMethods: "GET,POST"}), func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderCacheControl, "no-store")
			return c.Next()
		})
		return router
	}
	surface(serverInfo).Get("", i.describeServer)
	surface(tokenPath).Post("", httpd.Within(answerTimeout, i.token))
	surface(registerPath).Post("", httpd.Within(answerTimeout, i.register))
	surface(revokePath).Post("", httpd.Within(answerTimeout, i.revoke))
	pages := server.Mount(httpd.Surface{Prefix: authorizePath, BodyLimit: bodyLimit, Error: auth.PageRefusal})
	pages.Get("", httpd.Within(answerTimeout, i.authorize))
	pages.Post("", httpd.Within(answerTimeout, i.authorize))
}

// describeServer sends the metadata of the authorization server (RFC 8414).
func (i *Issuer) describeServer(c *fiber.Ctx) error {
	return c.JSON(fiber.Map{
		"issuer": i.url, "authorization_endpoint": i.url + authorizePath, "token_endpoint": i.url + tokenPath,
		"registration_endpoint": i.url + registerPath, "revocation_endpoint": i.url + revokePath,
		"scopes_supported": scopes, "response_types_supported": responseTypes, "grant_types_supported": grantTypes,
		"response_modes_supported":                       []string{"query"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{authMethod},
		"revocation_endpoint_auth_methods_supported":     []string{authMethod},
		"client_id_metadata_document_supported":          true,
		"authorization_response_iss_parameter_supported": true,
	})
}

// A failure is an error with a code that clients know (RFC 6749 §4.1.2.1 and §5.2, RFC 7591 §3.2.2, RFC 8707 §2).
type failure struct{ code, text string }

func (f *failure) Error() string { return f.code + ": " + f.text }

// refuse returns {"error": code, "error_description": text}.
func refuse(c *fiber.Ctx, err error) (status int, body any) {
	if f, ok := errors.AsType[*failure](err); ok {
		return http.StatusBadRequest, fiber.Map{"error": f.code, "error_description": f.text}
	}
	status, plain := auth.DashboardRefusal(c, err)
	code := "invalid_request"
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		code = "temporarily_unavailable"
	case status >= http.StatusInternalServerError:
		code = "server_error"
	}
	return status, fiber.Map{"error": code, "error_description": plain.(fiber.Map)["error"]}
}
