package identity

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/token"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/queryapi/rest"
	"github.com/answerscope/answerscope/sql/postgres"
)

const anonRole = "anon"

// anonKeyYears is how long the anon key lasts, which is no secret.
const anonKeyYears = 10

// AnonKeys returns the keys that clients of /rest/v1 send.
type AnonKeys func(ctx context.Context) ([]string, error)

// AnonKeys are what clients of /rest/v1 send: a token of the role anon, made once for all processes, and after it those
// from before its signing key was deleted. They are read once, when they are first asked for.
func (p *Provider) AnonKeys(ctx context.Context) ([]string, error) {
	if keys := p.anonKeys.Load(); keys != nil {
		return *keys, nil
	}
	keys, err := p.readAnonKeys(ctx)
	if err == nil {
		p.anonKeys.Store(&keys)
	}
	return keys, err
}

func (p *Provider) readAnonKeys(ctx context.Context) ([]string, error) {
	known, err := p.db.AnonKey(ctx, func(ctx context.Context) (key string, signingKey uuid.UUID, err error) {
		now := time.Now()
		claims := token.NewClaims(issuer, audience, "", now, now.AddDate(anonKeyYears, 0, 0))
		claims.Role = anonRole
		if key, err = p.keys.Sign(ctx, claims); err != nil {
			return "", uuid.Nil, err
		}
		signingKey, err = uuid.FromString(token.KeyID(key))
		return key, signingKey, err
	})
	if err != nil {
		return nil, err
	}
	return append([]string{known.Key}, known.Earlier...), nil
}

// Bodies of a gateway in front of PostgREST, which clients know.
const (
	noAnonKey    = `{"message":"No API key found in request","hint":"No ` + "`apikey`" + ` request header or url param was found."}`
	wrongAnonKey = `{"message":"Invalid API key"}`
)

// Callers finds who asks /rest/v1, as often as limit allows: every request has an anon key in the header apikey, and
// that of a user a token, too.
func (t *Tokens) Callers(anonKeys AnonKeys, limit *httpd.CallerLimit) rest.Authenticator {
	return func(c *fiber.Ctx) (rest.Caller, error) {
		given, bearer := c.Get("apikey"), httpd.Bearer(c.Get(fiber.HeaderAuthorization))
		keys, err := anonKeys(c.UserContext())
		if err != nil {
			return rest.Caller{}, restRefusal(err)
		}
		switch {
		case apikey.IsKey(given) || apikey.IsKey(bearer):
			return rest.Caller{}, rest.BadToken("no API key of /api/v1 is taken here: send the anon key as apikey, and the access_token of a session as Authorization: Bearer")
		case given == "":
			return rest.Caller{}, rest.Refusal(http.StatusUnauthorized, noAnonKey)
		case !isAmong(keys, given):
			return rest.Caller{}, rest.Refusal(http.StatusUnauthorized, wrongAnonKey)
		}
		caller, user, err := t.caller(c, keys)
		if err == nil {
			err = limit.Take(c, user)
		}
		return caller, restRefusal(err)
	}
}

// restRefusal is a problem of a caller in the dialect of /rest/v1.
func restRefusal(err error) error {
	if isAway(err) {
		err = errUnavailable
	}
	switch kind, message := problem.Of(err); {
	case err == nil:
		return nil
	case kind == problem.Unauthenticated:
		return rest.BadToken(message)
	case kind == problem.Forbidden:
		return rest.Forbidden(message)
	case kind == problem.TooMany:
		return rest.TooMany(message)
	case kind == problem.Unavailable:
		return rest.Unavailable(message)
	}
	return err
}

// caller is in which role a request runs, and of which user it is; nil is nobody's. A token of the role anon is as
// none.
func (t *Tokens) caller(c *fiber.Ctx, anonKeys []string) (caller rest.Caller, user uuid.UUID, err error) {
	anonymous := rest.Caller{Role: anonRole, Claims: json.RawMessage(`{"role":"anon"}`), Anonymous: true}
	header := c.Get(fiber.HeaderAuthorization)
	if header == "" || isAmong(anonKeys, httpd.Bearer(header)) {
		return anonymous, uuid.Nil, nil
	}
	found, err := t.resolve(c.UserContext(), header)
	if errors.Is(err, errAnonymous) {
		return anonymous, uuid.Nil, nil
	}
	if err != nil {
		return rest.Caller{}, uuid.Nil, err
	}
	caller, err = callerOf(found.Account)
	return caller, found.ID, err
}

// callerOf is a user as row-level security sees them.
func callerOf(account postgres.Account) (rest.Caller, error) {
	claims, err := json.Marshal(map[string]any{
		"sub": account.ID, "email": account.Email, "role": loggedInRole, "aud": audience,
		"app_metadata": map[string]any{"organization_id": account.OrganizationID},
	})
	return rest.Caller{Role: loggedInRole, Claims: claims, Organization: account.OrganizationID}, err
}

func isAmong(keys []string, given string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return subtle.ConstantTimeCompare([]byte(key), []byte(given)) == 1 })
}
