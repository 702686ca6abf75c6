package identity

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/token"
	"github.com/answerscope/answerscope/queryapi/rest"
)

const anonRole = "anon"

// anonKeyYears is how long the anon key lasts, which is no secret.
const anonKeyYears = 10

// AnonKey is the key that clients of /rest/v1 send: a token of the role anon, made once for all processes.
func (p *Provider) AnonKey(ctx context.Context) (string, error) {
	return p.db.AnonKey(ctx, func(ctx context.Context) (string, error) {
		now := time.Now()
		claims := token.NewClaims(issuer, audience, "", now, now.AddDate(anonKeyYears, 0, 0))
		claims.Role = anonRole
		return p.keys.Sign(ctx, claims)
	})
}

// Bodies of a gateway in front of PostgREST, which clients know.
const (
	noAnonKey    = `{"message":"No API key found in request","hint":"No ` + "`apikey`" + ` request header or url param was found."}`
	wrongAnonKey = `{"message":"Invalid API key"}`
)

// Callers finds who asks /rest/v1: every request has the anon key in the header apikey, and that of a user a token, too.
func (t *Tokens) Callers(anonKey string) rest.Authenticator {
	return func(c *fiber.Ctx) (rest.Caller, error) {
		switch given := c.Get("apikey"); {
		case given == "":
			return rest.Caller{}, rest.Refusal(http.StatusUnauthorized, noAnonKey)
		case !same(given, anonKey):
			return rest.Caller{}, rest.Refusal(http.StatusUnauthorized, wrongAnonKey)
		}
		header := c.Get(fiber.HeaderAuthorization)
		if _, bearer, _ := strings.Cut(header, " "); header == "" || same(strings.TrimSpace(bearer), anonKey) {
			return rest.Caller{Role: anonRole, Claims: json.RawMessage(`{"role":"anon"}`), Anonymous: true}, nil
		}
		account, _, err := t.resolve(c.UserContext(), header)
		if errors.Is(err, errNoPerson) {
			return rest.Caller{}, rest.Forbidden("the token is not of a user: want one of the role authenticated, with the user's id as its sub")
		}
		if kind, message := problem.Of(err); err != nil && kind == problem.Unproven {
			return rest.Caller{}, rest.BadToken(message)
		}
		if err != nil {
			return rest.Caller{}, err
		}
		claims, err := json.Marshal(map[string]any{
			"sub": account.ID, "email": account.Email, "role": loggedInRole, "aud": audience,
			"app_metadata": map[string]any{"organization_id": account.OrganizationID},
		})
		return rest.Caller{Role: loggedInRole, Claims: claims}, err
	}
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
