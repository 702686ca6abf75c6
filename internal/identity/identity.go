// Package identity says who asks: the user behind a request, in which organization and role, and what the credential
// allows. Whatever reads a credential (an API key, a token, a session) makes one; the handlers behind it do not know
// which it was.
package identity

import (
	"context"

	"github.com/gofrs/uuid/v5"
)

// Identity is the caller of a request.
type Identity struct {
	UserID         uuid.UUID
	Email          string
	OrganizationID uuid.UUID
	Role           string    // owner, admin, member or viewer
	KeyID          uuid.UUID // of the API key; nil for another credential
	Scopes         []string  // of the API key; empty for the default ones
}

type contextKey struct{}

// NewContext returns a context that carries the caller.
func NewContext(ctx context.Context, caller Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, caller)
}

// FromContext is the caller that ctx carries. It panics where there is none: a handler without its middleware is a
// mistake in the source.
func FromContext(ctx context.Context) Identity { return ctx.Value(contextKey{}).(Identity) }
