package identity

import (
	"context"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/token"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Tokens resolves access tokens to their users, who are read from the database each time: who was disabled, removed from
// their organization or signed out is refused at once, in every process. It is safe for concurrent use.
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
	errNoToken   = problem.New(problem.Unproven, "missing access token: send Authorization: Bearer and the access_token of a session")
	errAPIKey    = problem.New(problem.Unproven, "an API key opens /api/v1 alone: send Authorization: Bearer and the access_token of a session")
	errNoPerson  = problem.New(problem.Unproven, "invalid access token: it is not of a user")
	errNoUser    = problem.New(problem.Unproven, "invalid access token: its user is not known, disabled, or in no organization")
	errNoSession = problem.New(problem.Unproven, "invalid access token: its session has ended; sign in again")
)

// resolve finds the account that the token of an Authorization header speaks for, and its session. What is wrong with the
// token is a problem of kind Unproven.
func (t *Tokens) resolve(ctx context.Context, header string) (account postgres.Account, session uuid.UUID, err error) {
	scheme, text, _ := strings.Cut(strings.TrimSpace(header), " ")
	text = strings.TrimSpace(text)
	switch {
	case !strings.EqualFold(scheme, "Bearer") || text == "":
		return account, session, errNoToken
	case strings.HasPrefix(text, "svc_"):
		return account, session, errAPIKey
	}
	claims, err := t.verifier.Verify(ctx, text)
	if err != nil {
		return account, session, err
	}
	user, err := uuid.FromString(claims.Subject)
	if err != nil || claims.Role != loggedInRole {
		return account, session, errNoPerson
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

// RequireToken lets only requests with a valid access token pass, with its user as their identity; the others end in a
// problem of kind Unproven, which the edge answers with 401 and WWW-Authenticate.
func (t *Tokens) RequireToken(c *fiber.Ctx) error {
	account, _, err := t.resolve(c.UserContext(), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	c.SetUserContext(identity.NewContext(c.UserContext(), identity.Identity{
		UserID: account.ID, Email: account.Email, OrganizationID: account.OrganizationID, Role: account.Role,
	}))
	return c.Next()
}

// MountHealth adds GET /api/health, which says whether a token works and whose it is.
func (t *Tokens) MountHealth(server *httpd.Server) {
	surface := server.Mount(httpd.Surface{Prefix: "/api", Error: plainRefusal})
	surface.Get("/health", t.RequireToken, func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.JSON(fiber.Map{"status": "ok", "userId": identity.FromContext(c.UserContext()).UserID})
	})
}
