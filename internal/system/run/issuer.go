package run

import (
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

// These are what services of tests trust: tokens of an issuer that signs with a secret, and its anon key.
const (
	Issuer = "https://issuer.example"
	Secret = "a secret of at least thirty-two bytes"
	Anon   = "anon-key-of-the-issuer"
)

// TokenOf is a valid token of a user, but for what change makes of its claims.
func TokenOf(t *testing.T, user postgres.User, change func(*auth.Claims)) string {
	t.Helper()
	return Signed(t, jwt.SigningMethodHS256, []byte(Secret), user, change)
}

// Signed is that token as another key or method signs it.
func Signed(t *testing.T, method jwt.SigningMethod, key any, user postgres.User, change func(*auth.Claims)) string {
	t.Helper()
	claims := auth.NewClaims(Issuer, "authenticated", user.ID.String(), time.Now(), time.Now().Add(time.Hour))
	claims.Role = "authenticated"
	if change != nil {
		change(&claims)
	}
	text, err := jwt.NewWithClaims(method, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
