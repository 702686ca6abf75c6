package link

import (
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/page"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	invitePath  = auth.InvitePath
	resetPath   = "/reset"
	confirmPath = "/confirm"

	pageTimeout = 8 * time.Second // of a handler, which may wait for a slot to hash a password
	formLimit   = 16 << 10
)

var (
	// errGone is the page of every link that does not work, for any reason.
	errGone = problem.New(problem.Missing,
		"This link does not work. It was used, has expired, was replaced by a newer one, or lacks its end.")
	errForeign = problem.New(problem.Forbidden,
		"This form was sent by a page of another site. Open the link again.")
)

// An action is the button of a page. It returns the next page.
type action func() (page.Page, error)

// Mount adds the pages to a server.
func (l *Links) Mount(server *httpd.Server) {
	mount := func(path string, fromAnywhere bool, find func(c *fiber.Ctx) (page.Page, action, error)) {
		handle := httpd.Within(pageTimeout, func(c *fiber.Ctx) error {
			p, press, err := find(c)
			if err == nil && c.Method() == fiber.MethodPost {
				// Another site's page must not sign its visitor in as somebody else.
				if !fromAnywhere && !auth.FromHere(c) {
					return errForeign
				}
				p, err = press()
			}
			if errors.Is(err, postgres.ErrNotFound) {
				err = errGone
			}
			if err != nil {
				return err
			}
			return p.Send(c)
		})
		surface := server.Mount(httpd.Surface{
			Prefix: path, BodyLimit: formLimit, Secret: true, Error: auth.PageRefusal})
		surface.Get("/:token", handle)
		surface.Post("/:token", handle)
	}
	mount("/unsubscribe", true, l.unsubscribe) // mail programs have no page (RFC 8058)
	mount(confirmPath, false, l.confirm)
	if l.provider != nil {
		mount(invitePath, false, l.accept)
		mount(resetPath, false, l.reset)
	}
}

func tokenHash(c *fiber.Ctx) [32]byte { return hashOf(c.Params("token")) }

// accept makes the invited user a member and signs them in. It never sets the password of a user who exists: the
// inviter has the link too.
func (l *Links) accept(c *fiber.Ctx) (page.Page, action, error) {
	i, err := l.db.InvitationByLink(c.UserContext(), tokenHash(c))
	p := page.Page{Title: "Join " + i.Organization, Account: i.Email, Field: "Password", Button: "Join",
		Text: []string{"You are invited to " + i.Organization + " as " + i.Role + ", with the address " + i.Email + ".",
			"Choose a password, or enter yours if this address has an account here."}}
	proven, isProven := l.provider.Proven(c, i.Email)
	switch name := l.provider.OIDCName(); {
	case isProven:
		p.Field, p.Text[1] = "", "You have signed in with "+name+"."
	case name != "":
		p.Links = []page.Link{{Text: "Sign in with " + name, Address: auth.OIDCAddress(c.Path())}}
	}
	return p, func() (page.Page, error) {
		if !i.IsAllowed {
			return p, problem.New(problem.Forbidden, "Who invited you may not give the role %s any more.", i.Role)
		}
		if isProven {
			return page.Page{To: "/"}, l.provider.EnterInvited(c, proven, tokenHash(c))
		}
		var hash string
		// A wrong password and a weak one have one answer: an inviter who hands the link over, since no mail is sent,
		// does not learn from a weak one who has an account.
		password := formPassword(c)
		switch {
		case auth.CheckPassword(password, auth.MinPassword, i.Email) != nil:
			err = auth.ErrPassword
		case i.UserID.Valid:
			err = l.provider.VerifyPassword(c, i.PasswordHash, password)
		default:
			hash, err = l.provider.HashPassword(c.UserContext(), password)
		}
		if err != nil {
			return p.Refused(err)
		}
		user, err := l.db.AcceptInvitation(c.UserContext(), tokenHash(c), i, hash)
		if _, taken := errors.AsType[postgres.ErrConflict](err); taken {
			err = auth.ErrMember
		}
		if err == nil {
			err = l.provider.Enter(c, user, 0)
		}
		return page.Page{To: "/"}, err
	}, err
}

// formPassword reads the body alone: FormValue prefers the address, and unpacks forms of several parts.
func formPassword(c *fiber.Ctx) string { return string(c.Request().PostArgs().Peek("password")) }

// hash hashes the new password of a form; a weak one is a problem of kind Invalid.
func (l *Links) hash(c *fiber.Ctx, address string) (string, error) {
	password := formPassword(c)
	if err := auth.CheckPassword(password, auth.MinPassword, address); err != nil {
		return "", problem.New(problem.Invalid, "%s", err)
	}
	return l.provider.HashPassword(c.UserContext(), password)
}

// reset gives a user another password.
func (l *Links) reset(c *fiber.Ctx) (page.Page, action, error) {
	var a postgres.Account
	user, err := l.db.LinkSubject(c.UserContext(), postgres.ResetLink, tokenHash(c))
	if err == nil {
		a, err = l.db.Account(c.UserContext(), user, uuid.Nil)
	}
	p := page.Page{Title: "Choose a password", Account: a.Email, Field: "New password", Button: "Set password",
		Text: []string{"For " + a.Email + ". You are then signed out everywhere; API keys stay."}}
	return p, func() (page.Page, error) {
		hash, err := l.hash(c, a.Email)
		if err != nil {
			return p.Refused(err)
		}
		return page.Page{Title: "Password set", Text: []string{"You are signed out everywhere."},
				Links: []page.Link{{Text: "Sign in", Address: "/signin"}}},
			l.db.ResetPassword(c.UserContext(), tokenHash(c), a, hash,
				l.mail(a.Email, &feed.Link{Template: feed.PasswordChanged, At: time.Now()}))
	}, err
}

// confirm starts the mails of an address.
func (l *Links) confirm(c *fiber.Ctx) (page.Page, action, error) {
	var s postgres.Subscription
	id, err := l.db.LinkSubject(c.UserContext(), postgres.ConfirmationLink, tokenHash(c))
	if err == nil {
		s, err = l.db.Subscription(c.UserContext(), id)
	}
	return page.Page{Title: "Confirm address", Button: "Confirm",
			Text: []string{"Send mails about " + s.Subject + " to " + s.Address + "?"}},
		func() (page.Page, error) {
			return page.Page{Title: "Address confirmed", Text: []string{
					"Mails about " + s.Subject + " go to " + s.Address + ". Each has a link that stops them."}},
				l.db.ConfirmSubscription(c.UserContext(), tokenHash(c), id)
		}, err
}

// unsubscribe stops the mails of a subscription. Its id can do no more than that.
func (l *Links) unsubscribe(c *fiber.Ctx) (page.Page, action, error) {
	id := uuid.FromStringOrNil(c.Params("token")) // no subscription has the nil UUID
	s, err := l.db.Subscription(c.UserContext(), id)
	return page.Page{Title: "Unsubscribe", Button: "Unsubscribe",
			Text: []string{"Stop mails about " + s.Subject + " to " + s.Address + "?"}},
		func() (page.Page, error) {
			return page.Page{Title: "Unsubscribed",
					Text: []string{"No more mails about " + s.Subject + " go to " + s.Address + "."}},
				l.db.StopSubscription(c.UserContext(), id)
		}, err
}
