package share

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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

// Screens are what a link may show; the first three are the default.
var Screens = web.Shareable

const (
	defaultScreens = 3
	defaultDays    = 90 // of a link, unless it says another end
	minPassword    = 8
	lastDays       = "last_days" // a filter: a window that ends today
	maxLastDays    = 731
	maxOrigins     = 5
)

// A Draft is a link to be made, as its maker enters it.
type Draft struct {
	postgres.NewShareLink
	Filters  map[string]any `json:"filters"` // texts, numbers and bools
	Password string         `json:"password"`
}

// NewDraft returns a draft of a user's link, uuid.Nil for the command line, with the default end.
func NewDraft(organization, user uuid.UUID, now time.Time) Draft {
	return Draft{NewShareLink: postgres.NewShareLink{
		OrganizationID: organization, CreatedBy: user, ExpiresAt: new(now.AddDate(0, 0, defaultDays))}}
}

var originForm = regexp.MustCompile(`^https://[a-z0-9.-]+(:[0-9]+)?$`)

// Add makes a link and returns its id and its path, which holds the token. A problem names every mistake of the draft.
func Add(ctx context.Context, db *postgres.DB, d Draft, now time.Time) (id uuid.UUID, path string, err error) {
	d.Title = strings.TrimSpace(d.Title)
	if len(d.Screens) == 0 {
		d.Screens = Screens[:defaultScreens]
	}
	if d.NewShareLink.Filters, err = d.check(now); err != nil {
		return id, "", err
	}
	if d.Password != "" {
		d.PasswordHash = auth.HashPassword(d.Password)
	}
	minted := auth.Mint(tokenPrefix)
	d.Hash = minted.Hash
	id, err = db.AddShareLink(ctx, d.NewShareLink)
	if errors.Is(err, postgres.ErrNotFound) {
		err = problem.New(problem.Missing, "brand_id: no such brand in your organization")
	}
	return id, prefix + "/" + minted.Text, err
}

// check returns the filters as texts, or a problem that names every mistake.
func (d Draft) check(now time.Time) (filters map[string]string, err error) {
	var mistakes []string
	want := func(right bool, message string) {
		if !right {
			mistakes = append(mistakes, message)
		}
	}
	want(d.Title == "" || postgres.IsName(d.Title),
		fmt.Sprintf("title: want at most %d bytes without control characters", postgres.MaxName))
	unknown := func(screen string) bool { return !slices.Contains(Screens, screen) }
	want(!slices.ContainsFunc(d.Screens, unknown), "screens: want some of "+strings.Join(Screens, ", "))
	foreign := func(origin string) bool { return !originForm.MatchString(origin) }
	want(len(d.EmbedOrigins) <= maxOrigins && !slices.ContainsFunc(d.EmbedOrigins, foreign),
		"embed_origins: want at most 5 origins such as https://example.com, in lower case and without a path")
	want(d.ExpiresAt == nil || d.ExpiresAt.After(now), "expires_at: want a time to come, or null for never")
	want(d.Password == "" || len(d.EmbedOrigins) == 0,
		"password: a frame of another site takes none: leave out password or embed_origins")
	if d.Password != "" && auth.CheckPassword(d.Password, minPassword, d.Title) != nil {
		mistakes = append(mistakes, "password: want at least 8 characters that are hard to guess, such as some words")
	}
	filters, parameters := map[string]string{}, url.Values{}
	for name, value := range d.Filters {
		switch value.(type) {
		case string, bool, float64:
			filters[name] = fmt.Sprint(value)
		default:
			want(false, fmt.Sprintf("filters: %.64q: want a text, a number, true or false", name))
			continue
		}
		if name != lastDays {
			parameters.Set(name, filters[name])
		}
	}
	if days, ok := filters[lastDays]; ok {
		want(daysOf(days) > 0 && !parameters.Has("date_from") && !parameters.Has("date_to"),
			"filters: last_days: want 1 to 731, in place of date_from and date_to")
	} else {
		want(parameters.Has("date_from") == parameters.Has("date_to"),
			"filters: want both of date_from and date_to, or none")
	}
	if err := metrics.CheckFilters(parameters, now); err != nil {
		want(false, "filters: "+err.Error())
	}
	want(filters["platform"] == "" || len(d.Screens) == 1 || !slices.Contains(d.Screens, "traffic"),
		"filters: platform is of answers, and visits have others: share traffic by a link of its own")
	if len(mistakes) > 0 {
		return nil, problem.New(problem.Invalid, "%s", strings.Join(mistakes, "; "))
	}
	return filters, nil
}

// daysOf reads last_days; 0 where it is none.
func daysOf(text string) int {
	days, err := strconv.Atoi(text)
	if err != nil || days < 1 || days > maxLastDays {
		return 0
	}
	return days
}

// MountManager adds /api/shares to a router. The handlers before find the caller.
func (l *Links) MountManager(router fiber.Router, before ...fiber.Handler) {
	router.Post("", append(slices.Clone(before), httpd.Within(timeout, l.add))...)
	router.Delete("/:id", append(slices.Clone(before), httpd.Within(timeout, l.revoke))...)
}

// add makes a link. Only its response has the address.
func (l *Links) add(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	if !caller.AtLeast(identity.Member) {
		return problem.New(problem.Forbidden, "a viewer shares nothing: want the role member or one above it")
	}
	draft := NewDraft(caller.OrganizationID, caller.UserID, time.Now())
	err := httpd.ReadJSON(c, &draft, `{"brand_id": UUID}, and as needed "title" and "password", texts, "screens" and `+
		`"embed_origins", lists of texts, "filters", an object, "expires_at", a time or null`)
	if err != nil {
		return err
	}
	id, path, err := Add(c.UserContext(), l.db, draft, time.Now())
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(http.StatusCreated).JSON(fiber.Map{"id": id, "url": l.base + path})
}

// revoke ends a link; a revoked one stays revoked.
func (l *Links) revoke(c *fiber.Ctx) error {
	caller := identity.FromContext(c.UserContext())
	manager := postgres.KeyManager{UserID: caller.UserID, OrganizationID: caller.OrganizationID,
		Everyone: caller.AtLeast(identity.Admin)}
	id := uuid.FromStringOrNil(c.Params("id")) // no link has the nil UUID
	err := l.db.RevokeManagedShareLink(c.UserContext(), manager, id)
	if errors.Is(err, postgres.ErrNotFound) {
		return problem.New(problem.Missing,
			"there is no such link, or it is not yours to revoke: want an id of /rest/v1/share_links")
	}
	if err != nil {
		return err
	}
	return c.SendStatus(http.StatusNoContent)
}
