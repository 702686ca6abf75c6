// Package identity says who asks: the user behind a request, in which organization and role, and what the credential
// allows. Whatever reads a credential (an API key, a token, a session) makes one; the handlers behind it do not know
// which it was.
package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/problem"
)

// Identity is the caller of a request.
type Identity struct {
	UserID         uuid.UUID
	Email          string
	OrganizationID uuid.UUID
	Role           string    // one of the roles below
	KeyID          uuid.UUID // of the API key; nil for another credential
	Scopes         []string  // of the API key; empty for the default ones
}

// The roles of a user in their organization.
const (
	Viewer = "viewer"
	Member = "member"
	Admin  = "admin"
	Owner  = "owner"
)

// ranked are the roles, each of which may do what those before it may.
var ranked = []string{Viewer, Member, Admin, Owner}

// AtLeast is whether the caller has a role, or one above it. Nobody has a role that is not known.
func (i Identity) AtLeast(role string) bool {
	least := slices.Index(ranked, role)
	return least >= 0 && slices.Index(ranked, i.Role) >= least
}

// CallerID is the id that requests are counted by: that of the API key, or of the user who came without one.
func (i Identity) CallerID() uuid.UUID {
	if i.KeyID != uuid.Nil {
		return i.KeyID
	}
	return i.UserID
}

type contextKey struct{}

// NewContext returns a context that carries the caller.
func NewContext(ctx context.Context, caller Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, caller)
}

// FromContext is the caller that ctx carries. It panics where there is none: a handler without its middleware is a
// mistake in the source.
func FromContext(ctx context.Context) Identity { return ctx.Value(contextKey{}).(Identity) }

// findTimeout bounds the look-up of a caller. PostgreSQL may be silent: while its packets are dropped a statement ends
// only when TCP gives up, after a quarter of an hour.
const findTimeout = 3 * time.Second

var errSlow = problem.New(problem.Unavailable, "a database of this service did not answer in time; ask again in a moment")

// Find looks a caller up, whatever their credential. It is where every surface gets its deadline: a look-up that takes
// longer than three seconds is a problem of kind Unavailable.
func Find[T any](ctx context.Context, lookUp func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	found, err := lookUp(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("find caller: %w: %w", errSlow, err)
	}
	return found, err
}
