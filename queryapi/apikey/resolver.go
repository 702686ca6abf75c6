package apikey

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Identity is whom a key stands for.
type Identity struct {
	UserID         uuid.UUID
	Email          string
	OrganizationID uuid.UUID
	KeyID          uuid.UUID
}

// refused is one error for every key that does not work, so that nobody learns
// which keys there are or were.
var refused = problem.New(problem.Unproven, "missing or invalid API key; send Authorization: Bearer svc_…")

const (
	waiting   = 1024            // uses that may wait to be noted; more are forgotten
	touchTime = 5 * time.Second // for noting them
)

// A Resolver resolves keys, asking the database each time: a revoked key stops
// working at once, everywhere. It is safe for concurrent use.
type Resolver struct {
	db   *postgres.DB
	used chan uuid.UUID
	log  *slog.Logger
}

// New returns a Resolver that works before Run, but notes no uses.
func New(db *postgres.DB, log *slog.Logger) *Resolver {
	return &Resolver{db: db, used: make(chan uuid.UUID, waiting), log: log}
}

// Resolve finds whom the Authorization header of a request speaks for. A missing,
// malformed, unknown, revoked or expired key, or one of an inactive user, is the
// same problem, of kind Unproven.
func (r *Resolver) Resolve(ctx context.Context, header string) (Identity, error) {
	scheme, text, _ := strings.Cut(strings.TrimSpace(header), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Identity{}, refused
	}
	hash, ok := Parse(strings.TrimSpace(text))
	if !ok {
		return Identity{}, refused
	}
	holder, err := r.db.ResolveKey(ctx, hash)
	if errors.Is(err, postgres.ErrNotFound) {
		return Identity{}, refused
	}
	if err != nil {
		return Identity{}, fmt.Errorf("resolve key: %w", err)
	}
	if holder.Stale {
		select {
		case r.used <- holder.KeyID:
		default:
		}
	}
	return Identity{holder.UserID, holder.Email, holder.OrganizationID, holder.KeyID}, nil
}

// Run notes when keys were used, to the minute and off the path of requests, until
// ctx is cancelled. A use that cannot be noted is forgotten.
func (r *Resolver) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case key := <-r.used:
			r.touch(ctx, append(r.drain(), key))
		}
	}
}

func (r *Resolver) drain() []uuid.UUID {
	var used []uuid.UUID
	for {
		select {
		case key := <-r.used:
			used = append(used, key)
		default:
			return used
		}
	}
}

func (r *Resolver) touch(ctx context.Context, used []uuid.UUID) {
	ctx, cancel := context.WithTimeout(ctx, touchTime)
	defer cancel()
	if err := r.db.TouchKeys(ctx, used); err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		r.log.Warn("uses of keys not noted", "keys", len(used), "error", err, "next", "nothing: only when a key was last used is not known; see postgres if it goes on")
	}
}
