package rest

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/golang-jwt/jwt/v5"
)

// Tokens authenticates by JSON Web Tokens that are signed with one secret (RFC 7519). The claim role names the role of
// PostgreSQL in which a caller's requests run.
type Tokens struct {
	Secret   []byte // none: tokens are refused
	Audience string // of tokens that have one; "": any
	AnonRole string // of callers without a token; "": they are refused
	Now      func() time.Time
}

const leeway = 30 * time.Second // by which clocks may differ

// Caller is the Authenticator.
func (t Tokens) Caller(c *fiber.Ctx) (Caller, error) { return t.read(c.Get(fiber.HeaderAuthorization)) }

func (t Tokens) read(authorization string) (Caller, error) {
	claims := tokenClaims{audience: t.Audience}
	if scheme, token, _ := strings.Cut(authorization, " "); strings.EqualFold(scheme, "Bearer") {
		if err := t.verify(strings.TrimLeft(token, " \t"), &claims); err != nil {
			return Caller{}, err
		}
	} else {
		claims.raw = map[string]json.RawMessage{}
	}
	role := t.AnonRole
	if claim, ok := claims.raw["role"]; ok && json.Unmarshal(claim, &role) != nil {
		role = string(claim)
	}
	if role == "" {
		return Caller{}, refuse(http.StatusUnauthorized, "PGRST302", "Anonymous access is disabled").
			withHeader(fiber.HeaderWWWAuthenticate, "Bearer")
	}
	claims.raw["role"], _ = json.Marshal(role) // a string, which cannot fail
	object, err := json.Marshal(claims.raw)
	return Caller{Role: role, Claims: object, Anonymous: role == t.AnonRole}, err
}

// claimErrors are the answers to errors of the library.
var claimErrors = []struct {
	err     error
	message string
}{
	{jwt.ErrTokenExpired, "JWT expired"},
	{jwt.ErrTokenNotValidYet, "JWT not yet valid"},
	{jwt.ErrTokenUsedBeforeIssued, "JWT issued at future"},
}

// verify checks the signature of a token, then its claims.
func (t Tokens) verify(token string, claims *tokenClaims) error {
	switch n := strings.Count(token, ".") + 1; {
	case len(t.Secret) == 0:
		return refuse(http.StatusInternalServerError, "PGRST300", "Server lacks JWT secret")
	case token == "":
		return badToken("PGRST301", "Empty JWT is sent in Authorization header")
	case n != 3:
		return badToken("PGRST301", "Expected 3 parts in JWT; got "+strconv.Itoa(n))
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256", "HS384", "HS512"}),
		jwt.WithLeeway(leeway), jwt.WithIssuedAt(), jwt.WithTimeFunc(t.Now))
	parsed, err := parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return t.Secret, nil })
	if err == nil {
		return nil
	}
	for _, claim := range claimErrors { // times come before the audience
		if errors.Is(err, claim.err) {
			return badToken("PGRST303", claim.message)
		}
	}
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal
	}
	switch {
	case parsed != nil && parsed.Method == jwt.SigningMethodNone:
		return badToken("PGRST301", "Wrong or unsupported encoding algorithm").
			detailed("JWT is unsecured but expected 'alg' was not 'none'")
	case errors.Is(err, jwt.ErrTokenSignatureInvalid), errors.Is(err, jwt.ErrTokenUnverifiable):
		return badToken("PGRST301", "No suitable key or wrong key type").
			detailed("None of the keys was able to decode the JWT")
	}
	return badToken("PGRST301", "JWT cryptographic operation failed")
}

// tokenClaims has claims as they are written. Each may be missing.
type tokenClaims struct {
	jwt.RegisteredClaims                            // of which the library reads none
	raw                  map[string]json.RawMessage // nil: they are no object
	audience             string                     // of the server
}

// UnmarshalJSON never fails, so that Validate refuses claims after the signature was checked.
func (c *tokenClaims) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &c.raw) != nil {
		c.raw = nil
	}
	return nil
}

// claim decodes a claim, and reports false where it is missing or null.
func (c *tokenClaims) claim(name string, into any) (bool, error) {
	claim, ok := c.raw[name]
	if !ok || string(claim) == "null" {
		return false, nil
	}
	return true, json.Unmarshal(claim, into)
}

func (c *tokenClaims) GetExpirationTime() (*jwt.NumericDate, error) { return c.date("exp") }
func (c *tokenClaims) GetNotBefore() (*jwt.NumericDate, error)      { return c.date("nbf") }
func (c *tokenClaims) GetIssuedAt() (*jwt.NumericDate, error)       { return c.date("iat") }

func (c *tokenClaims) date(name string) (*jwt.NumericDate, error) {
	var seconds float64
	ok, err := c.claim(name, &seconds)
	switch {
	case err != nil:
		return nil, badToken("PGRST303", "The JWT '"+name+"' claim must be a number")
	case !ok:
		return nil, nil
	case seconds != math.Trunc(seconds) || math.Abs(seconds) > 1<<62: // no date of PostgREST
		seconds = 0
	}
	return jwt.NewNumericDate(time.Unix(int64(seconds), 0)), nil
}

// Validate checks the audience.
func (c *tokenClaims) Validate() error {
	if c.raw == nil {
		return badToken("PGRST303", "Parsing claims failed")
	}
	var audience jwt.ClaimStrings
	ok, err := c.claim("aud", &audience)
	switch {
	case err != nil:
		return badToken("PGRST303", "The JWT 'aud' claim must be a string or an array of strings")
	case !ok, c.audience == "", len(audience) == 0, slices.Contains(audience, c.audience):
		return nil
	}
	return badToken("PGRST303", "JWT not in audience")
}

func badToken(code, message string) *Error {
	return refuse(http.StatusUnauthorized, code, message).withHeader(fiber.HeaderWWWAuthenticate,
		`Bearer error="invalid_token", error_description=`+strconv.Quote(message))
}
