package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/queryapi/rest"
	"github.com/answerscope/answerscope/sql/postgres"
)

// DashboardPrefix is the prefix of the surfaces that take the dashboard's cookie. They are apart from those for tokens
// and keys, because /rest/v1 admits pages of other origins, which must not use the cookie.
const DashboardPrefix = "/app/api"

// The names of the dashboard's cookie: an installation uses one. Behind TLS, the prefix makes browsers require TLS and
// this host, so that no page of a sibling host can set another one.
const (
	cookieName   = "answerscope"
	secureCookie = "__Host-answerscope"
	cookieLife   = 30 * 24 * time.Hour // from its last use, as account_by_cookie.sql has it
)

// writeHeader needs a CORS preflight in a page of another origin, which is refused.
const writeHeader = "X-Answerscope"

var (
	errSignedOut = problem.New(problem.Unauthenticated, "signed out: sign in at /signin")
	errForeign   = problem.New(problem.Forbidden,
		"a write needs the header X-Answerscope: 1 and comes from a page of this origin")
)

// pageUser is the signed-in user, for the page.
type pageUser struct {
	UserID         uuid.UUID `json:"userId"`
	Email          string    `json:"email"`
	OrganizationID uuid.UUID `json:"organizationId"`
	Role           string    `json:"role"`
}

// MountDashboard adds the surface /app/api with /session, which signs in, returns the user and signs out, /user, which
// changes the password, and /members, which lists the users of the organization.
func (p *Provider) MountDashboard(server *httpd.Server) fiber.Router {
	surface := server.Mount(httpd.Surface{Prefix: DashboardPrefix, BodyLimit: bodyLimit, Error: DashboardRefusal})
	surface.Use(func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.Next()
	})
	surface.Post("/session", httpd.Within(answerTimeout, p.openDashboard))
	surface.Get("/session", func(c *fiber.Ctx) error {
		caller, err := p.Dashboard(c)
		if err != nil {
			return err
		}
		return c.JSON(pageUser{caller.UserID, caller.Email, caller.OrganizationID, caller.Role})
	})
	surface.Delete("/session", httpd.Within(answerTimeout, p.closeDashboard))
	surface.Put("/user", httpd.Within(answerTimeout, p.putDashboardUser))
	surface.Get("/members", p.RequireDashboard, httpd.Within(answerTimeout, p.members))
	return surface
}

func (p *Provider) members(c *fiber.Ctx) error {
	members, err := p.db.ListUsers(c.UserContext(), identity.FromContext(c.UserContext()).OrganizationID)
	if err != nil {
		return err
	}
	return c.JSON(members)
}

// openDashboard signs in by address and password, as /auth/v1/token does, and sets the cookie.
func (p *Provider) openDashboard(c *fiber.Ctx) error {
	if err := errors.Join(CheckOrigin(c), p.checkTLS(c)); err != nil {
		return err
	}
	user, err := p.authenticate(c)
	if err == nil {
		err = p.Enter(c, user.ID, 0)
	}
	if p.logSignIn(c, user.ID, "password", err); err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}

// Enter opens a session for a user and sets its cookie. The session ends after life, and without one when it was not
// used for 30 days.
func (p *Provider) Enter(c *fiber.Ctx, user uuid.UUID, life time.Duration) error {
	cookie := rand.Text()
	err := p.db.OpenDashboardSession(c.UserContext(), user, sha256.Sum256([]byte(cookie)), life)
	if errors.Is(err, postgres.ErrNotFound) { // disabled
		return errCredentials
	}
	if err == nil {
		setCookie(c, p.cookieName(), cookie, cmp.Or(life, cookieLife))
	}
	return err
}

// closeDashboard ends the session of every cookie of a request and removes the cookies. A browser that used this host
// with and without TLS has one of each name; if one session went on, signing out would leave its user signed in.
func (p *Provider) closeDashboard(c *fiber.Ctx) (err error) {
	if err := CheckOrigin(c); err != nil {
		return err
	}
	names := map[string]bool{p.cookieName(): true}
	c.Request().Header.VisitAllCookie(func(name, value []byte) {
		if name := string(name); name == cookieName || name == secureCookie {
			names[name] = true
			err = errors.Join(err, p.endSession(c.UserContext(), string(value)))
		}
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		setCookie(c, name, "", -time.Second)
	}
	return c.SendStatus(http.StatusNoContent)
}

// endSession ends the session of a cookie, if it has not ended.
func (p *Provider) endSession(ctx context.Context, cookie string) error {
	account, err := p.db.AccountByCookie(ctx, sha256.Sum256([]byte(cookie)))
	if errors.Is(err, postgres.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return p.db.EndSessions(ctx, account.ID, account.SessionID, postgres.ThisSession)
}

// Dashboard finds the user of a request's cookie, and renews the cookie. Without a session it is a problem of kind
// Unauthenticated; a write by a page of another origin is one of kind Forbidden.
func (p *Provider) Dashboard(c *fiber.Ctx) (identity.Identity, error) {
	account, err := p.dashboardAccount(c)
	return identityOf(account.Account), err
}

func (p *Provider) dashboardAccount(c *fiber.Ctx) (account postgres.DashboardAccount, err error) {
	if err := CheckOrigin(c); err != nil {
		return account, err
	}
	return p.accountOfCookie(c)
}

// Visitor is Dashboard for pages without a script, whose forms send no header.
func (p *Provider) Visitor(c *fiber.Ctx) (identity.Identity, error) {
	if c.Method() != http.MethodGet && !FromHere(c) {
		return identity.Identity{}, errForeign
	}
	account, err := p.accountOfCookie(c)
	return identityOf(account.Account), err
}

func (p *Provider) accountOfCookie(c *fiber.Ctx) (account postgres.DashboardAccount, err error) {
	cookie := c.Cookies(p.cookieName())
	if cookie == "" {
		return account, errSignedOut
	}
	account, err = identity.Find(c.UserContext(), func(ctx context.Context) (postgres.DashboardAccount, error) {
		return p.db.AccountByCookie(ctx, sha256.Sum256([]byte(cookie)))
	})
	if errors.Is(err, postgres.ErrNotFound) {
		return account, errSignedOut
	}
	if err == nil && account.Renewed {
		setCookie(c, p.cookieName(), cookie, cookieLife)
	}
	return account, err
}

// RequireDashboard admits requests with the cookie of a session, with its user as their identity.
func (p *Provider) RequireDashboard(c *fiber.Ctx) error { return require(p.Dashboard)(c) }

// forwardTokenLife is the lifetime of the access token with which a request is forwarded to another process.
const forwardTokenLife = time.Minute

// DashboardToken returns an access token for the user of a request's cookie, to forward the request with.
func (p *Provider) DashboardToken(c *fiber.Ctx) (string, error) {
	account, err := p.dashboardAccount(c)
	if err != nil {
		return "", err
	}
	return identity.Find(c.UserContext(), func(ctx context.Context) (string, error) {
		return p.ForwardToken(ctx, account.Account, account.SessionID)
	})
}

// ForwardToken returns an access token for a user, by a session of theirs or the grant of an app that may start runs.
// It stays within our processes.
func (p *Provider) ForwardToken(ctx context.Context, user postgres.Account, session uuid.UUID) (string, error) {
	return p.sign(ctx, user, session, time.Now().Add(forwardTokenLife))
}

// Client returns the network that a request comes from, by which attempts are limited.
func (p *Provider) Client(c *fiber.Ctx) netip.Prefix { return networkOf(p.cfg.Proxies.Client(c)) }

// DashboardCallers finds the callers of the dashboard's /rest/v1.
func (p *Provider) DashboardCallers(limit *httpd.CallerLimit) rest.Authenticator {
	return func(c *fiber.Ctx) (rest.Caller, error) {
		account, err := p.dashboardAccount(c)
		if err == nil {
			err = limit.Take(c, account.ID)
		}
		if err != nil {
			return rest.Caller{}, restRefusal(err)
		}
		return callerOf(account.Account)
	}
}

// CheckOrigin refuses a write that a page of this origin has not sent. Browsers send Sec-Fetch-Site through TLS and to
// localhost only; elsewhere Origin decides.
func CheckOrigin(c *fiber.Ctx) error {
	switch c.Method() {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if c.Get(writeHeader) != "1" || !FromHere(c) {
		return errForeign
	}
	return nil
}

// FromHere reports whether a page of this origin sent a request.
func FromHere(c *fiber.Ctx) bool {
	if site := c.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(c.Get(fiber.HeaderOrigin))
	return err == nil && origin.Host != "" && origin.Host == string(c.Request().Host())
}

// behindTLS reports whether browsers reach the dashboard through TLS, which ends at a proxy.
func (p *Provider) behindTLS() bool { return strings.HasPrefix(p.cfg.PublicURL, "https://") }

func (p *Provider) cookieName() string {
	if p.behindTLS() {
		return secureCookie
	}
	return cookieName
}

// checkTLS refuses a sign-in if the browser would drop its cookie, and warns if TLS is used without PublicURL.
func (p *Provider) checkTLS(c *fiber.Ctx) error {
	switch scheme, _, _ := strings.Cut(c.Get(fiber.HeaderOrigin), "://"); {
	case p.behindTLS() && scheme == "http":
		return problem.New(problem.Forbidden, "this page came without TLS: sign in at %s", p.cfg.PublicURL)
	case !p.behindTLS() && scheme == "https":
		p.warnTLS.Do(func() {
			p.log.Warn("dashboard used through TLS, and its cookie does not require TLS",
				"origin", c.Get(fiber.HeaderOrigin),
				"next", "set ANSWERSCOPE_PUBLIC_URL to the address that browsers use")
		})
	}
	return nil
}

func setCookie(c *fiber.Ctx, name, value string, life time.Duration) {
	c.Cookie(&fiber.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(life.Seconds()), Expires: time.Now().Add(life),
		Secure: strings.HasPrefix(name, secureCookie), HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode,
	})
}

// DashboardRefusal returns {"error": message}, with the status of /auth/v1 for a refused sign-in.
func DashboardRefusal(c *fiber.Ctx, err error) (status int, body any) {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.status, fiber.Map{"error": f.message}
	}
	return PlainRefusal(c, err)
}
