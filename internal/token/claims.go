// Package token signs and verifies access tokens, which are JSON Web Tokens (RFC 7519): those of the built-in identity
// provider, or those of an outside issuer.
package token

import (
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// A single audience is a string, as GoTrue writes it; some libraries of its clients read no list. Lists are still read.
func init() { jwt.MarshalSingleStringAsArray = false }

// Claims are what a token says of its user.
type Claims struct {
	jwt.RegisteredClaims // iss, sub (the user's id), aud, exp, nbf, iat

	Email       string      `json:"email,omitempty"`
	Role        string      `json:"role,omitempty"`       // of PostgreSQL: authenticated or anon
	SessionID   string      `json:"session_id,omitempty"` // of the built-in provider
	AppMetadata AppMetadata `json:"app_metadata"`
}

// AppMetadata is what an issuer says of a user beside the claims that are registered.
type AppMetadata struct {
	OrganizationID string `json:"organization_id,omitempty"`
}

// NewClaims are those of a user's token of an issuer.
func NewClaims(issuer, audience, user string, from, until time.Time) Claims {
	return Claims{RegisteredClaims: jwt.RegisteredClaims{
		Issuer: issuer, Subject: user, Audience: jwt.ClaimStrings{audience}, IssuedAt: jwt.NewNumericDate(from), ExpiresAt: jwt.NewNumericDate(until),
	}}
}
