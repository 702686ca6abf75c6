package token

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

// leeway is how far the clocks of an issuer and of ours may differ.
const leeway = 30 * time.Second

// A Verifier verifies the tokens of one issuer. It is safe for concurrent use.
type Verifier struct {
	parser *jwt.Parser
	keys   func(context.Context) jwt.Keyfunc
}

// newVerifier takes only the methods that go with its kind of keys: so a public key never is the secret of an HMAC.
func newVerifier(issuer, audience string, keys func(context.Context) jwt.Keyfunc, methods ...string) *Verifier {
	return &Verifier{keys: keys, parser: jwt.NewParser(jwt.WithValidMethods(methods), jwt.WithIssuer(issuer), jwt.WithAudience(audience),
		jwt.WithExpirationRequired(), jwt.WithLeeway(leeway), jwt.WithStrictDecoding())}
}

// NewSecretVerifier verifies the tokens that an outside issuer signs with a secret that it shares with us (HS256).
func NewSecretVerifier(issuer, audience string, secret []byte) *Verifier {
	return newVerifier(issuer, audience, func(context.Context) jwt.Keyfunc {
		return func(*jwt.Token) (any, error) { return secret, nil }
	}, "HS256")
}

const (
	jwksTimeout  = 5 * time.Second
	jwksInterval = 10 * time.Second // at least, between two looks for a key that is not known
	jwksWait     = 2 * time.Second  // at most, of a request for such a look
)

// errAway says that a key is not known, and that the issuer could not be asked for it.
var errAway = problem.New(problem.Unavailable, "the keys of the token's issuer cannot be read; ask again in a moment")

// NewJWKSVerifier verifies the tokens of an outside issuer that publishes its keys at an address (ES256, RS256). The
// keys are read at once, every hour until ctx ends, and when a token names one that is not known. While they cannot be
// read, such a token is a problem of kind Unavailable.
func NewJWKSVerifier(ctx context.Context, issuer, audience, address string, log *slog.Logger) (*Verifier, error) {
	away := &atomic.Bool{} // whether the last reading failed
	keys, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{address}, keyfunc.Override{
		Client:      &http.Client{Transport: answering{away}},
		HTTPTimeout: jwksTimeout, RateLimitWaitMax: jwksWait, RefreshUnknownKID: rate.NewLimiter(rate.Every(jwksInterval), 1),
		RefreshErrorHandlerFunc: func(string) func(context.Context, error) {
			return func(_ context.Context, err error) {
				away.Store(true)
				log.Warn("keys of the token issuer not read", "error", err,
					"next", "see that ANSWERSCOPE_JWKS_URL answers; until then only tokens of keys that were read before are valid")
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

// answering notes that an issuer answers; what is wrong with the answer is noted after it.
type answering struct{ away *atomic.Bool }

func (a answering) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err == nil {
		a.away.Store(false)
	}
	return response, err
}

// Verify returns the claims of a token. One that is not valid is a problem of kind Unauthenticated, which says why; any
// other error is of where the keys are.
func (v *Verifier) Verify(ctx context.Context, text string) (Claims, error) {
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

// sourceError says that the keys could not be read, which is no fault of the token.
type sourceError struct{ cause error }

func (e *sourceError) Error() string { return "read signing keys: " + e.cause.Error() }
func (e *sourceError) Unwrap() error { return e.cause }

// reason is what may be said to the client.
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
		{jwt.ErrTokenUnverifiable, "its key is not known"},
		{jwt.ErrTokenSignatureInvalid, "its signature does not hold"},
	} {
		if errors.Is(err, r.is) {
			return r.text
		}
	}
	return "it cannot be read"
}
