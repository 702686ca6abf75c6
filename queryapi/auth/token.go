package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"

	"github.com/answerscope/answerscope/internal/problem"
)

// leeway bounds the difference between the clocks of an issuer and of this process.
const leeway = 30 * time.Second

// A TokenVerifier verifies the tokens of one issuer. It is safe for concurrent use.
type TokenVerifier struct {
	parser *jwt.Parser
	keys   func(context.Context) jwt.Keyfunc
}

// newVerifier accepts only the signing methods of its kind of keys, so that a public key is never the secret of an
// HMAC.
func newVerifier(issuer, audience string, keys func(context.Context) jwt.Keyfunc, methods ...string) *TokenVerifier {
	return &TokenVerifier{keys: keys, parser: jwt.NewParser(jwt.WithValidMethods(methods), jwt.WithIssuer(issuer),
		jwt.WithAudience(audience),
		jwt.WithExpirationRequired(), jwt.WithLeeway(leeway), jwt.WithStrictDecoding())}
}

// NewSecretVerifier verifies tokens that an outside issuer signs with a shared secret (HS256).
func NewSecretVerifier(issuer, audience string, secret []byte) *TokenVerifier {
	return newVerifier(issuer, audience, func(context.Context) jwt.Keyfunc {
		return func(*jwt.Token) (any, error) { return secret, nil }
	}, "HS256")
}

const (
	jwksTimeout  = 5 * time.Second
	jwksInterval = 10 * time.Second // at least, between two reads for an unknown key
	jwksWait     = 2 * time.Second  // at most, of a request for such a read
)

// errAway reports an unknown key while the issuer does not answer.
var errAway = problem.New(problem.Unavailable, "the keys of the token's issuer cannot be read; ask again in a moment")

// NewJWKSVerifier verifies the tokens of an outside issuer that publishes its keys at an address (ES256, RS256). Its
// keys are read at once, every hour until ctx ends, and when a token names an unknown key. While they cannot be read,
// such a token is a problem of kind Unavailable.
func NewJWKSVerifier(ctx context.Context, issuer, audience, address string, log *slog.Logger) (*TokenVerifier, error) {
	away := &atomic.Bool{} // whether the last reading failed
	keys, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{address}, keyfunc.Override{
		Client:      &http.Client{Transport: answerRecorder{away}},
		HTTPTimeout: jwksTimeout, RateLimitWaitMax: jwksWait, RefreshUnknownKID: rate.NewLimiter(
			rate.Every(jwksInterval), 1),
		RefreshErrorHandlerFunc: func(string) func(context.Context, error) {
			return func(_ context.Context, err error) {
				away.Store(true)
				log.Warn("keys of the token issuer not read", "error", err,
					"next", "see that ANSWERSCOPE_JWKS_URL answers; "+
						"until then only tokens of keys that were read before are valid")
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read keys of %s: %w", address, err)
	}
	return newVerifier(issuer, audience, func(ctx context.Context) jwt.Keyfunc {
		find := keys.KeyfuncCtx(ctx)
		return func(unverified *jwt.Token) (any, error) {
			key, err := find(unverified)
			if err != nil && away.Load() {
				return nil, &sourceError{errAway}
			}
			return key, err
		}
	}, "ES256", "RS256"), nil
}

// answerRecorder records that the issuer answers again; a wrong answer is recorded afterwards.
type answerRecorder struct{ away *atomic.Bool }

func (r answerRecorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err == nil {
		r.away.Store(false)
	}
	return response, err
}

// Verify returns the claims of a token. An invalid token is a problem of kind Unauthenticated with the reason; any
// other error means that the keys cannot be read.
func (v *TokenVerifier) Verify(ctx context.Context, text string) (Claims, error) {
	var claims Claims
	_, err := v.parser.ParseWithClaims(text, &claims, v.keys(ctx))
	if source, ok := errors.AsType[*sourceError](err); ok {
		return Claims{}, source
	}
	if err != nil {
		return Claims{}, problem.New(problem.Unauthenticated, "invalid access token: %s", reason(err))
	}
	return claims, nil
}

// sourceError means that the keys cannot be read, so the token may be valid.
type sourceError struct{ cause error }

func (e *sourceError) Error() string { return "read signing keys: " + e.cause.Error() }
func (e *sourceError) Unwrap() error { return e.cause }

// reason returns why a token is invalid, as the client may read it.
func reason(err error) string {
	for _, r := range []struct {
		is   error
		text string
	}{
		{jwt.ErrTokenExpired, "it has expired; refresh it, or sign in again"},
		{jwt.ErrTokenNotValidYet, "it is not valid yet"},
		{jwt.ErrTokenInvalidIssuer, "it is of another issuer"},
		{jwt.ErrTokenInvalidAudience, "it is for another audience"},
		{jwt.ErrTokenRequiredClaimMissing, "it lacks a claim; want iss, aud, sub and exp"},
		{jwt.ErrTokenUnverifiable, "its key is unknown"},
		{jwt.ErrTokenSignatureInvalid, "its signature does not hold"},
	} {
		if errors.Is(err, r.is) {
			return r.text
		}
	}
	return "it cannot be read"
}

// A single audience is written as a string, as GoTrue does, since some clients read no list. Lists are still read.
func init() { jwt.MarshalSingleStringAsArray = false }

// Claims are the claims of an access token, a JSON Web Token (RFC 7519).
type Claims struct {
	jwt.RegisteredClaims // iss, sub (the user's id), aud, exp, nbf, iat

	Email       string      `json:"email,omitempty"`
	Role        string      `json:"role,omitempty"`       // of PostgreSQL: authenticated or anon
	SessionID   string      `json:"session_id,omitempty"` // of the built-in provider; of an app its grant
	ClientID    string      `json:"client_id,omitempty"`  // of an app (RFC 9068)
	Scope       string      `json:"scope,omitempty"`      // of an app, separated by spaces
	AppMetadata AppMetadata `json:"app_metadata"`
}

// AppMetadata holds the issuer's further claims.
type AppMetadata struct {
	OrganizationID string `json:"organization_id,omitempty"`
}

// NewClaims returns the registered claims of a user's token.
func NewClaims(issuer, audience, user string, from, until time.Time) Claims {
	return Claims{RegisteredClaims: jwt.RegisteredClaims{
		Issuer: issuer, Subject: user, Audience: jwt.ClaimStrings{audience}, IssuedAt: jwt.NewNumericDate(from),
		ExpiresAt: jwt.NewNumericDate(until),
	}}
}
