package oauth

import (
	"context"
	"errors"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

var (
	errNoCredential = problem.New(problem.Unauthenticated,
		"missing credential: connect this address as an app, or send Authorization: Bearer and an API key, svc_…")
	errEnded = problem.New(problem.Unauthenticated,
		"invalid access token: the app was disconnected, or its user is disabled or has left the organization")
)

// effective returns the scopes of a grant that do not exceed the present role of its user.
func effective(account postgres.OAuthAccount) []string {
	return slices.DeleteFunc(slices.Clone(account.Scopes), func(scope string) bool {
		return auth.CheckRole(account.Role, scope) != nil
	})
}

// Resolve finds the user of an app's access token in an Authorization header, by a query for each request: an app that
// was disconnected is refused at once, in every process. An invalid token is a problem of kind Unauthenticated.
func (i *Issuer) Resolve(ctx context.Context, header string) (identity.Identity, error) {
	credential := httpd.Bearer(header)
	if credential == "" {
		return identity.Identity{}, errNoCredential
	}
	account, err := identity.Find(ctx, func(ctx context.Context) (postgres.OAuthAccount, error) {
		claims, err := i.verifier.Verify(ctx, credential)
		if err != nil {
			return postgres.OAuthAccount{}, err
		}
		return i.db.OAuthAccount(ctx, uuid.FromStringOrNil(claims.SessionID)) // no grant has the nil UUID
	})
	if errors.Is(err, postgres.ErrNotFound) {
		err = errEnded
	}
	return identity.Identity{
		UserID: account.ID, Email: account.Email, OrganizationID: account.OrganizationID, Role: account.Role,
		Scopes: effective(account), AppID: account.GrantID,
	}, err
}

// Require admits requests with an API key as keys.Require does, and requests of apps whose grant has the scope, with
// the user as their identity. A nil Issuer admits keys alone.
func (i *Issuer) Require(keys *auth.KeyResolver, scope string) fiber.Handler {
	keyed := keys.Require(scope)
	return func(c *fiber.Ctx) error {
		header := c.Get(fiber.HeaderAuthorization)
		if i == nil || auth.IsKey(httpd.Bearer(header)) {
			return keyed(c)
		}
		caller, err := i.Resolve(c.UserContext(), header)
		if err != nil {
			return err
		}
		if !slices.Contains(caller.Scopes, scope) {
			return problem.New(problem.Forbidden, "the app lacks the scope %s: connect it again and allow that", scope)
		}
		c.SetUserContext(identity.NewContext(c.UserContext(), caller))
		return c.Next()
	}
}

// ForwardToken returns an access token of a minute, with which the tracking server is asked for an app that may start
// runs; "" for another caller. An app's own token is good at /mcp alone.
func (i *Issuer) ForwardToken(ctx context.Context, caller identity.Identity) (string, error) {
	if caller.AppID == uuid.Nil || !slices.Contains(caller.Scopes, auth.TrackingWrite) {
		return "", nil
	}
	account := postgres.Account{ID: caller.UserID, Email: caller.Email, OrganizationID: caller.OrganizationID}
	return i.provider.ForwardToken(ctx, account, caller.AppID)
}
