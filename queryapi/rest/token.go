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

// Tokens finds callers by JSON Web Tokens that are signed with one secret (RFC 7519). The claim role names the role of
// PostgreSQL in which a caller's requests run.
type Tokens struct {
	Secret   []byte // none: tokens are refused
	Audience string // that tokens must be for, if they name one; "": any
	AnonRole string // of callers without a token; "": they are refused
	Now      func() time.Time
}

const leeway = 30 // seconds by which clocks may differ

// Caller is the Authenticator.
func (t Tokens) Caller(c *fiber.Ctx) (Caller, error) { return t.read(c.Get(fiber.HeaderAuthorization)) }

func (t Tokens) read(authorization string) (Caller, error) {
	scheme, token, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return t.caller(map[string]json.RawMessage{})
	}
	if len(t.Secret) == 0 {
		return Caller{}, refuse(http.StatusInternalServerError, "PGRST300", "Server lacks JWT secret")
	}
	claims, err := t.verify(strings.TrimLeft(token, " \t"))
	if err != nil {
		return Caller{}, err
	}
	if err := t.check(claims); err != nil {
		return Caller{}, err
	}
	return t.caller(claims)
}

func (t Tokens) caller(claims map[string]json.RawMessage) (Caller, error) {
	role := t.AnonRole
	if claim, named := claims["role"]; named {
		if json.Unmarshal(claim, &role) != nil {
			role = string(claim)
		}
	}
	if role == "" {
		e := refuse(http.StatusUnauthorized, "PGRST302", "Anonymous access is disabled")
		e.headers = [][2]string{{fiber.HeaderWWWAuthenticate, "Bearer"}}
		return Caller{}, e
	}
	claims["role"], _ = json.Marshal(role) // a string, which cannot fail
	object, err := json.Marshal(claims)
	return Caller{Role: role, Claims: object, Anonymous: role == t.AnonRole}, err
}

// verify checks the signature of a token, and returns its claims.
func (t Tokens) verify(token string) (map[string]json.RawMessage, *Error) {
	if token == "" {
		return nil, badToken("PGRST301", "Empty JWT is sent in Authorization header")
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, badToken("PGRST301", "Expected 3 parts in JWT; got "+strconv.Itoa(len(parts)))
	}
	parser := jwt.NewParser(jwt.WithoutClaimsValidation(), jwt.WithValidMethods([]string{"HS256", "HS384", "HS512"}))
	claims := &rawClaims{}
	parsed, err := parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return t.Secret, nil })
	switch {
	case err == nil:
	case parsed != nil && parsed.Method != nil && parsed.Header["alg"] == "none":
		return nil, badToken("PGRST301", "Wrong or unsupported encoding algorithm").detailed("JWT is unsecured but expected 'alg' was not 'none'")
	case errors.Is(err, jwt.ErrTokenSignatureInvalid), errors.Is(err, jwt.ErrTokenUnverifiable):
		return nil, badToken("PGRST301", "No suitable key or wrong key type").detailed("None of the keys was able to decode the JWT")
	default:
		return nil, badToken("PGRST301", "JWT cryptographic operation failed")
	}
	if claims.raw == nil {
		return nil, badToken("PGRST303", "Parsing claims failed")
	}
	return claims.raw, nil
}

// rawClaims keeps claims as they are written. What is no object is refused once the signature is known to be right.
type rawClaims struct {
	jwt.MapClaims
	raw map[string]json.RawMessage
}

// UnmarshalJSON never fails.
func (c *rawClaims) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &c.raw) != nil {
		c.raw = nil
	}
	return nil
}

// check looks at the claims that say when and for whom a token is; each may be missing.
func (t Tokens) check(claims map[string]json.RawMessage) *Error {
	now := t.Now().Unix()
	for _, c := range []struct {
		name    string
		refused func(at int64) bool
		message string
	}{
		{"exp", func(at int64) bool { return now-leeway > at }, "JWT expired"},
		{"nbf", func(at int64) bool { return now+leeway < at }, "JWT not yet valid"},
		{"iat", func(at int64) bool { return now+leeway < at }, "JWT issued at future"},
	} {
		claim, present := claims[c.name]
		if !present || string(claim) == "null" {
			continue
		}
		var at float64
		if json.Unmarshal(claim, &at) != nil {
			return badToken("PGRST303", "The JWT '"+c.name+"' claim must be a number")
		}
		if at != math.Trunc(at) || math.Abs(at) > 1<<62 {
			at = 0
		}
		if c.refused(int64(at)) {
			return badToken("PGRST303", c.message)
		}
	}
	return t.checkAudience(claims["aud"])
}

func (t Tokens) checkAudience(claim json.RawMessage) *Error {
	if claim == nil || string(claim) == "null" {
		return nil
	}
	var list []string
	var one string
	if json.Unmarshal(claim, &one) == nil {
		list = []string{one}
	} else if json.Unmarshal(claim, &list) != nil {
		return badToken("PGRST303", "The JWT 'aud' claim must be a string or an array of strings")
	}
	if t.Audience == "" || len(list) == 0 || slices.Contains(list, t.Audience) {
		return nil
	}
	return badToken("PGRST303", "JWT not in audience")
}

func badToken(code, message string) *Error {
	e := refuse(http.StatusUnauthorized, code, message)
	e.headers = [][2]string{{fiber.HeaderWWWAuthenticate, `Bearer error="invalid_token", error_description=` + strconv.Quote(message)}}
	return e
}
