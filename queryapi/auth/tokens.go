package auth

import (
	"context"
	_ "embed"
	"errors"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Tokens resolves access tokens to their users by a query for each request: a disabled, removed or signed-out user is
// refused at once, in every process. It is safe for concurrent use.
type Tokens struct {
	db       *postgres.DB
	verifier *TokenVerifier
	sessions bool // tokens name sessions of the built-in provider
}

// NewTokens resolves the tokens of an outside issuer, whose sub is the id of a user here.
func NewTokens(db *postgres.DB, verifier *TokenVerifier) *Tokens {
	return &Tokens{db: db, verifier: verifier}
}

// The problems of credentials, as clients read them.
var (
	errNoToken = problem.New(problem.Unauthenticated,
		"missing access token: send Authorization: Bearer and the access_token of a session")
	errAPIKey = problem.New(problem.Unauthenticated,
		"no API key is taken here: send Authorization: Bearer and the access_token of a session")
	errAnonymous = problem.New(problem.Unauthenticated,
		"anonymous token: sign in, and send the access_token of the session")
	errRole = problem.New(problem.Forbidden,
		"the role of the token has no access here: want authenticated, with the user's id as its sub")
	errNoUser = problem.New(problem.Unauthenticated,
		"invalid access token: its user is unknown, disabled, or in no organization")
	errNoSession = problem.New(problem.Unauthenticated, "invalid access token: its session has ended; sign in again")
)

// A signedIn account belongs to an access token and its session.
type signedIn struct {
	postgres.Account
	session uuid.UUID
}

// account finds the account of the token in an Authorization header. An invalid token is a problem of kind
// Unauthenticated, a valid one of another role than a user's of kind Forbidden.
func (t *Tokens) account(ctx context.Context, header string) (signedIn, error) {
	return identity.Find(ctx, func(ctx context.Context) (signedIn, error) {
		account, session, err := t.find(ctx, header)
		return signedIn{account, session}, err
	})
}

func (t *Tokens) find(ctx context.Context, header string) (account postgres.Account, session uuid.UUID, err error) {
	text := httpd.Bearer(header)
	switch {
	case text == "":
		return account, session, errNoToken
	case IsKey(text):
		return account, session, errAPIKey
	}
	claims, err := t.verifier.Verify(ctx, text)
	if err != nil {
		return account, session, err
	}
	switch claims.Role {
	case loggedInRole:
	case anonRole:
		return account, session, errAnonymous
	default:
		return account, session, errRole
	}
	user, err := uuid.FromString(claims.Subject)
	if err != nil {
		return account, session, errNoUser
	}
	if t.sessions {
		if session, err = uuid.FromString(claims.SessionID); err != nil {
			return account, session, errNoSession
		}
	}
	account, err = t.db.Account(ctx, user, session)
	switch {
	case errors.Is(err, postgres.ErrNotFound):
		err = errNoUser
	case err == nil && t.sessions && !account.SignedIn:
		err = errNoSession
	}
	return account, session, err
}

// Resolve finds the user of the token in an Authorization header, as RequireToken does.
func (t *Tokens) Resolve(ctx context.Context, header string) (identity.Identity, error) {
	caller, err := t.account(ctx, header)
	return identityOf(caller.Account), err
}

func identityOf(a postgres.Account) identity.Identity {
	return identity.Identity{UserID: a.ID, Email: a.Email, OrganizationID: a.OrganizationID, Role: a.Role}
}

// RequireToken admits requests with a valid access token, with its user as their identity. Others end in a problem of
// kind Unauthenticated (401 with WWW-Authenticate) or Forbidden.
func (t *Tokens) RequireToken(c *fiber.Ctx) error {
	return require(func(c *fiber.Ctx) (identity.Identity, error) {
		return t.Resolve(c.UserContext(), c.Get(fiber.HeaderAuthorization))
	})(c)
}

// RequireTokenOrKey admits requests as RequireToken does, and those with an API key as KeyResolver.Require does.
func (t *Tokens) RequireTokenOrKey(keys *KeyResolver, scope string) fiber.Handler {
	keyed := keys.Require(scope)
	return func(c *fiber.Ctx) error {
		switch credential := httpd.Bearer(c.Get(fiber.HeaderAuthorization)); {
		case credential == "":
			return problem.New(problem.Unauthenticated,
				"missing credential: send Authorization: Bearer and the access_token of a session, "+
					"or an API key with the scope %s", scope)
		case IsKey(credential):
			return keyed(c)
		}
		return t.RequireToken(c)
	}
}

// apiBody bounds bodies below /api, outside the other surfaces.
const apiBody = 64 << 10

// description is the OpenAPI 3.1 document of /api without /api/v1, sent unchanged.
//
//go:embed openapi.json
var description []byte

// Mount adds the surface /api, for routes that take access tokens, with its description and GET /api/health, which
// returns the user of a token.
func (t *Tokens) Mount(server *httpd.Server) fiber.Router {
	surface := server.Mount(httpd.Surface{Prefix: "/api", BodyLimit: apiBody, Error: PlainRefusal})
	surface.Get("/health", t.RequireToken, httpd.Parameters(), func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.JSON(fiber.Map{"status": "ok", "userId": identity.FromContext(c.UserContext()).UserID})
	})
	surface.Get("/openapi.json", func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Send(description)
	})
	return surface
}
