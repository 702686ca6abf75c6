package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/page"
	"github.com/answerscope/answerscope/sql/postgres"
)

var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// authorize asks the user for consent (GET), and sends the browser back to the app with a code (POST). Both check the
// whole request, which is in the address. Errors are shown here until the redirect URI is known to be the app's.
func (i *Issuer) authorize(c *fiber.Ctx) error {
	caller, err := i.provider.Visitor(c)
	if kind, _ := problem.Of(err); err != nil && kind == problem.Unauthenticated {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.Redirect("/signin?next="+url.QueryEscape(string(c.Request().URI().RequestURI())), http.StatusSeeOther)
	}
	if err != nil {
		return err
	}
	client, err := i.client(c.UserContext(), c.Query("client_id"))
	if err != nil {
		return err
	}
	if !permits(client, c.Query("redirect_uri")) {
		return problem.New(problem.Invalid,
			"%.200s asks to be answered at an address that is not its own. Nothing was sent there.", client.Name)
	}
	if err := i.check(c); err != nil {
		return i.answer(c, url.Values{"error": {err.code}, "error_description": {err.text}})
	}
	if c.Method() != http.MethodPost {
		return i.ask(c, caller, client)
	}
	form := c.Request().PostArgs()
	if string(form.Peek("answer")) == "second" {
		return i.answer(c, url.Values{"error": {"access_denied"}, "error_description": {"the user has refused"}})
	}
	granted := []string{auth.MetricsRead}
	if form.Has("choice") {
		granted = scopes
	}
	if err := auth.CheckRole(caller.Role, granted...); err != nil {
		return err
	}
	code := rand.Text()
	err = i.db.AddOAuthGrant(c.UserContext(), postgres.NewOAuthGrant{
		UserID: caller.UserID, OrganizationID: caller.OrganizationID, ClientID: client.ID, ClientName: client.Name,
		RedirectURI: c.Query("redirect_uri"), Scopes: granted, Challenge: c.Query("code_challenge"),
		CodeHash: sha256.Sum256([]byte(code)),
	})
	if err != nil {
		return err
	}
	return i.answer(c, url.Values{"code": {code}})
}

// check returns the first mistake of a request, as an error for the app. Scopes are the user's choice, so the app may
// ask for any that are here.
func (i *Issuer) check(c *fiber.Ctx) *failure {
	wanted := strings.Fields(c.Query("scope"))
	isKnown := func(scope string) bool { return slices.Contains(scopes, scope) }
	switch {
	case c.Query("response_type") != "code":
		return &failure{"unsupported_response_type", "response_type: want code"}
	case c.Query("code_challenge_method") != "S256" || !challengeForm.MatchString(c.Query("code_challenge")):
		return &failure{"invalid_request", "code_challenge: want 43 characters, with code_challenge_method=S256"}
	case !i.isResource(c.Query("resource")):
		return &failure{"invalid_target", "resource: want " + i.url + resourcePath}
	case len(wanted) > 0 && !slices.ContainsFunc(wanted, isKnown):
		return &failure{"invalid_scope", "scope: want some of " + strings.Join(scopes, " ")}
	}
	return nil
}

// isResource reports whether an address is /mcp of this installation, with any case of the host, and a slash or none.
func (i *Issuer) isResource(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	u.Host = strings.ToLower(u.Host)
	return strings.TrimSuffix(u.String(), "/") == strings.ToLower(i.url)+resourcePath
}

// answer sends the browser back to the app, with the name of this issuer (RFC 9207).
func (i *Issuer) answer(c *fiber.Ctx, parameters url.Values) error {
	to, err := url.Parse(c.Query("redirect_uri"))
	if err != nil {
		return err
	}
	parameters.Set("iss", i.url)
	if state := c.Query("state"); state != "" {
		parameters.Set("state", state)
	}
	to.RawQuery = strings.TrimPrefix(to.RawQuery+"&"+parameters.Encode(), "&")
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	return c.Redirect(to.String(), http.StatusSeeOther)
}

// ask shows the request of an app. An app chooses its name itself: the redirect and the publisher of a document are
// checked.
func (i *Issuer) ask(c *fiber.Ctx, caller identity.Identity, client postgres.OAuthClient) error {
	organization, err := i.db.OrganizationName(c.UserContext(), caller.OrganizationID)
	if err != nil {
		return err
	}
	source := "It gave that name itself; nobody has checked it."
	if u, err := url.Parse(client.ID); err == nil && u.Scheme == "https" {
		source = "It is published by " + u.Host + "."
	}
	p := page.Page{Title: "Connect " + client.Name, Button: "Allow", Second: "Refuse", Leaves: true, Text: []string{
		"An app that calls itself “" + client.Name + "” asks to read the figures of " + organization + " as you, " +
			caller.Email + ". " + source,
		"It is answered at " + hostOf(c.Query("redirect_uri")) + ". Allow it only if you have just begun this there.",
		"Organization lists the apps that you have connected, and ends them.",
	}}
	if auth.CheckRole(caller.Role, scopes...) == nil {
		p.Choice = "It may also start runs, which cost money"
	}
	return p.Send(c)
}
