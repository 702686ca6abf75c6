package rest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// clock is the time of all tests.
func clock() time.Time { return time.Unix(1_800_000_000, 0) }

// token signs claims, which are JSON.
func token(claims string) string { return signed(jwt.SigningMethodHS256, []byte(secret), claims) }

func signed(method jwt.SigningMethod, key any, claims string) string {
	head := jwt.New(method)
	text, err := head.SigningString()
	if err != nil {
		panic(err)
	}
	text = text[:strings.IndexByte(text, '.')+1] + head.EncodeSegment([]byte(claims))
	signature, err := method.Sign(text, key)
	if err != nil {
		panic(err)
	}
	return text + "." + head.EncodeSegment(signature)
}

func TestTokens(t *testing.T) {
	tokens := Tokens{Secret: []byte(secret), Audience: "us", AnonRole: "anon", Now: clock}
	for claims, want := range map[string]string{
		`{}`:                                    "anon",
		`{"role":"writer"}`:                     "writer",
		`{"role":"writer","exp":1799999971}`:    "writer",
		`{"role":"writer","exp":1799999969}`:    "PGRST303 JWT expired",
		`{"role":"writer","nbf":1800000030}`:    "writer",
		`{"role":"writer","nbf":1800000031}`:    "PGRST303 JWT not yet valid",
		`{"role":"writer","iat":1800000031}`:    "PGRST303 JWT issued at future",
		`{"exp":"soon"}`:                        "PGRST303 The JWT 'exp' claim must be a number",
		`{"nbf":{}}`:                            "PGRST303 The JWT 'nbf' claim must be a number",
		`{"iat":true}`:                          "PGRST303 The JWT 'iat' claim must be a number",
		`{"role":"writer","aud":"us"}`:          "writer",
		`{"role":"writer","aud":[]}`:            "writer",
		`{"role":"writer","aud":["they","us"]}`: "writer",
		`{"aud":"they"}`:                        "PGRST303 JWT not in audience",
		`{"exp":1,"aud":"they"}`:                "PGRST303 JWT expired",
		`{"aud":""}`:                            "PGRST303 JWT not in audience",
		`{"aud":7}`:                             "PGRST303 The JWT 'aud' claim must be a string or an array of strings",
		`{"aud":["us",7]}`:                      "PGRST303 The JWT 'aud' claim must be a string or an array of strings",
		`[]`:                                    "PGRST303 Parsing claims failed",
		`null`:                                  "PGRST303 Parsing claims failed",
	} {
		if got := tried(tokens, token(claims)); got != want {
			t.Errorf("%s: %s, want %s", claims, got, want)
		}
	}
	for text, want := range map[string]string{
		"":    "PGRST301 Empty JWT is sent in Authorization header",
		"a.b": "PGRST301 Expected 3 parts in JWT; got 2",
		signed(jwt.SigningMethodHS256, []byte("another secret of thirty-two bytes"),
			`{"role":"writer"}`): "PGRST301 No suitable key or wrong key type",
		signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType,
			`{"role":"writer"}`): "PGRST301 Wrong or unsupported encoding algorithm",
	} {
		if got := tried(tokens, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := tried(Tokens{Now: clock}, token(`{}`)); got != "PGRST300 Server lacks JWT secret" {
		t.Error(got)
	}
	if got := tried(Tokens{Secret: []byte(secret), Now: clock},
		token(`{"exp":1900000000}`)); got != "PGRST302 Anonymous access is disabled" {
		t.Error(got)
	}
}

// tried is the role of a token, or why it is refused.
func tried(tokens Tokens, text string) string {
	caller, err := tokens.read("bearer " + text)
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.code + " " + refused.message
	}
	return caller.Role
}
