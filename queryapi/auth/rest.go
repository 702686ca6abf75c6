package auth

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
	"github.com/answerscope/answerscope/queryapi/rest"
	"github.com/answerscope/answerscope/sql/postgres"
)

const anonRole = "anon"

// anonKeyYears is the lifetime of the anon key, which is not secret.
const anonKeyYears = 10

// AnonKeys returns the anon keys that clients of /rest/v1 send.
type AnonKeys func(ctx context.Context) ([]string, error)

// AnonKeys returns the anon key, a token of the role anon made once for all processes, and after it the keys from
// before its signing key was deleted. The first call reads them.
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
	anon, err := p.db.AnonKey(ctx, func(ctx context.Context) (key string, signingKey uuid.UUID, err error) {
		now := time.Now()
		claims := NewClaims(issuer, audience, "", now, now.AddDate(anonKeyYears, 0, 0))
		claims.Role = anonRole
		if key, err = p.keys.Sign(ctx, claims); err != nil {
			return "", uuid.Nil, err
		}
		signingKey, err = uuid.FromString(SigningKeyID(key))
		return key, signingKey, err
	})
	if err != nil {
		return nil, err
	}
	return append([]string{anon.Key}, anon.Earlier...), nil
}

// The bodies of the gateway in front of PostgREST that clients expect.
const (
	noAnonKey = `{"message":"No API key found in request","hint":"No ` + "`apikey`" +
		` request header or url param was found."}`
	wrongAnonKey = `{"message":"Invalid API key"}`
)

// Callers finds the callers of /rest/v1 within a limit: every request has an anon key in the header apikey, and a
// user's request an access token too.
func (t *Tokens) Callers(anonKeys AnonKeys, limit *httpd.CallerLimit) rest.Authenticator {
	return func(c *fiber.Ctx) (rest.Caller, error) {
		key, bearer := c.Get("apikey"), httpd.Bearer(c.Get(fiber.HeaderAuthorization))
		keys, err := anonKeys(c.UserContext())
		if err != nil {
			return rest.Caller{}, restRefusal(err)
		}
		switch {
		case IsKey(key) || IsKey(bearer):
			return rest.Caller{}, rest.BadToken(
				"no API key of /api/v1 is taken here: send the anon key as apikey, " +
					"and the access_token of a session as Authorization: Bearer")
		case key == "":
			return rest.Caller{}, rest.Refusal(http.StatusUnauthorized, noAnonKey)
		case !isAmong(keys, key):
			return rest.Caller{}, rest.Refusal(http.StatusUnauthorized, wrongAnonKey)
		}
		caller, user, err := t.caller(c, keys)
		if err == nil {
			err = limit.Take(c, user)
		}
		return caller, restRefusal(err)
	}
}

// restRefusal translates a caller's problem into an error of /rest/v1.
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

// caller returns the role and the user of a request; uuid.Nil for anonymous. A token of the role anon counts as none.
func (t *Tokens) caller(c *fiber.Ctx, anonKeys []string) (caller rest.Caller, user uuid.UUID, err error) {
	anonymous := rest.Caller{Role: anonRole, Claims: json.RawMessage(`{"role":"anon"}`), Anonymous: true}
	header := c.Get(fiber.HeaderAuthorization)
	if header == "" || isAmong(anonKeys, httpd.Bearer(header)) {
		return anonymous, uuid.Nil, nil
	}
	signedIn, err := t.account(c.UserContext(), header)
	if errors.Is(err, errAnonymous) {
		return anonymous, uuid.Nil, nil
	}
	if err != nil {
		return rest.Caller{}, uuid.Nil, err
	}
	caller, err = callerOf(signedIn.Account)
	return caller, signedIn.ID, err
}

// callerOf returns the caller whose claims row-level security reads.
func callerOf(account postgres.Account) (rest.Caller, error) {
	claims, err := json.Marshal(map[string]any{
		"sub": account.ID, "email": account.Email, "role": loggedInRole, "aud": audience,
		"app_metadata": map[string]any{"organization_id": account.OrganizationID},
	})
	return rest.Caller{Role: loggedInRole, Claims: claims, Organization: account.OrganizationID}, err
}

func isAmong(keys []string, key string) bool {
	return slices.ContainsFunc(keys, func(
		k string) bool {
		return subtle.ConstantTimeCompare([]byte(k), []byte(key)) == 1
	})
}
