// Package page renders the pages that need no script: those behind links in mails, a sign-in that failed, and the
// consent to an app.
package page

import (
	_ "embed"
	"html/template"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
)

//go:embed page.html
var source string

var layout = template.Must(template.New("page").Parse(source))

// A Page is one card with a heading. A form is sent to the page's own address.
type Page struct {
	Title   string
	Text    []string // paragraphs
	Account string   // e-mail address of the password, for password managers
	Field   string   // label of the form's password; "": it asks none
	Problem string   // of the form that was sent
	Choice  string   // label of an unticked box with the name choice; "": there is none
	Button  string   // of the form; "": there is none
	Second  string   // another button, which sends answer=second; "": there is none
	Links   []Link
	To      string // leads there at once, in place of a page
	Leaves  bool   // the form leads to another site
}

// A Link leads on.
type Link struct{ Text, Address string }

// policy lets a page load its style from this host alone, and formPolicy send its form there.
const (
	policy     = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'"
	formPolicy = "; form-action 'self'"
)

// HTML renders the page. Its address holds a token: no cache keeps it, and no other page is told it.
func (p Page) HTML(c *fiber.Ctx) httpd.HTML {
	c.Set(fiber.HeaderContentSecurityPolicy, policy+formPolicy)
	if p.Leaves { // browsers hold every redirect that follows to form-action, and claude.ai's goes on to claude://
		c.Set(fiber.HeaderContentSecurityPolicy, policy)
	}
	c.Set(fiber.HeaderReferrerPolicy, "strict-origin") // forms still send their origin
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set("X-Robots-Tag", "noindex, nofollow")
	var text strings.Builder
	if err := layout.Execute(&text, p); err != nil {
		panic(err) // a mistake of the template
	}
	return httpd.HTML(text.String())
}

// Refused returns the page with a problem of kind Invalid; others are no problem of the form.
func (p Page) Refused(err error) (Page, error) {
	kind, message := problem.Of(err)
	if kind != problem.Invalid {
		return p, err
	}
	p.Problem = message
	return p, nil
}

// Send sends the page.
func (p Page) Send(c *fiber.Ctx) error {
	if p.To != "" {
		return c.Redirect(p.To, http.StatusSeeOther)
	}
	if p.Problem != "" {
		c.Status(http.StatusBadRequest)
	}
	text := p.HTML(c)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.SendString(string(text))
}
