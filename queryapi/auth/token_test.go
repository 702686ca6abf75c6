package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/answerscope/answerscope/internal/problem"
)

const (
	testIssuer   = "https://issuer.example"
	testAudience = "authenticated"
	person       = "7f1f9c5e-2a53-4d0c-9a3b-0d6f7f0a1b2c"
)

// A signer signs tokens, and the verifier takes them.
type signer struct {
	name     string
	method   jwt.SigningMethod
	key      any
	kid      string
	public   []byte // of a pair, as a PEM file
	verifier *TokenVerifier
}

func signers(t *testing.T) []signer {
	t.Helper()
	secret := []byte(strings.Repeat("s", 32))
	own, err := NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	outside, err := NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	jwk, err := outside.JWK()
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding
	keys := map[string]any{"keys": []any{jwk,
		map[string]any{
			"kid": "rsa", "kty": "RSA", "n": b64.EncodeToString(rsaKey.N.Bytes()),
			"e": b64.EncodeToString(big.NewInt(int64(rsaKey.E)).Bytes()),
		},
		map[string]any{"kid": "secret", "kty": "oct", "k": b64.EncodeToString(secret)}, // a secret among public keys
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(keys)
	}))
	t.Cleanup(server.Close)
	published, err := NewJWKSVerifier(t.Context(), testIssuer, testAudience, server.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return []signer{
		{"secret", jwt.SigningMethodHS256, secret, "", nil, NewSecretVerifier(testIssuer, testAudience, secret)},
		{"own", jwt.SigningMethodES256, own.Private, own.ID, pemOf(t, own.Public),
			NewSigningKeys(&memory{keys: []SigningKey{own}}).NewVerifier(testIssuer, testAudience)},
		{"jwks es256", jwt.SigningMethodES256, outside.Private, outside.ID, pemOf(t, outside.Public), published},
		{"jwks rs256", jwt.SigningMethodRS256, rsaKey, "rsa", pemOf(t, &rsaKey.PublicKey), published},
	}
}

func pemOf(t *testing.T, public any) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func good(now time.Time) jwt.MapClaims {
	return jwt.MapClaims{"iss": testIssuer, "aud": testAudience, "sub": person, "exp": now.Add(time.Hour).Unix(),
		"iat":   now.Unix(),
		"email": "ann@example.com", "role": "authenticated", "session_id": "s",
		"app_metadata": map[string]any{"organization_id": "o"}}
}

func sign(t *testing.T, method jwt.SigningMethod, key any, kid string, claims jwt.Claims) string {
	t.Helper()
	unsigned := jwt.NewWithClaims(method, claims)
	if kid != "" {
		unsigned.Header["kid"] = kid
	}
	text, err := unsigned.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAGoodTokenSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	for _, s := range signers(t) {
		claims, err := s.verifier.Verify(t.Context(), sign(t, s.method, s.key, s.kid, good(time.Now())))
		if err != nil || claims.Subject != person || claims.Email != "ann@example.com" ||
			claims.Role != "authenticated" || claims.SessionID != "s" || claims.AppMetadata.OrganizationID != "o" {
			t.Errorf("%s: %+v, %v", s.name, claims, err)
		}
		late := good(time.Now())
		late["exp"], late["nbf"] = time.Now().Add(-20*time.Second).Unix(), time.Now().Add(20*time.Second).Unix()
		late["aud"] = []string{"other", testAudience}
		if _, err := s.verifier.Verify(t.Context(), sign(t, s.method, s.key, s.kid, late)); err != nil {
			t.Errorf("%s, within the leeway: %v", s.name, err)
		}
	}
}

func TestABadTokenIsRefused(t *testing.T) {
	t.Parallel()
	now := time.Now()
	with := func(name string, value any) jwt.MapClaims {
		claims := good(now)
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
		return claims
	}
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range signers(t) {
		text := sign(t, s.method, s.key, s.kid, good(now))
		parts := strings.Split(text, ".")
		tampered := base64.RawURLEncoding.EncodeToString(
			[]byte(strings.Replace(string(decoded(t, parts[1])), "ann@", "bob@", 1)))
		bad := map[string]string{
			"expired":              sign(t, s.method, s.key, s.kid, with("exp", now.Add(-time.Minute).Unix())),
			"without exp":          sign(t, s.method, s.key, s.kid, with("exp", nil)),
			"not yet valid":        sign(t, s.method, s.key, s.kid, with("nbf", now.Add(time.Minute).Unix())),
			"of another issuer":    sign(t, s.method, s.key, s.kid, with("iss", "https://other.example")),
			"without iss":          sign(t, s.method, s.key, s.kid, with("iss", nil)),
			"for another audience": sign(t, s.method, s.key, s.kid, with("aud", "anon")),
			"without aud":          sign(t, s.method, s.key, s.kid, with("aud", nil)),
			"unsigned": sign(t, jwt.SigningMethodNone,
				jwt.UnsafeAllowNoneSignatureType, s.kid, good(now)),
			"of a stranger's key":        sign(t, jwt.SigningMethodES256, stranger, s.kid, good(now)),
			"tampered":                   parts[0] + "." + tampered + "." + parts[2],
			"without signature":          parts[0] + "." + parts[1] + ".",
			"with bits to spare":         text[:len(text)-1] + string(rune(text[len(text)-1])+1),
			"with claims of other types": sign(t, s.method, s.key, s.kid, with("email", 1)),
			"empty":                      "", "no token": "svc_abc", "two parts": parts[0] + "." + parts[1],
		}
		if s.public != nil {
			bad["HS256 with the public key"] = sign(t, jwt.SigningMethodHS256, s.public, s.kid, good(now))
			bad["of an unknown key"] = sign(t, s.method, s.key, "nobody's", good(now))
			bad["HS256 with a published secret"] = sign(t, jwt.SigningMethodHS256,
				[]byte(strings.Repeat("s", 32)), "secret", good(now))
		}
		for name, text := range bad {
			_, err := s.verifier.Verify(t.Context(), text)
			if p, ok := errors.AsType[*problem.Error](err); !ok || p.Kind != problem.Unauthenticated {
				t.Errorf("%s, a token %s: %v", s.name, name, err)
			}
		}
	}
}

func decoded(t *testing.T, part string) []byte {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What is not known while the issuer cannot be asked may be right: clients are asked to come again.
func TestAnIssuerThatIsAwayIsNoBadToken(t *testing.T) {
	t.Parallel()
	known, unknown := newKey(t), newKey(t)
	jwk, err := known.JWK()
	if err != nil {
		t.Fatal(err)
	}
	var broken atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{jwk}})
	}))
	t.Cleanup(server.Close)
	kindOf := func(v *TokenVerifier, key SigningKey) problem.Kind {
		t.Helper()
		_, err := v.Verify(t.Context(), sign(t, jwt.SigningMethodES256, key.Private, key.ID, good(time.Now())))
		if err == nil {
			return ""
		}
		kind, _ := problem.Of(err)
		return kind
	}
	open := func() *TokenVerifier {
		t.Helper()
		v, err := NewJWKSVerifier(t.Context(), testIssuer, testAudience, server.URL, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	there := open()
	if kind := kindOf(there, unknown); kind != problem.Unauthenticated {
		t.Errorf("an unknown key, the issuer answers: %s", kind)
	}
	broken.Store(true)
	later := open()
	for range 2 { // the second is not asked for again so soon
		if kind := kindOf(later, unknown); kind != problem.Unavailable {
			t.Errorf("an unknown key, the issuer is away: %q", kind)
		}
	}
	if kind := kindOf(there, known); kind != "" {
		t.Errorf("a known key, the issuer is away: %s", kind)
	}
	broken.Store(false)
	again := open()
	broken.Store(true)
	if kind := kindOf(again, unknown); kind != problem.Unavailable {
		t.Errorf("an unknown key, the issuer went away: %q", kind)
	}
	server.Close()
	if kind := kindOf(open(), known); kind != problem.Unavailable {
		t.Errorf("the issuer was never there: %q", kind)
	}
}

func newKey(t *testing.T) SigningKey {
	t.Helper()
	key, err := NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// memory is a store of keys.
type memory struct {
	keys  []SigningKey
	err   error
	reads int
}

func (m *memory) Keys(context.Context) ([]SigningKey, error) {
	m.reads++
	return append([]SigningKey{}, m.keys...), m.err
}

func (m *memory) AddKey(_ context.Context, key SigningKey) error {
	m.keys = append([]SigningKey{key}, m.keys...)
	return nil
}
