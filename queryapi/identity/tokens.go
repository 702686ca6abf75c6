package identity

import (
	"context"
	_ "embed"
	"errors"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/token"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Tokens resolves access tokens to their users, who are read from the database each time: who was disabled, removed
// from their organization or signed out is refused at once, in every process. It is safe for concurrent use.
type Tokens struct {
	db       *postgres.DB
	verifier *token.Verifier
	sessions bool // a token names a session of ours
}

// NewTokens resolves the tokens of an outside issuer, whose sub is the id of a user of ours.
func NewTokens(db *postgres.DB, verifier *token.Verifier) *Tokens {
	return &Tokens{db: db, verifier: verifier}
}

// Why a credential is refused, as the client may read it.
var (
	errNoToken   = problem.New(problem.Unauthenticated, "missing access token: send Authorization: Bearer and the access_token of a session")
	errAPIKey    = problem.New(problem.Unauthenticated, "no API key is taken here: send Authorization: Bearer and the access_token of a session")
	errAnonymous = problem.New(problem.Unauthenticated, "the token is of no user: sign in, and send the access_token of the session")
	errRole      = problem.New(problem.Forbidden, "the role of the token opens nothing here: want authenticated, with the user's id as its sub")
	errNoUser    = problem.New(problem.Unauthenticated, "invalid access token: its user is not known, disabled, or in no organization")
	errNoSession = problem.New(problem.Unauthenticated, "invalid access token: its session has ended; sign in again")
)

// A signedIn account is that of an access token, with its session.
type signedIn struct {
	postgres.Account
	session uuid.UUID
}

// resolve finds the account of the token of an Authorization header. What is wrong with the token is a problem of kind
// Unauthenticated, or of kind Forbidden, where it is valid and of another role than a user's.
func (t *Tokens) resolve(ctx context.Context, header string) (signedIn, error) {
	return identity.Find(ctx, func(ctx context.Context) (found signedIn, err error) {
		found.Account, found.session, err = t.find(ctx, header)
		return found, err
	})
}

func (t *Tokens) find(ctx context.Context, header string) (account postgres.Account, session uuid.UUID, err error) {
	text := httpd.Bearer(header)
	switch {
	case text == "":
		return account, session, errNoToken
	case apikey.IsKey(text):
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
	account, err := t.resolve(ctx, header)
	if err != nil {
		return identity.Identity{}, err
	}
	return identity.Identity{UserID: account.ID, Email: account.Email, OrganizationID: account.OrganizationID, Role: account.Role}, nil
}

// RequireToken lets only requests with a valid access token pass, with its user as their identity; the others end in a
// problem of kind Unauthenticated, which the edge answers with 401 and WWW-Authenticate, or of kind Forbidden.
func (t *Tokens) RequireToken(c *fiber.Ctx) error {
	caller, err := t.Resolve(c.UserContext(), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	c.SetUserContext(identity.NewContext(c.UserContext(), caller))
	return c.Next()
}

// RequireTokenOrKey lets requests pass as RequireToken does, and those with an API key of that scope as
// apikey.Resolver.Require does.
func (t *Tokens) RequireTokenOrKey(keys *apikey.Resolver, scope string) fiber.Handler {
	keyed := keys.Require(scope)
	return func(c *fiber.Ctx) error {
		switch credential := httpd.Bearer(c.Get(fiber.HeaderAuthorization)); {
		case credential == "":
			return problem.New(problem.Unauthenticated, "missing credential: send Authorization: Bearer and the access_token of a session, or an API key with the scope %s", scope)
		case apikey.IsKey(credential):
			return keyed(c)
		}
		return t.RequireToken(c)
	}
}

// apiBody is how long a body may be below /api, where no other surface is.
const apiBody = 64 << 10

// description describes what is below /api, but for /api/v1, in OpenAPI 3.1. It is written by hand and sent unchanged.
//
//go:embed openapi.json
var description []byte

// Mount adds the surface /api to a server, for what takes access tokens; its description; and GET /api/health, which
// says whether a token works and whose it is.
func (t *Tokens) Mount(server *httpd.Server) fiber.Router {
	surface := server.Mount(httpd.Surface{Prefix: "/api", BodyLimit: apiBody, Error: plainRefusal})
	surface.Get("/health", t.RequireToken, func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.JSON(fiber.Map{"status": "ok", "userId": identity.FromContext(c.UserContext()).UserID})
	})
	surface.Get("/openapi.json", func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Send(description)
	})
	return surface
}
