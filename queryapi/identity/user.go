package identity

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// userBody is a user as GoTrue writes them. Their address counts as confirmed: an operator has entered it.
type userBody struct {
	ID               uuid.UUID       `json:"id"`
	Audience         string          `json:"aud"`
	Role             string          `json:"role"`
	Email            string          `json:"email"`
	EmailConfirmedAt time.Time       `json:"email_confirmed_at"`
	Phone            string          `json:"phone"`
	ConfirmedAt      time.Time       `json:"confirmed_at"`
	LastSignInAt     *time.Time      `json:"last_sign_in_at,omitempty"`
	AppMetadata      appMetadata     `json:"app_metadata"`
	UserMetadata     json.RawMessage `json:"user_metadata"`
	Identities       []struct{}      `json:"identities"`
	CreatedAt        time.Time       `json:"created_at"`
	UpdatedAt        time.Time       `json:"updated_at"`
	IsAnonymous      bool            `json:"is_anonymous"`
}

type appMetadata struct {
	Provider       string    `json:"provider"`
	Providers      []string  `json:"providers"`
	OrganizationID uuid.UUID `json:"organization_id"`
}

func userBodyOf(a postgres.Account) userBody {
	return userBody{
		ID: a.ID, Audience: audience, Role: loggedInRole, Email: a.Email, EmailConfirmedAt: a.CreatedAt, ConfirmedAt: a.CreatedAt,
		LastSignInAt: a.LastSignInAt, AppMetadata: appMetadata{Provider: "email", Providers: []string{"email"}, OrganizationID: a.OrganizationID},
		UserMetadata: a.UserMetadata, Identities: []struct{}{}, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}

func (p *Provider) user(c *fiber.Ctx) error {
	found, err := p.tokens.resolve(c.UserContext(), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	return c.JSON(userBodyOf(found.Account))
}

// logout ends sessions of the caller: all, this one (local), or all others. It takes no body, and ignores one.
func (p *Provider) logout(c *fiber.Ctx) error {
	found, err := p.tokens.resolve(c.UserContext(), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	scope := c.Query("scope", postgres.AllSessions)
	switch scope {
	case postgres.AllSessions, postgres.ThisSession, postgres.OtherSessions:
	default:
		return &failure{http.StatusBadRequest, "validation_failed", "scope: want global, local or others"}
	}
	if err := p.db.EndSessions(c.UserContext(), found.ID, found.session, scope); err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}
