// Package identity describes the caller of a request: user, organization, role, and the scopes of the credential. Code
// that reads a credential (an API key, a token, a session) makes an Identity; the handlers behind it do not know which
// credential it was.
package identity

import (
	"cmp"
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
	Scopes         []string  // of the API key or the connected app; empty for the default ones
	AppID          uuid.UUID // of the connected app's grant; nil for another credential
	LinkID         uuid.UUID // of the share link, which has no user; nil for another credential
}

// The roles of a user in their organization.
const (
	Viewer = "viewer"
	Member = "member"
	Admin  = "admin"
	Owner  = "owner"
)

// ranked lists the roles; each includes the rights of the roles before it.
var ranked = []string{Viewer, Member, Admin, Owner}

// AtLeast reports whether the caller has a role, or one above it; false for an unknown role.
func (i Identity) AtLeast(role string) bool {
	least := slices.Index(ranked, role)
	return least >= 0 && slices.Index(ranked, i.Role) >= least
}

// CallerID returns the id that requests are counted by: the share link's, or the user's, whose keys count together:
// anybody mints more of them.
func (i Identity) CallerID() uuid.UUID { return cmp.Or(i.LinkID, i.UserID) }

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

var errSlow = problem.New(problem.Unavailable,
	"a database of this service did not answer in time; ask again in a moment")

// Find looks a caller up within the deadline of every surface: a look-up that takes longer than three seconds is a
// problem of kind Unavailable.
func Find[T any](ctx context.Context, lookUp func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	caller, err := lookUp(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("find caller: %w: %w", errSlow, err)
	}
	return caller, err
}
