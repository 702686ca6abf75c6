package metrics

import (
	"context"

	"github.com/answerscope/answerscope/internal/identity"
)

// whoamiBody answers GET /api/v1/whoami: who the key speaks for. It is how a connection is tried.
type whoamiBody struct {
	UserID         string `json:"userId"`
	Email          string `json:"email"`
	OrganizationID string `json:"organizationId"`
}

func (a *API) whoami(_ context.Context, caller identity.Identity, _ *query) (any, error) {
	return whoamiBody{caller.UserID.String(), caller.Email, caller.OrganizationID.String()}, nil
}
