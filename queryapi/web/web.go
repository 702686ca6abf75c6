// Package web serves the dashboard: one document for all its addresses, whose script shows the screen. The figures come
// from /app/api: the surfaces of this service, with the cookie as the credential (package auth, dashboard.go).
//
// The script is written in TypeScript with Preact and bundled by `make page`; served/ has the result, which is
// committed, so that Go alone builds the binary. A test fails when it does not match the sources. In page/:
//
//   - route.ts is the address: path and query as signals, and go to change them. The address has all state of a screen.
//   - main.tsx is the entry. The script is in five parts, by what their barrels export: first.ts (the frame, Brands,
//     Overview, and what all share), look.ts, manage.ts, tell.ts and advice.ts, which come when a screen of theirs is
//     shown.
//   - api.ts sends all requests: useAnswer reads, write changes, after which everything is read again. It turns errors
//     into messages, and a lost session into a sign-in that returns to the screen.
//   - bodies.ts has the shapes of bodies, format.ts writes figures. The page computes none: it shows the API's.
//   - parts/ has the building blocks of screens: Screen and Frame, Toolbar (brand, window, filters, menu) with its
//     Filters, Menu for what opens below a button, Icon, Figure with interval and n, Card, Table with Pages, Dialog,
//     FormDialog and Confirm for a write, Field, useAction for another form, Shown for an answer that is awaited, Empty
//     for the next step. keys.tsx has the single keys, preferences.ts what this browser chose.
//   - chart/ has the pictures: marks.ts their shapes, a file each, and their common parts: Chart (card, table behind,
//     menu), useMarks (keys and pointer), scales, axes, and save.
//   - screens/ has a file for each screen. style/tokens.css names every colour and distance, for both themes.
//
// A new screen of a brand is a file in screens/, a line in screens/list.ts, in a part, in the table of main.tsx and in
// screens of web.go, and a line in screens of internal/system/dashboard/access_test.go.
// screens_test.go there compares it with the API's bodies, rows_test.go its tables. Texts of people and of answers are
// children of elements, and addresses pass through parts/link.tsx.
package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
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
	"github.com/valyala/fasthttp"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/platformname"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

//go:generate go run ./bundle

//go:embed served
var served embed.FS

// screens of a brand are below /brands/{slug}.
var screens = []string{
	"", "opportunities", "alerts", "competitors", "prompts", "answers", "sources", "searches", "traffic", "shopping",
	"tracking", "settings", "report",
}

// Shareable are the screens that a share link may show, its default ones first. The document names them.
var Shareable = []string{"overview", "competitors", "sources", "prompts", "traffic", "shopping", "answers"}

// policy lets the document load from this host only: no script of its own, no other host. A picture of a chart is drawn
// from a blob. %s are the origins whose pages may frame it.
const policy = "default-src 'self'; img-src 'self' blob:; frame-ancestors %s; base-uri 'none'; form-action 'self'"

// pageTimeout bounds the look-ups before the document is sent.
const pageTimeout = 4 * time.Second

// A Dashboard serves the pages. It is safe for concurrent use.
type Dashboard struct {
	db        *postgres.DB
	warehouse *clickhouse.Conn
	provider  *auth.Provider
	document  []byte
}

// New returns the pages for the users of a provider, with a mark whether mails are sent from here.
func New(db *postgres.DB, warehouse *clickhouse.Conn, provider *auth.Provider, mails bool) *Dashboard {
	metas := map[string]string{"oidc": provider.OIDCName(), "share": strings.Join(Shareable, " "),
		"platforms": platformname.JSON()}
	if mails {
		metas["mails"] = "sent"
	}
	return &Dashboard{db: db, warehouse: warehouse, provider: provider, document: document(metas)}
}

// Mount adds the pages and their assets to a server. Their data is below identity.DashboardPrefix.
func (d *Dashboard) Mount(server *httpd.Server) {
	mountAssets(server)
	server.App.Get("/signin", d.signIn)
	for _, page := range []string{"/", "/settings", "/brands/:slug", "/brands/:slug/*"} {
		server.App.Get(page, httpd.Within(pageTimeout, d.page))
	}
}

// MountElsewhere answers at the dashboard's address where another issuer makes the tokens, so that no user can sign in.
func MountElsewhere(server *httpd.Server) {
	mountAssets(server)
	server.App.Get("/", func(c *fiber.Ctx) error {
		return c.SendString("answerscope: the dashboard is for users of the built-in identity provider, " +
			"which does not run here; docs/auth.md says how to have it. /api/v1 answers.\n")
	})
}

func (d *Dashboard) signIn(c *fiber.Ctx) error {
	c.Set(fiber.HeaderReferrerPolicy, "same-origin")
	return d.Send(c, http.StatusOK)
}

// page sends the document with the status of the address; without a session it redirects to /signin. The document is
// the same for all addresses: its script shows the screen.
func (d *Dashboard) page(c *fiber.Ctx) error {
	c.Set(fiber.HeaderReferrerPolicy, "same-origin")
	caller, err := d.provider.Dashboard(c)
	if kind, _ := problem.Of(err); err != nil && kind == problem.Unauthenticated {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.Redirect("/signin?next="+url.QueryEscape(string(c.Request().URI().RequestURI())), http.StatusSeeOther)
	}
	if err != nil {
		return d.SendUnavailable(c, err)
	}
	slug, rest := c.Params("slug"), c.Params("*")
	if slug == "" {
		return d.Send(c, http.StatusOK)
	}
	slug, err = url.PathUnescape(slug)
	if err != nil || !isScreen(rest) || !utf8.ValidString(slug) || strings.ContainsRune(slug, 0) {
		return d.Send(c, http.StatusNotFound)
	}
	exists, err := d.exists(c.UserContext(), caller.OrganizationID, slug, rest)
	switch {
	case err != nil:
		return d.SendUnavailable(c, err)
	case !exists:
		return d.Send(c, http.StatusNotFound)
	}
	return d.Send(c, http.StatusOK)
}

// exists reports whether an organization has the brand of an address, and its answer if it names one.
func (d *Dashboard) exists(ctx context.Context, organization uuid.UUID, slug, rest string) (bool, error) {
	brand, err := d.db.BrandBySlug(ctx, organization, slug)
	if errors.Is(err, postgres.ErrNotFound) {
		return false, nil
	}
	_, answer, named := strings.Cut(rest, "/")
	if err != nil || !named {
		return true, err
	}
	id := uuid.FromStringOrNil(answer) // no answer has the nil UUID
	filter := clickhouse.Filter{OrganizationID: clickhouse.UUID(organization), BrandID: clickhouse.UUID(brand.ID)}
	row, err := clickhouse.FindAnswer(ctx, d.warehouse, filter, clickhouse.UUID(id))
	return row != nil, err
}

// SendUnavailable sends the page, which explains the error, while a database cannot be reached.
func (d *Dashboard) SendUnavailable(c *fiber.Ctx, err error) error {
	kind, _ := problem.Of(err)
	if !postgres.IsTransient(err) && !clickhouse.IsTransient(err) && kind != problem.Unavailable &&
		!errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return d.Send(c, http.StatusServiceUnavailable)
}

func isScreen(rest string) bool {
	name, id, below := strings.Cut(rest, "/")
	return slices.Contains(screens, name) && (!below || name == "answers" && id != "")
}

// Send sends the document, which pages of the origins may show in a frame.
func (d *Dashboard) Send(c *fiber.Ctx, status int, origins ...string) error {
	c.Set(fiber.HeaderContentSecurityPolicy, fmt.Sprintf(policy, cmp.Or(strings.Join(origins, " "), "'none'")))
	c.Set(fiber.HeaderCacheControl, "no-store") // going back to it after signing out asks again
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Status(status).Send(d.document)
}

// assets returns the files of served/ by name, and the path below which they are served: it changes with their content,
// and their imports of each other are relative to it.
var assets = sync.OnceValues(func() (base string, files map[string][]byte) {
	entries, err := served.ReadDir("served")
	if err != nil {
		panic(err) // they are compiled in
	}
	files, sum := map[string][]byte{}, sha256.New()
	for _, entry := range entries {
		text, err := served.ReadFile(path.Join("served", entry.Name()))
		if err != nil {
			panic(err)
		}
		files[entry.Name()] = text
		sum.Write(text)
	}
	return "/assets/" + hex.EncodeToString(sum.Sum(nil)[:8]) + "/", files
})

func mountAssets(server *httpd.Server) {
	base, files := assets()
	for name, text := range files {
		if name == documentName {
			continue
		}
		kind := mime.TypeByExtension(path.Ext(name))
		bodies := map[string]func() []byte{ // by Content-Encoding, each made once, when the first browser asks for it
			"": func() []byte { return text },
			"gzip": sync.OnceValue(func() []byte {
				return fasthttp.AppendGzipBytesLevel(nil, text, fasthttp.CompressBestCompression) // as bundle's test
			}),
			"br": sync.OnceValue(func() []byte {
				return fasthttp.AppendBrotliBytesLevel(nil, text, fasthttp.CompressBrotliBestCompression)
			}),
		}
		send := func(cacheControl string) fiber.Handler {
			return func(c *fiber.Ctx) error {
				encoding := httpd.Preferred(c.Get(fiber.HeaderAcceptEncoding))
				c.Set(fiber.HeaderCacheControl, cacheControl)
				c.Set(fiber.HeaderContentType, kind)
				c.Set(fiber.HeaderContentEncoding, encoding)
				c.Vary(fiber.HeaderAcceptEncoding)
				return c.Send(bodies[encoding]())
			}
		}
		server.App.Get(base+name, send("public, max-age=31536000, immutable"))
		server.App.Get("/assets/"+name, send("no-cache")) // of package page
	}
}

const documentName = "index.html"

// document returns index.html with the addresses of the other files, and the contents of its meta elements by name.
func document(metas map[string]string) []byte {
	base, files := assets()
	text := files[documentName]
	for name, content := range metas {
		meta := fmt.Sprintf(`%q content="`, name)
		text = bytes.Replace(text, []byte(meta), []byte(meta+html.EscapeString(content)), 1)
	}
	for name := range files {
		text = bytes.ReplaceAll(text, []byte(`"`+name+`"`), []byte(`"`+base+name+`"`))
	}
	return text
}
