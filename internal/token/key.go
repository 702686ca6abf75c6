package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/golang-jwt/jwt/v5"
)

// A Key signs tokens of the built-in provider (ES256).
type Key struct {
	ID        string // kid
	Public    *ecdsa.PublicKey
	Private   *ecdsa.PrivateKey // nil where this process cannot decrypt it: it still verifies
	CreatedAt time.Time
}

// NewKey makes a key.
func NewKey() (Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("make signing key: %w", err)
	}
	return Key{ID: uuid.Must(uuid.NewV4()).String(), Public: &private.PublicKey, Private: private, CreatedAt: time.Now()}, nil
}

// Sign makes a token.
func (k Key) Sign(claims Claims) (string, error) {
	unsigned := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	unsigned.Header["kid"] = k.ID
	text, err := unsigned.SignedString(k.Private)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return text, nil
}

// KeyID is the kid of a token, which need not be valid; "" where it has none.
func KeyID(text string) string {
	unverified, _, err := jwt.NewParser().ParseUnverified(text, &Claims{})
	if err != nil {
		return ""
	}
	id, _ := unverified.Header["kid"].(string)
	return id
}

// JWK is a public key as clients read it (RFC 7517, RFC 7518 §6.2).
type JWK struct {
	ID         string   `json:"kid"`
	Type       string   `json:"kty"`
	Algorithm  string   `json:"alg"`
	Use        string   `json:"use"`
	Operations []string `json:"key_ops"`
	Curve      string   `json:"crv"`
	X          string   `json:"x"`
	Y          string   `json:"y"`
}

// JWK is the key's public half.
func (k Key) JWK() (JWK, error) {
	point, err := k.Public.Bytes() // 4, x, y
	if err != nil {
		return JWK{}, fmt.Errorf("encode signing key %s: %w", k.ID, err)
	}
	half := len(point) / 2
	b64 := base64.RawURLEncoding
	return JWK{ID: k.ID, Type: "EC", Algorithm: "ES256", Use: "sig", Operations: []string{"verify"}, Curve: "P-256",
		X: b64.EncodeToString(point[1 : 1+half]), Y: b64.EncodeToString(point[1+half:])}, nil
}
