package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A key is "svc_", 30 random characters and 6 characters of checksum.
const (
	keyPrefix      = "svc_"
	randomLength   = 30
	checksumLength = 6
	displayLength  = 8 // characters that identify a key in lists
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// An APIKey is a new key. Text is returned once and stored nowhere.
type APIKey struct {
	Text   string
	Prefix string   // first characters, for display
	Hash   [32]byte // SHA-256 of Text, which is stored
}

// MintKey makes a new key.
func MintKey() APIKey { return Mint(keyPrefix) }

// Mint makes a key of 178 random bits with another prefix.
func Mint(prefix string) APIKey {
	text := prefix + randomText(randomLength)
	text += checksum(text[len(prefix):])
	return APIKey{Text: text, Prefix: text[:displayLength], Hash: sha256.Sum256([]byte(text))}
}

// IsKey reports whether a credential has the prefix of a key.
func IsKey(credential string) bool { return strings.HasPrefix(credential, keyPrefix) }

// ParseKey returns the hash by which a key is stored; false for a text that is not a key, such as one with a typo.
func ParseKey(text string) (hash [32]byte, ok bool) { return Parse(keyPrefix, text) }

// Parse is ParseKey for keys with another prefix.
func Parse(prefix, text string) (hash [32]byte, ok bool) {
	body, prefixed := strings.CutPrefix(text, prefix)
	if !prefixed || len(body) != randomLength+checksumLength || strings.Trim(body, base62) != "" ||
		checksum(body[:randomLength]) != body[randomLength:] {
		return hash, false
	}
	return sha256.Sum256([]byte(text)), true
}

func randomText(n int) string {
	text := make([]byte, n)
	for i := range text {
		digit, err := rand.Int(rand.Reader, big.NewInt(int64(len(base62))))
		if err != nil {
			panic(err) // rand.Reader does not fail
		}
		text[i] = base62[digit.Int64()]
	}
	return string(text)
}

// checksum returns the CRC-32 (IEEE) of text in base 62, the highest digit first.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	var digits [checksumLength]byte
	for i := checksumLength - 1; i >= 0; i-- {
		digits[i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(digits[:])
}

// The scopes of a key.
const (
	MetricsRead   = "metrics:read"   // read /api/v1
	TrackingWrite = "tracking:write" // start tracking jobs
)

var allScopes = []string{MetricsRead, TrackingWrite}

// leastRole holds the role that a key's user needs for a scope beyond reading: a key never exceeds its user's rights.
var leastRole = map[string]string{TrackingWrite: identity.Member}

// CheckScopes returns an error for an unknown scope of a new key. No scopes mean metrics:read.
func CheckScopes(scopes []string) error {
	for _, scope := range scopes {
		if !slices.Contains(allScopes, scope) {
			return fmt.Errorf("scope %q: want some of %s", scope, strings.Join(allScopes, ", "))
		}
	}
	return nil
}

// CheckRole returns a problem of kind Forbidden for a scope that exceeds a user's role.
func CheckRole(role string, scopes ...string) error {
	for _, scope := range scopes {
		if least, ok := leastRole[scope]; ok && !(identity.Identity{Role: role}).AtLeast(least) {
			return problem.New(problem.Forbidden, "the scope %s is not for a %s: want the role %s or one above it",
				scope, role, least)
		}
	}
	return nil
}

// effective returns the scopes of a key, the default one if it names none.
func effective(scopes []string) []string {
	if len(scopes) == 0 {
		return []string{MetricsRead}
	}
	return scopes
}

// errKey serves every key that does not work, so that a caller cannot learn which keys exist or existed.
var errKey = problem.New(problem.Unauthenticated, "missing or invalid API key; send Authorization: Bearer svc_…")

// errNotKey does not reveal whether the token is valid.
var errNotKey = problem.New(problem.Unauthenticated,
	"no access token is taken here: send Authorization: Bearer and an API key, svc_…")

const (
	maxPendingUses = 1024 // uses that wait to be recorded; more are dropped
	recordTimeout  = 5 * time.Second
)

// A KeyResolver resolves keys by a query for each request: a revoked key stops working at once, in every process. It is
// safe for concurrent use.
type KeyResolver struct {
	db   *postgres.DB
	uses chan uuid.UUID
	log  *slog.Logger
}

// NewKeyResolver returns a KeyResolver that works before Run, but records no uses.
func NewKeyResolver(db *postgres.DB, log *slog.Logger) *KeyResolver {
	return &KeyResolver{db: db, uses: make(chan uuid.UUID, maxPendingUses), log: log}
}

// Resolve returns the user of the key in an Authorization header. A missing, malformed, unknown, revoked or expired
// key, and a key of an inactive user, are the same problem of kind Unauthenticated.
func (r *KeyResolver) Resolve(ctx context.Context, header string) (identity.Identity, error) {
	credential := httpd.Bearer(header)
	if !IsKey(credential) && strings.Count(credential, ".") == 2 { // the form of a JSON Web Token
		return identity.Identity{}, errNotKey
	}
	hash, ok := ParseKey(credential)
	if !ok {
		return identity.Identity{}, errKey
	}
	holder, err := identity.Find(ctx, func(ctx context.Context) (postgres.KeyHolder, error) {
		return r.db.ResolveKey(ctx, hash)
	})
	if errors.Is(err, postgres.ErrNotFound) {
		return identity.Identity{}, errKey
	}
	if err != nil {
		return identity.Identity{}, fmt.Errorf("resolve key: %w", err)
	}
	if holder.UseDue {
		select {
		case r.uses <- holder.KeyID:
		default:
		}
	}
	return identity.Identity{
		UserID: holder.UserID, Email: holder.Email, OrganizationID: holder.OrganizationID, Role: holder.Role,
		KeyID: holder.KeyID, Scopes: holder.Scopes,
	}, nil
}

// Require admits requests with a working key of a scope, with the key's user as their identity. Others end in a problem
// of kind Unauthenticated (401 with WWW-Authenticate) or Forbidden.
func (r *KeyResolver) Require(scope string) fiber.Handler {
	return require(func(c *fiber.Ctx) (identity.Identity, error) {
		caller, err := r.Resolve(c.UserContext(), c.Get(fiber.HeaderAuthorization))
		if err != nil {
			return caller, err
		}
		if !slices.Contains(effective(caller.Scopes), scope) {
			return caller, problem.New(problem.Forbidden,
				"the key lacks the scope %s: want one that `answerscope key create --scope %s` makes", scope, scope)
		}
		return caller, CheckRole(caller.Role, scope)
	})
}

// require returns the middleware that admits requests whose caller it finds, and sets the caller as their identity.
func require(find func(*fiber.Ctx) (identity.Identity, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		caller, err := find(c)
		if err != nil {
			return err
		}
		c.SetUserContext(identity.NewContext(c.UserContext(), caller))
		return c.Next()
	}
}

// Run records when keys were used, to the minute and beside the requests, until ctx is cancelled. A use that cannot be
// recorded is dropped.
func (r *KeyResolver) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case key := <-r.uses:
			keys := []uuid.UUID{key}
			for range len(r.uses) {
				keys = append(keys, <-r.uses)
			}
			r.record(ctx, keys)
		}
	}
}

func (r *KeyResolver) record(ctx context.Context, keys []uuid.UUID) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	if err := r.db.TouchKeys(ctx, keys); err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		r.log.Warn("uses of keys not recorded", "keys", len(keys), "error", err,
			"next", "nothing: only the time of a key's last use is lost; check postgres if it goes on")
	}
}
