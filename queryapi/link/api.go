package link

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

const answerTimeout = 4 * time.Second // PostgreSQL may not answer

// MountAPI adds /invitations and /subscriptions, where admins invite and subscribe addresses. The handlers before them
// find the caller.
func (l *Links) MountAPI(router fiber.Router, before ...fiber.Handler) {
	route := func(add func(string, ...fiber.Handler) fiber.Router, path string, handle fiber.Handler) {
		add(path, append(slices.Clone(before), httpd.RequireAdmin, httpd.Within(answerTimeout, handle))...)
	}
	route(router.Post, "/subscriptions", l.postSubscription)
	if l.provider != nil {
		route(router.Post, "/invitations", l.postInvitation)
		route(router.Delete, "/invitations/:id", l.deleteInvitation)
	}
}

func checkEmail(field, address string) error {
	if !postgres.IsEmail(address) {
		return problem.New(problem.Invalid, "%s: want one address of at most 320 bytes, such as ana@example.org", field)
	}
	return nil
}

func (l *Links) postInvitation(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	var body struct{ Email, Role string }
	err := httpd.ReadJSON(c, &body, `{"email": address, "role": viewer, member, admin or owner}`)
	if err == nil {
		err = checkEmail("email", body.Email)
	}
	if err != nil {
		return err
	}
	if !(identity.Identity{Role: body.Role}).AtLeast(identity.Viewer) {
		return problem.New(problem.Invalid, "role: want viewer, member, admin or owner")
	}
	if !caller.AtLeast(body.Role) {
		return problem.New(problem.Forbidden, "role: want at most your own, %s", caller.Role)
	}
	invitation, err := l.Invite(c.UserContext(), postgres.NewInvitation{OrganizationID: caller.OrganizationID,
		Email: body.Email, Role: body.Role, By: caller.UserID}, caller.Email)
	if err != nil {
		return err
	}
	if invitation.Mailed { // who has the link is who the address is: the inviter must not
		invitation.URL = ""
	}
	return c.Status(http.StatusCreated).JSON(invitation)
}

func (l *Links) deleteInvitation(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	id := uuid.FromStringOrNil(c.Params("id")) // no invitation has the nil UUID
	err := l.db.RevokeInvitation(c.UserContext(), caller.OrganizationID, id, caller.UserID)
	if errors.Is(err, postgres.ErrNotFound) {
		return problem.New(problem.Missing, "there is no such open invitation")
	}
	if err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}

var errNoMail = problem.New(problem.Unavailable, "no mails are sent from here: ask the operator, who "+
	"sets ANSWERSCOPE_SMTP_URL and ANSWERSCOPE_SECRET_KEYS, or prints a link with `answerscope user reset`")

func (l *Links) postSubscription(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	body := struct {
		Address   string        `json:"address"`
		BrandID   uuid.NullUUID `json:"brand_id"`
		Events    []string      `json:"events"`
		DropsOnly bool          `json:"drops_only"`
	}{DropsOnly: true}
	err := httpd.ReadJSON(c, &body,
		`{"address": …}, and brand_id, events, drops_only if the default does not suit`)
	if err == nil {
		err = checkEmail("address", body.Address)
	}
	if err != nil {
		return err
	}
	if !l.cfg.Mail {
		return errNoMail
	}
	id, err := l.subscribe(c.UserContext(), postgres.NewAddress{OrganizationID: caller.OrganizationID,
		BrandID: body.BrandID, Address: body.Address, Events: body.Events, DropsOnly: body.DropsOnly}, caller.UserID)
	if err != nil {
		return err
	}
	return c.Status(http.StatusCreated).JSON(fiber.Map{"id": id})
}

// MountReset adds /reset to the surface of the dashboard, where anybody asks for another password. Every address gets
// the same answer.
func (l *Links) MountReset(dashboard fiber.Router) {
	dashboard.Post("/reset", func(c *fiber.Ctx) error {
		if !l.cfg.Mail {
			return errNoMail
		}
		var body struct{ Email string }
		err := errors.Join(auth.CheckOrigin(c), httpd.ReadJSON(c, &body, `{"email": address}`),
			checkEmail("email", body.Email))
		if err != nil {
			return err
		}
		err = l.clients.Take(c, l.provider.Client(c), time.Now())
		c.Response().Header.Del(fiber.HeaderRetryAfter) // the answer is one beyond the limit too
		if err == nil {
			select {
			case l.resets <- body.Email:
			default:
				l.log.Warn("password reset dropped", "next", "nothing, unless it repeats: then somebody asks for many")
			}
		}
		return c.Status(http.StatusAccepted).JSON(fiber.Map{
			"message": "If this address has an account here, a mail with a link is on its way. It works for an hour."})
	})
}
