package auth

import (
	"errors"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// putUser changes the caller's password, as GoTrue does where it requires the current one, and nothing else.
func (p *Provider) putUser(c *fiber.Ctx) error {
	caller, err := p.tokens.account(c.UserContext(), c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return err
	}
	if err := p.changePassword(c, caller.Account, caller.session); err != nil {
		return err
	}
	return c.JSON(userBodyOf(caller.Account))
}

// putDashboardUser is putUser for the page.
func (p *Provider) putDashboardUser(c *fiber.Ctx) error {
	account, err := p.dashboardAccount(c)
	if err != nil {
		return err
	}
	if err := p.changePassword(c, account.Account, account.SessionID); err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}

// changePassword sets the password of a request whose current one is right, and ends the account's other sessions.
func (p *Provider) changePassword(c *fiber.Ctx, a postgres.Account, session uuid.UUID) error {
	var body struct {
		Password        string
		CurrentPassword string `json:"current_password"`
	}
	switch err := decode(c, &body); {
	case err != nil:
		return err
	case body.Password == "":
		return &failure{http.StatusBadRequest, "validation_failed",
			"want password, the new one, and current_password: nothing else of a user is changed here"}
	case body.CurrentPassword == "":
		return &failure{http.StatusBadRequest, "current_password_required",
			"current_password: want the current password"}
	}
	if err := CheckPassword(body.Password, MinPassword, a.Email); err != nil {
		return &failure{http.StatusUnprocessableEntity, "weak_password", err.Error()}
	}
	user, err := p.db.UserByEmail(c.UserContext(), a.Email)
	if err != nil {
		return err
	}
	switch err := p.VerifyPassword(c, user.PasswordHash, body.CurrentPassword); {
	case errors.Is(err, ErrPassword):
		return errCredentials
	case err != nil:
		return err
	}
	hash, err := p.HashPassword(c.UserContext(), body.Password)
	if err != nil {
		return err
	}
	if err := p.db.ChangePassword(c.UserContext(), a.Email, hash, session); err != nil {
		return err
	}
	p.log.Info("password changed", "user", a.ID, "client", p.Client(c))
	return nil
}
