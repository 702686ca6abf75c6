package token

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

// A KeyStore keeps the signing keys of the built-in provider, which all processes share.
type KeyStore interface {
	Keys(ctx context.Context) ([]Key, error) // newest first
	AddKey(ctx context.Context, key Key) error
}

// How long a key signs, and verifies: a day longer than its last access token lasts. One that has signed the anon key
// is kept and published after that, for those who verify that by themselves.
const (
	SignFor   = 90 * 24 * time.Hour
	VerifyFor = SignFor + 25*time.Hour
)

const (
	fresh = 30 * time.Second // how long keys are not asked for again: a deleted one stays valid for so long
	pause = time.Second      // between two looks for a key that is not known
)

// Keys are the signing keys that a store has. It is safe for concurrent use.
type Keys struct {
	store KeyStore
	turn  chan struct{} // has one element while the store is being read
	seen  atomic.Pointer[keySet]
}

// keySet is what the store had at a time.
type keySet struct {
	at   time.Time
	keys []Key // newest first
}

// NewKeys reads no key yet.
func NewKeys(store KeyStore) *Keys { return &Keys{store: store, turn: make(chan struct{}, 1)} }

// Sign signs claims with the newest key of this process, or with a new one where none is young enough.
func (k *Keys) Sign(ctx context.Context, claims Claims) (string, error) {
	set, err := k.since(ctx, time.Now().Add(-fresh))
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

// Public are the public keys, for clients that verify tokens themselves.
func (k *Keys) Public(ctx context.Context) ([]JWK, error) {
	set, err := k.since(ctx, time.Now().Add(-fresh))
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

// NewVerifier verifies the tokens that Sign makes, in any process on the same store.
func (k *Keys) NewVerifier(issuer, audience string) *Verifier {
	return newVerifier(issuer, audience, func(ctx context.Context) jwt.Keyfunc {
		return func(unverified *jwt.Token) (any, error) {
			id, _ := unverified.Header["kid"].(string)
			return k.find(ctx, id)
		}
	}, "ES256")
}

var errUnknownKey = errors.New("no such key")

// find looks a key up, and once more in the store if it is not known: another process may have made it.
func (k *Keys) find(ctx context.Context, id string) (any, error) {
	now := time.Now()
	for _, since := range []time.Time{now.Add(-fresh), now} {
		set, err := k.since(ctx, since)
		if err != nil {
			return nil, &sourceError{err}
		}
		if i := slices.IndexFunc(set.keys, func(key Key) bool { return key.ID == id && now.Sub(key.CreatedAt) < VerifyFor }); i >= 0 {
			return set.keys[i].Public, nil
		}
	}
	return nil, errUnknownKey
}

// since returns what the store had at a time or later. The store is read by one at a time, for all who wait, and once a
// second at most.
func (k *Keys) since(ctx context.Context, at time.Time) (*keySet, error) {
	if set := k.seen.Load(); set != nil && set.at.After(at) {
		return set, nil
	}
	if err := k.take(ctx); err != nil {
		return nil, err
	}
	defer k.give()
	set := k.seen.Load()
	if set != nil && set.at.After(at) {
		return set, nil
	}
	if set != nil {
		if err := lifecycle.Pause(ctx, pause-time.Since(set.at)); err != nil {
			return nil, err
		}
	}
	return k.read(ctx)
}

// renew adds a key, unless another caller has just done so.
func (k *Keys) renew(ctx context.Context) (Key, error) {
	if err := k.take(ctx); err != nil {
		return Key{}, err
	}
	defer k.give()
	set, err := k.read(ctx)
	if err != nil {
		return Key{}, err
	}
	if key, ok := set.signer(); ok {
		return key, nil
	}
	key, err := NewKey()
	if err != nil {
		return Key{}, err
	}
	if err := k.store.AddKey(ctx, key); err != nil {
		return Key{}, err
	}
	_, err = k.read(ctx)
	return key, err
}

func (k *Keys) take(ctx context.Context) error {
	select {
	case k.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (k *Keys) give() { <-k.turn }

// read is for whose turn it is.
func (k *Keys) read(ctx context.Context) (*keySet, error) {
	at := time.Now()
	keys, err := k.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	set := &keySet{at, keys}
	k.seen.Store(set)
	return set, nil
}

// signer is the newest key that signs here.
func (s *keySet) signer() (Key, bool) {
	for _, key := range s.keys {
		if key.Private != nil && time.Since(key.CreatedAt) < SignFor {
			return key, true
		}
	}
	return Key{}, false
}
