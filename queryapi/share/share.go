// Package share lets people without an account read some screens of a brand, by a link: its page at /share/{token}, the
// endpoints of package metrics at /share/api/v1, and /api/shares, where users make and revoke links.
//
// A link is looked up for each request, so a revoked one stops at once. The page sends its token in the header X-Share,
// because browsers drop cookies in frames of other sites; only a password, which goes without frames, has a cookie.
package share

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/queryapi/web"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	prefix      = "/share"
	apiPrefix   = prefix + "/api/v1"
	tokenPrefix = "shr_"
	tokenHeader = "X-Share"

	bodyLimit = 64 << 10
	timeout   = 4 * time.Second
	rateLimit = 20 // requests a second of one link, at most

	issuer      = "answerscope"
	audience    = "share" // of what the cookie holds, so that it is no access token
	sessionLife = 12 * time.Hour
	maxGuesses  = 10 // of a link's password that fail within guessWindow
	guessWindow = 5 * time.Minute
)

// endpoints are what each screen asks of /api/v1.
var endpoints = map[string][]string{
	"overview": {"filters", "visibility-summary", "visibility-trend", "entity-trend", "visibility-changes",
		"verdict-checks", "competitor-comparison"},
	"competitors": {"filters", "competitor-comparison", "entity-trend", "visibility-changes"},
	"sources":     {"filters", "citations", "source-matrix"},
	"prompts": {"filters", "prompt-performance", "prompt-matrix", "visibility-changes", "visibility-trend",
		"competitor-comparison", "citations"},
	"traffic":  {"filters", "ai-traffic", "ai-crawlers", "ai-pages"},
	"shopping": {"filters", "shopping-summary", "shopping-cards"},
	"answers":  {"filters", "visibility-summary", "answers", "answers/:id"},
}

// comparisons are parameters that choose days before the window, by endpoint. A link with fixed days has these values
// in their place; "" leaves the usual.
var comparisons = map[string]map[string]string{
	"visibility-changes": {"compare_days": ""},
	"prompt-performance": {"compare": "none"},
	"ai-traffic":         {"compare": "none"},
}

var (
	errNoLink = problem.New(problem.Missing, "this link does not work; ask whoever sent it for another one")
	errHidden = problem.New(problem.Missing, "this link does not show this")
	errLocked = problem.New(problem.Unauthenticated, "this link has a password: send it to POST /share/session")
	errWrong  = problem.New(problem.Forbidden, "wrong password")
)

// Links serves share links and their screens. It is safe for concurrent use.
type Links struct {
	base     string // address of this installation in browsers
	db       *postgres.DB
	provider *auth.Provider
	verifier *auth.TokenVerifier
	guesses  *auth.Attempts[uuid.UUID] // of passwords, by link
	limit    *httpd.CallerLimit
}

// New returns the links in db, whose addresses begin with base, each with so many requests a second at most; 0 is
// without limit. The provider signs the cookies of passwords.
func New(base string, perSecond int, db *postgres.DB, provider *auth.Provider) *Links {
	return &Links{
		base: base, db: db, provider: provider, verifier: provider.Keys().NewVerifier(issuer, audience),
		guesses: auth.NewAttempts[uuid.UUID](maxGuesses, guessWindow),
		limit:   httpd.NewCallerLimit(min(perSecond, rateLimit), time.Now),
	}
}

// Mount adds /share to a server: the document of pages, and the endpoints of api.
func (l *Links) Mount(server *httpd.Server, pages *web.Dashboard, api *metrics.API) {
	surface := server.Mount(httpd.Surface{Prefix: prefix, BodyLimit: bodyLimit, Compress: true, Secret: true,
		Error: auth.DashboardRefusal})
	surface.Use(func(c *fiber.Ctx) error { hide(c); return c.Next() })
	surface.Get("/link", httpd.Within(timeout, l.describe))
	surface.Post("/session", httpd.Within(timeout, l.unlock))
	api.MountAt(server, apiPrefix, l.guard)
	page := httpd.Within(timeout, func(c *fiber.Ctx) error { return l.page(c, pages) })
	surface.Get("/:token", page)
	surface.Get("/:token/*", page)
}

// hide keeps what a link shows out of caches and search engines, and its address out of the requests that pages send.
func hide(c *fiber.Ctx) {
	c.Set("X-Robots-Tag", "noindex, nofollow")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Vary(tokenHeader)
}

// page sends the document, for the pages of the link's origins to frame. Every token that does not work, and every
// screen that is not shared, gets one and the same page of status 404.
func (l *Links) page(c *fiber.Ctx, pages *web.Dashboard) error {
	link, err := l.find(c.UserContext(), c.Params("token"))
	screen, _, below := strings.Cut(c.Params("*"), "/")
	switch {
	case err == nil && (screen == "" || slices.Contains(link.Screens, screen)) && (!below || screen == "answers"):
		return pages.Send(c, http.StatusOK, link.EmbedOrigins...)
	case err == nil || errors.Is(err, errNoLink):
		return pages.Send(c, http.StatusNotFound)
	}
	return pages.SendUnavailable(c, err)
}

// find returns the link of a token.
func (l *Links) find(ctx context.Context, token string) (link postgres.ShareLink, err error) {
	hash, ok := auth.Parse(tokenPrefix, token)
	if !ok {
		return link, errNoLink
	}
	link, err = identity.Find(ctx, func(ctx context.Context) (postgres.ShareLink, error) {
		return l.db.ShareLink(ctx, hash)
	})
	if errors.Is(err, postgres.ErrNotFound) {
		err = errNoLink
	}
	return link, err
}

// open returns the link of a request's token, if its password, where it has one, was entered in this browser.
func (l *Links) open(c *fiber.Ctx) (postgres.ShareLink, error) {
	link, err := l.find(c.UserContext(), c.Get(tokenHeader))
	if err != nil || link.PasswordHash == "" {
		return link, err
	}
	claims, err := l.verifier.Verify(c.UserContext(), c.Cookies(cookieOf(link)))
	if kind, _ := problem.Of(err); kind == problem.Unauthenticated || err == nil && claims.Subject != link.ID.String() {
		err = errLocked
	}
	return link, err
}

// cookieOf names the cookie of a link's password: a browser may have opened several.
func cookieOf(link postgres.ShareLink) string { return "answerscope-share-" + link.ID.String() }

// unlock takes a link's password and sets its cookie.
func (l *Links) unlock(c *fiber.Ctx) error {
	link, err := l.find(c.UserContext(), c.Get(tokenHeader))
	if err != nil || link.PasswordHash == "" {
		return err
	}
	now := time.Now()
	if err := l.guesses.Take(c, link.ID, now); err != nil {
		return err
	}
	var body struct{ Password string }
	if json.Unmarshal(c.BodyRaw(), &body) != nil {
		return problem.New(problem.Invalid, `the body is no JSON object: want {"password": …}`)
	}
	matches, err := l.provider.Matches(c.UserContext(), link.PasswordHash, body.Password)
	if err == nil && !matches {
		err = errWrong
	}
	if err != nil {
		return err
	}
	l.guesses.GiveBack(link.ID, now)
	until := now.Add(sessionLife)
	value, err := l.provider.Keys().Sign(c.UserContext(),
		auth.NewClaims(issuer, audience, link.ID.String(), now, until))
	if err != nil {
		return err
	}
	c.Cookie(&fiber.Cookie{
		Name: cookieOf(link), Value: value, Path: prefix, MaxAge: int(sessionLife.Seconds()), Expires: until,
		Secure: strings.HasPrefix(l.base, "https://"), HTTPOnly: true, SameSite: fiber.CookieSameSiteStrictMode,
	})
	return c.SendStatus(http.StatusNoContent)
}

// describe answers GET /share/link: what a link shows.
func (l *Links) describe(c *fiber.Ctx) error {
	link, err := l.open(c)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{
		"title": link.Title, "screens": link.Screens, "filters": parametersOf(link, time.Now()),
		"brand": fiber.Map{"id": link.BrandID, "name": link.BrandName, "slug": link.BrandSlug},
	})
}

// guard admits requests for the endpoints of a link's screens, about its brand, with its filters.
func (l *Links) guard(c *fiber.Ctx) error {
	hide(c) // /api/v1 lets a cache keep what it may ask for again
	link, err := l.open(c)
	if err != nil {
		return err
	}
	if err := l.limit.Take(c, link.ID); err != nil {
		return err
	}
	endpoint, brand := strings.TrimPrefix(c.Route().Path, apiPrefix+"/"), c.Query("brand_id")
	if !slices.ContainsFunc(link.Screens, func(screen string) bool {
		return slices.Contains(endpoints[screen], endpoint)
	}) || brand != "" && !strings.EqualFold(brand, link.BrandID.String()) {
		return errHidden
	}
	if err := l.db.UseShareLink(c.UserContext(), link); err != nil {
		return err
	}
	if endpoint != "verdict-checks" { // it is of no brand
		parameters := parametersOf(link, time.Now())
		if endpoint == "ai-traffic" || endpoint == "ai-crawlers" { // which refuse them
			for _, name := range metrics.OfAnswers {
				delete(parameters, name)
			}
		}
		if parameters["date_from"] != "" {
			maps.Copy(parameters, comparisons[endpoint])
			if endpoint == "prompt-performance" && c.Query("sort_by") == "change" { // it compares too
				return errHidden
			}
		}
		parameters["brand_id"] = link.BrandID.String()
		uri := c.Context().URI()
		uri.SetQueryString(fixed(string(uri.QueryString()), parameters))
	}
	c.SetUserContext(identity.NewContext(c.UserContext(),
		identity.Identity{OrganizationID: link.OrganizationID, Role: identity.Viewer, LinkID: link.ID}))
	return c.Next()
}

// parametersOf returns the filters of a link as parameters of /api/v1.
func parametersOf(link postgres.ShareLink, now time.Time) map[string]string {
	parameters := link.Filters
	if days := daysOf(parameters[lastDays]); days > 0 {
		delete(parameters, lastDays)
		parameters["date_from"] = now.UTC().AddDate(0, 0, 1-days).Format(time.DateOnly)
		parameters["date_to"] = now.UTC().Format(time.DateOnly)
	}
	return parameters
}

// fixed replaces parameters of a query, and drops those without a value.
func fixed(query string, parameters map[string]string) string {
	pairs := slices.DeleteFunc(strings.Split(query, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		name, _ = url.QueryUnescape(name) // "" of one that is wrongly encoded, which names no parameter
		_, isFixed := parameters[name]
		return isFixed || pair == ""
	})
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if value := parameters[name]; value != "" {
			pairs = append(pairs, name+"="+url.QueryEscape(value))
		}
	}
	return strings.Join(pairs, "&")
}
