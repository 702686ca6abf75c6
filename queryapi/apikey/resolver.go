package apikey

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// refused is one error for every key that does not work, so that a caller cannot learn which keys exist or existed.
var refused = problem.New(problem.Unauthenticated, "missing or invalid API key; send Authorization: Bearer svc_…")

// errToken does not say whether the token is valid.
var errToken = problem.New(problem.Unauthenticated, "no access token is taken here: send Authorization: Bearer and an API key, svc_…")

const (
	maxPendingUses = 1024            // uses that may wait to be recorded; more are dropped
	recordTimeout  = 5 * time.Second // for recording them
)

// A Resolver resolves keys by asking the database each time: a revoked key stops working at once, in every process. It
// is safe for concurrent use.
type Resolver struct {
	db   *postgres.DB
	used chan uuid.UUID
	log  *slog.Logger
}

// New returns a Resolver that works before Run, but records no uses.
func New(db *postgres.DB, log *slog.Logger) *Resolver {
	return &Resolver{db: db, used: make(chan uuid.UUID, maxPendingUses), log: log}
}

// Resolve finds the user of the key in an Authorization header. A missing, malformed, unknown, revoked or expired key,
// or one of an inactive user, is the same problem, of kind Unauthenticated; so is an access token, which is told that
// it is none.
func (r *Resolver) Resolve(ctx context.Context, header string) (identity.Identity, error) {
	credential := httpd.Bearer(header)
	if !IsKey(credential) && strings.Count(credential, ".") == 2 { // the form of a JSON Web Token
		return identity.Identity{}, errToken
	}
	hash, ok := Parse(credential)
	if !ok {
		return identity.Identity{}, refused
	}
	holder, err := identity.Find(ctx, func(ctx context.Context) (postgres.KeyHolder, error) { return r.db.ResolveKey(ctx, hash) })
	if errors.Is(err, postgres.ErrNotFound) {
		return identity.Identity{}, refused
	}
	if err != nil {
		return identity.Identity{}, fmt.Errorf("resolve key: %w", err)
	}
	if holder.UseDue {
		select {
		case r.used <- holder.KeyID:
		default:
		}
	}
	return identity.Identity{
		UserID: holder.UserID, Email: holder.Email, OrganizationID: holder.OrganizationID, Role: holder.Role,
		KeyID: holder.KeyID, Scopes: holder.Scopes,
	}, nil
}

// Require lets only requests with a working key of that scope pass, with the key's user as their identity; the others
// end in a problem of kind Unauthenticated, which the edge answers with 401 and WWW-Authenticate, or of kind Forbidden.
func (r *Resolver) Require(scope string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		caller, err := r.Resolve(c.UserContext(), c.Get(fiber.HeaderAuthorization))
		if err != nil {
			return err
		}
		if err := checkScope(caller, scope); err != nil {
			return err
		}
		c.SetUserContext(identity.NewContext(c.UserContext(), caller))
		return c.Next()
	}
}

// Run records when keys were used, to the minute and beside the requests, until ctx is cancelled. A use that cannot be
// recorded is dropped.
func (r *Resolver) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case key := <-r.used:
			used := []uuid.UUID{key}
			for range len(r.used) {
				used = append(used, <-r.used)
			}
			r.record(ctx, used)
		}
	}
}

func (r *Resolver) record(ctx context.Context, used []uuid.UUID) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	if err := r.db.TouchKeys(ctx, used); err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		r.log.Warn("uses of keys not recorded", "keys", len(used), "error", err,
			"next", "nothing: only the time of a key's last use is lost; check postgres if it goes on")
	}
}
