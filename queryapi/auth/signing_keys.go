package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/golang-jwt/jwt/v5"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A KeyStore stores the signing keys of the built-in provider, which all processes share.
type KeyStore interface {
	Keys(ctx context.Context) ([]SigningKey, error) // newest first
	AddKey(ctx context.Context, key SigningKey) error
}

// A key signs for SignFor and verifies for VerifyFor, a day longer than its last access token lasts. A key that has
// signed the anon key stays published after that, for services that verify the anon key.
const (
	SignFor   = 90 * 24 * time.Hour
	VerifyFor = SignFor + 25*time.Hour
)

const (
	freshFor  = 30 * time.Second // until keys are read again: a deleted one stays valid that long
	readPause = time.Second      // between two reads for an unknown key
)

// SigningKeys caches the signing keys of a store. It is safe for concurrent use.
type SigningKeys struct {
	store   KeyStore
	reading chan struct{} // has one element while the store is being read
	latest  atomic.Pointer[keySet]
}

// keySet holds the keys of the store at a time.
type keySet struct {
	at   time.Time
	keys []SigningKey // newest first
}

// NewSigningKeys reads no key yet.
func NewSigningKeys(store KeyStore) *SigningKeys {
	return &SigningKeys{store: store, reading: make(chan struct{}, 1)}
}

// Sign signs claims with the newest key that this process can sign with, or with a new one if all are too old.
func (k *SigningKeys) Sign(ctx context.Context, claims Claims) (string, error) {
	set, err := k.since(ctx, time.Now().Add(-freshFor))
	if err != nil {
		return "", err
	}
	key, ok := set.signer()
	if !ok {
		if key, err = k.renew(ctx); err != nil {
			return "", err
		}
	}
	return key.Sign(claims)
}

// Public returns the public keys, for services that verify tokens.
func (k *SigningKeys) Public(ctx context.Context) ([]JWK, error) {
	set, err := k.since(ctx, time.Now().Add(-freshFor))
	if err != nil {
		return nil, err
	}
	list := make([]JWK, len(set.keys))
	for i, key := range set.keys {
		if list[i], err = key.JWK(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// NewVerifier returns a verifier of the tokens that Sign makes, in any process on the same store.
func (k *SigningKeys) NewVerifier(issuer, audience string) *TokenVerifier {
	return newVerifier(issuer, audience, func(ctx context.Context) jwt.Keyfunc {
		return func(unverified *jwt.Token) (any, error) {
			id, _ := unverified.Header["kid"].(string)
			return k.find(ctx, id)
		}
	}, "ES256")
}

var errUnknownKey = errors.New("no such key")

// find looks a key up, and reads the store again for an unknown one: another process may have added it.
func (k *SigningKeys) find(ctx context.Context, id string) (any, error) {
	now := time.Now()
	for _, since := range []time.Time{now.Add(-freshFor), now} {
		set, err := k.since(ctx, since)
		if err != nil {
			return nil, &sourceError{err}
		}
		if i := slices.IndexFunc(set.keys, func(key SigningKey) bool {
			return key.ID == id &&
				now.Sub(key.CreatedAt) < VerifyFor
		}); i >= 0 {
			return set.keys[i].Public, nil
		}
	}
	return nil, errUnknownKey
}

// since returns the keys that the store had at a time or later. One caller reads the store for all that wait, once a
// second at most.
func (k *SigningKeys) since(ctx context.Context, at time.Time) (*keySet, error) {
	if set := k.latest.Load(); set != nil && set.at.After(at) {
		return set, nil
	}
	if err := k.acquire(ctx); err != nil {
		return nil, err
	}
	defer k.release()
	set := k.latest.Load()
	if set != nil && set.at.After(at) {
		return set, nil
	}
	if set != nil {
		if err := lifecycle.Pause(ctx, readPause-time.Since(set.at)); err != nil {
			return nil, err
		}
	}
	return k.read(ctx)
}

// renew adds a key, unless another caller has just done so.
func (k *SigningKeys) renew(ctx context.Context) (SigningKey, error) {
	if err := k.acquire(ctx); err != nil {
		return SigningKey{}, err
	}
	defer k.release()
	set, err := k.read(ctx)
	if err != nil {
		return SigningKey{}, err
	}
	if key, ok := set.signer(); ok {
		return key, nil
	}
	key, err := NewSigningKey()
	if err != nil {
		return SigningKey{}, err
	}
	if err := k.store.AddKey(ctx, key); err != nil {
		return SigningKey{}, err
	}
	_, err = k.read(ctx)
	return key, err
}

func (k *SigningKeys) acquire(ctx context.Context) error {
	select {
	case k.reading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (k *SigningKeys) release() { <-k.reading }

// read reads the store; the caller holds reading.
func (k *SigningKeys) read(ctx context.Context) (*keySet, error) {
	at := time.Now()
	keys, err := k.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	set := &keySet{at, keys}
	k.latest.Store(set)
	return set, nil
}

// signer returns the newest key that signs in this process.
func (s *keySet) signer() (SigningKey, bool) {
	for _, key := range s.keys {
		if key.Private != nil && time.Since(key.CreatedAt) < SignFor {
			return key, true
		}
	}
	return SigningKey{}, false
}

// A SigningKey signs tokens of the built-in provider (ES256).
type SigningKey struct {
	ID        string // kid
	Public    *ecdsa.PublicKey
	Private   *ecdsa.PrivateKey // nil if this process cannot decrypt it: it still verifies
	CreatedAt time.Time
}

// NewSigningKey makes a key.
func NewSigningKey() (SigningKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return SigningKey{}, fmt.Errorf("make signing key: %w", err)
	}
	return SigningKey{ID: uuid.Must(uuid.NewV4()).String(), Public: &private.PublicKey, Private: private,
		CreatedAt: time.Now()}, nil
}

// Sign returns a token.
func (k SigningKey) Sign(claims Claims) (string, error) {
	unsigned := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	unsigned.Header["kid"] = k.ID
	text, err := unsigned.SignedString(k.Private)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return text, nil
}

// SigningKeyID returns the kid of a token, valid or not; "" if it has none.
func SigningKeyID(text string) string {
	unverified, _, err := jwt.NewParser().ParseUnverified(text, &Claims{})
	if err != nil {
		return ""
	}
	id, _ := unverified.Header["kid"].(string)
	return id
}

// JWK is the published form of a public key (RFC 7517, RFC 7518 §6.2).
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

// JWK returns the public key.
func (k SigningKey) JWK() (JWK, error) {
	point, err := k.Public.Bytes() // 4, x, y
	if err != nil {
		return JWK{}, fmt.Errorf("encode signing key %s: %w", k.ID, err)
	}
	half := len(point) / 2
	b64 := base64.RawURLEncoding
	return JWK{ID: k.ID, Type: "EC", Algorithm: "ES256", Use: "sig", Operations: []string{"verify"}, Curve: "P-256",
		X: b64.EncodeToString(point[1 : 1+half]), Y: b64.EncodeToString(point[1+half:])}, nil
}

// keyStore stores the signing keys in PostgreSQL, private keys encrypted.
type keyStore struct {
	db   *postgres.DB
	ring secret.Ring
	log  *slog.Logger
	warn sync.Once
}

// Keys returns all keys, newest first. A key that this process cannot decrypt only verifies.
func (s *keyStore) Keys(ctx context.Context) ([]SigningKey, error) {
	rows, err := s.db.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	keys := make([]SigningKey, len(rows))
	for i, row := range rows {
		public, err := x509.ParsePKIXPublicKey(row.Public)
		if err != nil {
			return nil, fmt.Errorf("read signing key %s: %w", row.ID, err)
		}
		keys[i] = SigningKey{ID: row.ID.String(), Public: public.(*ecdsa.PublicKey), CreatedAt: row.CreatedAt}
		if keys[i].Private, err = s.private(row); err != nil {
			s.warn.Do(func() {
				s.log.Warn("signing key not decrypted", "key", row.ID, "error", err,
					"next", "give this process the same ANSWERSCOPE_SECRET_KEYS as the others; "+
						"until then it signs with another key, which they accept")
			})
		}
	}
	return keys, nil
}

func (s *keyStore) private(row postgres.SigningKey) (*ecdsa.PrivateKey, error) {
	der, err := s.ring.Open(row.Private, sealedName(row.ID))
	if err != nil {
		return nil, err
	}
	return x509.ParseECPrivateKey(der)
}

// AddKey stores a key and deletes expired ones.
func (s *keyStore) AddKey(ctx context.Context, key SigningKey) error {
	public, err := x509.MarshalPKIXPublicKey(key.Public)
	if err != nil {
		return fmt.Errorf("encode signing key: %w", err)
	}
	private, err := x509.MarshalECPrivateKey(key.Private)
	if err != nil {
		return fmt.Errorf("encode signing key: %w", err)
	}
	id, err := uuid.FromString(key.ID)
	if err != nil {
		return fmt.Errorf("encode signing key: %w", err)
	}
	return s.db.AddSigningKey(ctx, postgres.SigningKey{ID: id, Public: public,
		Private: s.ring.Seal(private, sealedName(id))}, VerifyFor)
}

// sealedName binds a private key to its row.
func sealedName(id uuid.UUID) string { return "signing key " + id.String() }
