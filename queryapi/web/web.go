// Package web serves the dashboard: one document for all its addresses, whose script shows the screen. What it shows
// comes from /app/api: the surfaces of this service, with the cookie as the credential (package identity,
// dashboard.go).
//
// The script is written in TypeScript with Preact and bundled by `make page`; served/ has the result, which is
// committed, so that Go alone builds the binary. A test says when it is not of the sources. In page/:
//
//   - route.ts is the address: path and query as signals, go to change them. All state of a screen is in the address.
//   - api.ts is the only file that asks: useAnswer for what is shown, write for changes, after which all is asked again.
//     It turns errors into words, and a lost session into a sign-in that comes back.
//   - bodies.ts has the shapes of bodies, format.ts writes figures. The page computes none: it shows what the API answers.
//   - parts/ has what screens are made of: Screen and Frame, FilterBar, Figure with interval and n, Card, Table with
//     Pages, Trend, Dialog, FormDialog and Confirm for a write, Field, useAction for another form, Shown for an answer that
//     is awaited, Empty for the next step.
//   - screens/ has a file for each screen. style/tokens.css names every colour and distance, for both themes.
//
// A new screen of a brand is a file in screens/, a line in screens/list.ts, in the table of main.tsx and in screens of
// web.go, and a line in isAccessible of internal/system/dashboard_access_test.go. What it shows is compared with the API's
// bodies in dashboard_screens_test.go, its tables in dashboard_rows_test.go. Texts of people and of answers are
// children of elements, and addresses pass through parts/link.tsx.
package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/queryapi/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

//go:generate go run ./bundle

//go:embed served
var served embed.FS

// screens are those of a brand, below /brands/{slug}.
var screens = []string{"", "competitors", "prompts", "answers", "sources", "traffic", "shopping", "tracking", "settings"}

// policy lets the document load what this host serves, and nothing else: no script of its own, no other host, no frame.
const policy = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// pageTimeout bounds what a page asks before the document is sent. A database may be silent.
const pageTimeout = 4 * time.Second

// A Dashboard is the pages. It is safe for concurrent use.
type Dashboard struct {
	db        *postgres.DB
	warehouse *clickhouse.Conn
	provider  *identity.Provider
	document  []byte
}

// New returns the pages for the users of a provider.
func New(db *postgres.DB, warehouse *clickhouse.Conn, provider *identity.Provider) *Dashboard {
	return &Dashboard{db: db, warehouse: warehouse, provider: provider, document: document()}
}

// Mount adds the pages and what they load to a server. What they show is below identity.DashboardPrefix.
func (d *Dashboard) Mount(server *httpd.Server) {
	mountAssets(server)
	server.App.Get("/signin", d.signIn)
	for _, page := range []string{"/", "/settings", "/brands/:slug", "/brands/:slug/*"} {
		server.App.Get(page, httpd.Within(pageTimeout, d.page))
	}
}

// MountElsewhere says at the dashboard's address that nobody can sign in here, because tokens are another issuer's.
func MountElsewhere(server *httpd.Server) {
	server.App.Get("/", func(c *fiber.Ctx) error {
		return c.SendString("answerscope: the dashboard is for users of the built-in identity provider, which does not run here; docs/auth.md says how to have it. /api/v1 answers.\n")
	})
}

func (d *Dashboard) signIn(c *fiber.Ctx) error { return d.send(c, http.StatusOK) }

// page sends the document with the status of the address; without a session it redirects to /signin. The document is
// the same for all addresses: its script shows the screen.
func (d *Dashboard) page(c *fiber.Ctx) error {
	caller, err := d.provider.Dashboard(c)
	if kind, _ := problem.Of(err); err != nil && kind == problem.Unauthenticated {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.Redirect("/signin?next="+url.QueryEscape(string(c.Request().URI().RequestURI())), http.StatusSeeOther)
	}
	if err != nil {
		return d.away(c, err)
	}
	slug, rest := c.Params("slug"), c.Params("*")
	if slug == "" {
		return d.send(c, http.StatusOK)
	}
	if slug, err = url.PathUnescape(slug); err != nil || !isScreen(rest) || !utf8.ValidString(slug) || strings.ContainsRune(slug, 0) {
		return d.send(c, http.StatusNotFound)
	}
	exists, err := d.exists(c.UserContext(), caller.OrganizationID, slug, rest)
	switch {
	case err != nil:
		return d.away(c, err)
	case !exists:
		return d.send(c, http.StatusNotFound)
	}
	return d.send(c, http.StatusOK)
}

// exists says whether an organization has the brand of an address, and the answer that it may name.
func (d *Dashboard) exists(ctx context.Context, organization uuid.UUID, slug, rest string) (bool, error) {
	brand, err := d.db.BrandBySlug(ctx, organization, slug)
	if errors.Is(err, postgres.ErrNotFound) {
		return false, nil
	}
	_, answer, named := strings.Cut(rest, "/")
	if err != nil || !named {
		return true, err
	}
	id := uuid.FromStringOrNil(answer) // which no answer has
	found, err := clickhouse.FindAnswer(ctx, d.warehouse, clickhouse.UUID(organization), []clickhouse.UUID{clickhouse.UUID(brand.ID)}, clickhouse.UUID(id))
	return found != nil, err
}

// away shows the page, which says what is wrong, while a database cannot be reached.
func (d *Dashboard) away(c *fiber.Ctx, err error) error {
	kind, _ := problem.Of(err)
	if !postgres.IsTransient(err) && !clickhouse.Unreached(err) && kind != problem.Unavailable && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return d.send(c, http.StatusServiceUnavailable)
}

func isScreen(rest string) bool {
	name, id, below := strings.Cut(rest, "/")
	return slices.Contains(screens, name) && (!below || name == "answers" && id != "")
}

func (d *Dashboard) send(c *fiber.Ctx, status int) error {
	c.Set(fiber.HeaderContentSecurityPolicy, policy)
	c.Set(fiber.HeaderReferrerPolicy, "same-origin")
	c.Set(fiber.HeaderCacheControl, "no-store") // going back to it after signing out asks again
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Status(status).Send(d.document)
}

// An asset is a file of the bundle, at an address that changes with its content.
type asset struct {
	path, kind string
	text       []byte
}

// assets are by their names in served/.
var assets = sync.OnceValue(func() map[string]asset {
	entries, err := served.ReadDir("served")
	if err != nil {
		panic(err) // they are compiled in
	}
	all := map[string]asset{}
	for _, entry := range entries {
		text, err := served.ReadFile(path.Join("served", entry.Name()))
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(text)
		name, extension, _ := strings.Cut(entry.Name(), ".")
		all[entry.Name()] = asset{"/assets/" + name + "." + hex.EncodeToString(sum[:8]) + "." + extension, mime.TypeByExtension("." + extension), text}
	}
	return all
})

func mountAssets(server *httpd.Server) {
	for name, a := range assets() {
		if name == documentName {
			continue
		}
		server.App.Get(a.path, func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
			c.Set(fiber.HeaderContentType, a.kind)
			return c.Send(a.text)
		})
	}
}

const documentName = "index.html"

// document is index.html with the addresses of the other files.
func document() []byte {
	text := assets()[documentName].text
	for name, a := range assets() {
		text = bytes.ReplaceAll(text, []byte(`"`+name+`"`), []byte(`"`+a.path+`"`))
	}
	return text
}
