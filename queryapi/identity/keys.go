package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/token"
	"github.com/answerscope/answerscope/sql/postgres"
)

// keyStore keeps the signing keys in PostgreSQL, their private halves encrypted.
type keyStore struct {
	db   *postgres.DB
	ring secret.Ring
	log  *slog.Logger
	warn sync.Once
}

// Keys are all, the newest first. One that was encrypted with another key verifies only.
func (s *keyStore) Keys(ctx context.Context) ([]token.Key, error) {
	rows, err := s.db.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	keys := make([]token.Key, len(rows))
	for i, row := range rows {
		public, err := x509.ParsePKIXPublicKey(row.Public)
		if err != nil {
			return nil, fmt.Errorf("read signing key %s: %w", row.ID, err)
		}
		keys[i] = token.Key{ID: row.ID.String(), Public: public.(*ecdsa.PublicKey), CreatedAt: row.CreatedAt}
		if keys[i].Private, err = s.private(row); err != nil {
			s.warn.Do(func() {
				s.log.Warn("signing key not decrypted", "key", row.ID, "error", err,
					"next", "give this process the same ANSWERSCOPE_SECRET_KEYS as the others; until then it signs with a key of its own, which they accept")
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

// AddKey keeps a key, and drops those that are of no use any more.
func (s *keyStore) AddKey(ctx context.Context, key token.Key) error {
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
	return s.db.AddSigningKey(ctx, postgres.SigningKey{ID: id, Public: public, Private: s.ring.Seal(private, sealedName(id))}, token.VerifyFor)
}

// Reseal encrypts every private key with the first key of ring, and returns how many there are. What ring cannot
// decrypt is left as it is, and named in the error.
func Reseal(ctx context.Context, db *postgres.DB, ring secret.Ring) (resealed int, err error) {
	rows, err := db.SigningKeys(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, row := range rows {
		private, err := ring.Open(row.Private, sealedName(row.ID))
		if err == nil {
			err = db.ResealSigningKey(ctx, row.ID, ring.Seal(private, sealedName(row.ID)))
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		resealed++
	}
	return resealed, errors.Join(errs...)
}

// sealedName binds a private key to its row.
func sealedName(id uuid.UUID) string { return "signing key " + id.String() }
