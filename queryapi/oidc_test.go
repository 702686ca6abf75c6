package queryapi_test

import (
	"bufio"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/testkit/browsertest"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestWhoSignsInByOIDC(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	w := newUsers(t, f.of)
	w.client().get(t, "/signin").is(t, "the page", http.StatusOK, `<meta name="oidc" content="&lt;Corp&gt;">`)

	// Somebody may have made ann's account in advance, with a password and a session.
	before := w.as(t, "ann@example.com")
	_, err := w.db.AddKey(t.Context(), postgres.NewKey{OrganizationID: w.acme.ID, UserID: w.ann.ID, Name: "before",
		Prefix: "svc_abcd", Hash: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	w.exec(t, `INSERT INTO private.oauth_grants (user_id, organization_id, client_id, client_name, redirect_uri, scopes,
		challenge, code_hash, used_at)
		VALUES ($1, $2, 'x', 'before', 'x', '{metrics:read}', repeat('x', 43), sha256('x'), now())`,
		w.ann.ID, w.acme.ID)
	ann := w.client()
	a := ann.enter(t, f, person("ann", "Ann@example.com"), "/brands/x?y=z")
	a.is(t, "linked", http.StatusSeeOther)
	if to := a.header.Get("Location"); to != w.url+"/brands/x?y=z" {
		t.Errorf("leads to %s", to)
	}
	if got := ann.whoAmI(t); got != "ann@example.com admin" {
		t.Errorf("signed in as %q", got)
	}
	if before.whoAmI(t) != "" {
		t.Error("the session of before goes on")
	}
	w.client().signIn(t, "ann@example.com", password).is(t, "the password of before", http.StatusBadRequest)
	if value[int](t, w, "SELECT count(*) FROM public.api_keys WHERE user_id = $1 AND revoked_at IS NULL",
		w.ann.ID) > 0 {
		t.Error("the API key of before works on")
	}
	if value[int](t, w, "SELECT count(*) FROM private.oauth_grants") > 0 {
		t.Error("the app of before works on")
	}
	if lines := w.audit(t,
		w.acme.ID); !slices.Contains(lines, "identity linked|ann@example.com to "+f.url+"|ann@example.com") {
		t.Errorf("audit log %q", lines)
	}
	if left := value[time.Duration](t, w,
		"SELECT expires_at - now() FROM private.sessions WHERE user_id = $1 AND revoked_at IS NULL",
		w.ann.ID); left < 12*time.Hour-time.Minute || left > 12*time.Hour {
		t.Errorf("her session ends in %s", left)
	}
	w.exec(t, "UPDATE private.sessions SET expires_at = now() WHERE user_id = $1", w.ann.ID)
	if got := ann.whoAmI(t); got != "" {
		t.Errorf("after 12 hours: %q", got)
	}
	w.client().enter(t, f, person("ann", "other@elsewhere.example"), "/").is(t, "with another address",
		http.StatusSeeOther)
	w.client().enter(t, f, jwt.MapClaims{"sub": "ann"}, "/").is(t, "without an address", http.StatusSeeOther)
	// A link for another password is not mailed to a user without one.
	w.askReset(t, "ann@example.com")

	const no = "You have no account here: ask for an invitation."
	for what, claims := range map[string]jwt.MapClaims{
		"another sub with a linked address":  person("eve", "ann@example.com"),
		"an unknown address":                 person("eve", "eve@elsewhere.example"),
		"an address of a domain below":       person("eve", "eve@sub.corp.example"),
		"two addresses":                      person("eve", `"olga@example.com"@corp.example`),
		"an address that is not verified":    {"sub": "eve", "email": "olga@example.com"},
		"one that a text calls unverified":   {"sub": "eve", "email": "olga@example.com", "email_verified": "false"},
		"one that a number calls verified":   {"sub": "eve", "email": "olga@example.com", "email_verified": 1},
		"a domain's that is not verified":    {"sub": "eve", "email": "eve@corp.example", "email_verified": false},
		"no address":                         {"sub": "eve"},
		"the domain in front of the last at": person("eve", "x@corp.example@elsewhere.example"),
	} {
		w.client().enter(t, f, claims, "/").is(t, what, http.StatusForbidden, no, `href="/signin"`)
	}
	if n := value[int](t, w, "SELECT count(*) FROM private.user_identities"); n != 1 {
		t.Errorf("%d identities", n)
	}

	bo := w.client()
	bo.enter(t, f, person("bo", "bo@FIRM.example"), "//evil.example").is(t, "of an allowed domain", http.StatusSeeOther)
	if got := bo.whoAmI(t); got != "bo@FIRM.example viewer" {
		t.Errorf("signed in as %q", got)
	}
	w.exec(t, "DELETE FROM public.members USING private.users AS u WHERE u.id = user_id AND lower(u.email::text) = "+
		"'bo@firm.example'")
	w.client().enter(t, f, person("bo", "bo@firm.example"), "/").is(t, "removed from the organization",
		http.StatusForbidden, no)
	w.exec(t, "UPDATE private.users SET is_active = false WHERE id = $1", w.ann.ID)
	w.client().enter(t, f, person("ann", "ann@example.com"), "/").is(t, "disabled", http.StatusForbidden, no)
	if n := len(w.mails(t, "reset")); n != 0 {
		t.Errorf("%d mails with a link for another password", n)
	}
}

func TestAnInvitedUserSignsInByOIDC(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	w := newUsers(t, f.of)
	admin := w.as(t, "ann@example.com")
	link := strings.TrimPrefix(admin.invite(t, "cy@elsewhere.example", "member"), w.url)
	cy := w.client()
	page := cy.get(t, link)
	page.is(t, "the page", http.StatusOK, "Sign in with &lt;Corp&gt;", auth.OIDCAddress(link))
	w.client().enter(t, f, person("eve", "eve@elsewhere.example"), link).is(t, "another's invitation",
		http.StatusForbidden)
	w.client().enter(t, f, jwt.MapClaims{"sub": "eve", "email": "cy@elsewhere.example"}, link).is(t, "not verified",
		http.StatusForbidden)
	w.client().enter(t, f, person("cy", "cy@elsewhere.example"), "/").is(t, "without the link", http.StatusForbidden)
	// Once, a page of another site could send a browser this way: nothing may change before the button.
	if a := cy.enter(t, f, person("cy", "cy@elsewhere.example"), link); a.header.Get("Location") != w.url+link {
		t.Errorf("after the sign-in: %d to %s", a.status, a.header.Get("Location"))
	}
	if n := value[int](t, w, "SELECT count(*) FROM private.users WHERE email::text = 'cy@elsewhere.example'"); n != 0 {
		t.Error("a member before the button is pressed")
	}
	cy.get(t, link).is(t, "the page again", http.StatusOK, "You have signed in with &lt;Corp&gt;.", "Join")
	other := admin.invite(t, "di@elsewhere.example", "viewer")
	cy.get(t, strings.TrimPrefix(other, w.url)).is(t, "another's page", http.StatusOK, "Password")
	a := cy.submit(t, link, "")
	if got := cy.whoAmI(t); got != "cy@elsewhere.example member" || a.header.Get("Location") != "/" {
		t.Errorf("signed in as %q: %d %s", got, a.status, a.text)
	}
	if lines := w.audit(t,
		w.acme.ID); !slices.Contains(lines, "invitation accepted|cy@elsewhere.example as member|cy@elsewhere.example") {
		t.Errorf("audit log %q", lines)
	}
	link = strings.TrimPrefix(admin.invite(t, "olga@example.com", "member"), w.url)
	olga := w.client()
	olga.enter(t, f, person("olga", "olga@example.com"), link)
	olga.submit(t, link, "").is(t, "in another organization", http.StatusConflict, "in an organization already")
	w.exec(t, "DELETE FROM public.members USING private.users AS u WHERE u.id = user_id AND u.email::text = "+
		"'cy@elsewhere.example'")
	link = strings.TrimPrefix(admin.invite(t, "cy@elsewhere.example", "viewer"), w.url)
	cy = w.client()
	cy.enter(t, f, person("cy", "cy@elsewhere.example"), link)
	cy.submit(t, link, "")
	if got := cy.whoAmI(t); got != "cy@elsewhere.example viewer" {
		t.Errorf("invited again, signed in as %q", got)
	}
}

// An address that UserInfo alone has counts where its sub is that of the ID token (OpenID Connect Core §5.3.2).
func TestTrustedAddressesNeedNoMark(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	f.info = jwt.MapClaims{"sub": "olga", "email": "olga@example.com"}
	w := newUsers(t, func(s *config.Settings) {
		f.of(s)
		s.OIDC.TrustEmail = "true"
	})
	c := w.client()
	c.enter(t, f, jwt.MapClaims{"sub": "ann", "email": "ann@example.com"}, "/")
	if got := c.whoAmI(t); got != "ann@example.com admin" {
		t.Errorf("signed in as %q", got)
	}
	eve := w.client()
	eve.enter(t, f, jwt.MapClaims{"sub": "eve"}, "/").is(t, "UserInfo of another sub", http.StatusForbidden)
	olga := w.client()
	olga.enter(t, f, jwt.MapClaims{"sub": "olga"}, "/")
	if got := eve.whoAmI(t) + olga.whoAmI(t); got != "olga@example.com owner" {
		t.Errorf("by UserInfo signed in as %q", got)
	}
}

// An address is verified by a bool or its text, in the ID token or at UserInfo; the ID token's word is not overruled,
// and UserInfo's is about its own address.
func TestWhereAnAddressIsCalledVerified(t *testing.T) {
	t.Parallel()
	const email = "ann@example.com"
	f := newForger(t)
	w := newUsers(t, f.of)
	for _, c := range []struct {
		what        string
		token, info jwt.MapClaims
		status      int
	}{
		{"a text at UserInfo says no", nil,
			jwt.MapClaims{"email": email, "email_verified": "false"}, http.StatusForbidden},
		{"the token says no", jwt.MapClaims{"email": email, "email_verified": false},
			jwt.MapClaims{"email": email, "email_verified": true}, http.StatusForbidden},
		{"the token's text says no", jwt.MapClaims{"email": email, "email_verified": "false"},
			jwt.MapClaims{"email": email, "email_verified": true}, http.StatusForbidden},
		{"UserInfo speaks of another", jwt.MapClaims{"email": email},
			jwt.MapClaims{"email": "eve@example.com", "email_verified": true}, http.StatusForbidden},
		{"UserInfo says no of its own", jwt.MapClaims{"email_verified": true},
			jwt.MapClaims{"email": email, "email_verified": false}, http.StatusForbidden},
		{"nobody says it", jwt.MapClaims{"email": email}, jwt.MapClaims{"email": email}, http.StatusForbidden},
		{"a text", jwt.MapClaims{"email": email, "email_verified": "true"}, nil, http.StatusSeeOther},
		{"a text at UserInfo", nil, jwt.MapClaims{"email": email, "email_verified": "true"}, http.StatusSeeOther},
		{"all at UserInfo", nil, jwt.MapClaims{"email": email, "email_verified": true}, http.StatusSeeOther},
		{"one at each", jwt.MapClaims{"email": email},
			jwt.MapClaims{"email": "Ann@example.com", "email_verified": true}, http.StatusSeeOther},
	} {
		token := jwt.MapClaims{"sub": "ann"}
		maps.Copy(token, c.token)
		f.info = jwt.MapClaims{"sub": "ann"}
		maps.Copy(f.info, c.info)
		w.exec(t, "DELETE FROM private.user_identities")
		w.client().enter(t, f, token, "/").is(t, c.what, c.status)
	}
}

func TestACallbackThatIsNotOursIsRefused(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	w := newUsers(t, f.of)
	none := func(claims jwt.MapClaims) string {
		text, err := jwt.NewWithClaims(jwt.SigningMethodNone, claims).SignedString(jwt.UnsafeAllowNoneSignatureType)
		if err != nil {
			t.Error(err)
		}
		return text
	}
	stranger := newForger(t)
	hmac := func(claims jwt.MapClaims) string {
		point, _ := f.key.PublicKey.Bytes()
		text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(point)
		if err != nil {
			t.Error(err)
		}
		return text
	}
	for _, test := range []struct {
		what   string
		claims jwt.MapClaims
		sign   func(jwt.MapClaims) string
		change func(*client, url.Values)
		reason string
	}{
		{"no cookie", nil, nil, func(c *client, _ url.Values) { clear(c.cookies) }, "no cookie"},
		{"a changed cookie", nil, nil, func(c *client, _ url.Values) {
			for name, value := range c.cookies {
				c.cookies[name] = value[:100] + strings.ToLower(value[100:140]) + value[140:]
			}
		}, "was changed"},
		{"another state", nil, nil, func(_ *client, q url.Values) { q.Set("state", "x") }, "state is another"},
		{"no state", nil, nil, func(_ *client, q url.Values) { q.Del("state") }, "state is another"},
		{"denied", nil, nil, func(_ *client, q url.Values) { q.Set("error", "access_denied") }, "access_denied"},
		{"a code of nobody", nil, nil, func(_ *client, q url.Values) { q.Set("code", "x") }, "invalid_grant"},
		{"another nonce", jwt.MapClaims{"nonce": "x"}, nil, nil, "nonce"},
		{"no nonce", jwt.MapClaims{"nonce": nil}, nil, nil, "nonce"},
		{"no sub", jwt.MapClaims{"sub": ""}, nil, nil, "no sub"},
		{"another audience", jwt.MapClaims{"aud": "another"}, nil, nil, "audience"},
		{"another issuer", jwt.MapClaims{"iss": "https://issuer.example"}, nil, nil, "issuer"},
		{"expired", jwt.MapClaims{"exp": time.Now().Add(-time.Minute).Unix()}, nil, nil, "expired"},
		{"alg none", nil, none, nil, "ID token"},
		{"a public key as a secret", nil, hmac, nil, "ID token"},
		{"another's signature", nil, stranger.signES256, nil, "signature"},
		{"no ID token", nil, func(jwt.MapClaims) string { return "" }, nil, "ID token"},
	} {
		c, from := w.client(), len(w.log.String())
		f.claims, f.sign = person("ann", "ann@example.com"), f.signES256
		maps.Copy(f.claims, test.claims)
		if test.sign != nil {
			f.sign = test.sign
		}
		q := c.begin(t, f, "/")
		if test.change != nil {
			test.change(c, q)
		}
		a := c.get(t, "/signin/oidc/callback?"+q.Encode())
		a.is(t, test.what, http.StatusBadRequest, "Sign in again", "did not work")
		if log := w.log.String()[from:]; !strings.Contains(log, test.reason) ||
			strings.Contains(log, q.Get("code")) && q.Get("code") != "x" {
			t.Errorf("%s: logged %s", test.what, log)
		}
		if c.whoAmI(t) != "" {
			t.Errorf("%s signs in", test.what)
		}
	}
	f.sign = f.signES256
	c := w.client()
	f.claims = person("ann", "ann@example.com")
	q := c.begin(t, f, "/")
	c.get(t, "/signin/oidc/callback?"+q.Encode()).is(t, "once", http.StatusSeeOther)
	c.get(t, "/signin/oidc/callback?"+q.Encode()).is(t, "a code twice", http.StatusBadRequest)
	for to, want := range map[string]string{
		"//evil.example": "/", "https://evil.example": "/", "": "/", "evil": "/", `/\evil.example`: `/\evil.example`,
		"/settings?tab=members": "/settings?tab=members",
	} {
		a := w.client().enter(t, f, person("ann", "ann@example.com"), to)
		address, err := url.Parse(a.header.Get("Location"))
		if got := a.header.Get("Location"); err != nil || "http://"+address.Host != w.url ||
			address.RequestURI() != strings.ReplaceAll(want, `\`, "%5C") && got != w.url+want {
			t.Errorf("to %q leads to %s", to, got)
		}
	}
	if a := w.client().enter(t, f, person("ann", "ann@example.com"),
		"/x\r\nX-Evil: y"); a.status != http.StatusSeeOther || a.header.Get("X-Evil") != "" {
		t.Errorf("a line break in to: %d %v", a.status, a.header)
	}
}

// A provider that is away stops no start and no password, and is asked again.
func TestAnOpenIDProviderMayBeAway(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	f.away = true
	w := newUsers(t, f.of)
	w.client().get(t, "/signin/oidc").is(t, "away", http.StatusServiceUnavailable, "does not answer", "Sign in again")
	w.as(t, "olga@example.com")
	f.away = false
	c := w.client()
	c.enter(t, f, person("ann", "ann@example.com"), "/")
	if c.whoAmI(t) == "" {
		t.Error("no sign-in once it is back")
	}
}

// A certified provider, through a browser.
func TestABrowserSignsInByOIDC(t *testing.T) {
	t.Parallel()
	var issuer string
	w := newUsers(t, func(s *config.Settings) {
		node := exec.CommandContext(t.Context(), "node", "auth/testdata/oidc.mjs", s.PublicURL+"/signin/oidc/callback")
		out, err := node.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = node.Process.Kill(); _ = node.Wait() })
		issuer, err = bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatalf("oidc-provider: %v (`make clients` fetches it)", err)
		}
		issuer = strings.TrimSpace(issuer)
		s.OIDC = config.OIDC{
			Issuer: issuer, ClientID: "answerscope",
			ClientSecret: config.NewSecret("secret of answerscope"), Label: "Corp", Domains: "example.com",
			Organization: "acme",
		}
	})
	browser := browsertest.Start(t, "chromium", "")
	// signIn goes the whole way from an address, and returns where it ends.
	signIn := func(page *browsertest.Page, from, name string) {
		t.Helper()
		page.Visit(t, w.url+from)
		page.Await(t, `[...document.querySelectorAll("a")].find((a) => a.textContent.trim() == `+
			`"Sign in with Corp")?.click() ?? location.origin != `+fmt.Sprintf("%q", w.url))
		page.Await(t, `document.querySelector("[name=login]")`)
		page.Eval(t, `(document.querySelector("[name=login]").value = "`+name+
			`", document.querySelector("[name=password]").value = "any", document.querySelector("form").submit())`, nil)
		page.Await(t, `document.querySelector("[value=consent]")`)
		page.Eval(t, `document.querySelector("form").submit()`, nil)
		page.Await(t, `location.origin == `+fmt.Sprintf("%q", w.url)+` && document.readyState == "complete"`)
	}
	entered := func(page *browsertest.Page, email, path string) {
		t.Helper()
		var got []string
		page.Eval(t, `fetch("/app/api/session").then((r) => r.json()).then((s) => [s.email, location.pathname])`, &got)
		if !slices.Equal(got, []string{email, path}) {
			t.Errorf("entered %q, want %s at %s", got, email, path)
		}
	}
	ann := browser.Open(t)
	signIn(ann, "/signin?next=%2Fsettings", "ann")
	entered(ann, "ann@example.com", "/settings")
	if n := value[int](t, w,
		"SELECT count(*) FROM private.users WHERE email = 'ann@example.com' AND password_hash IS NULL"); n != 1 {
		t.Error("ann, who had a password, was not linked")
	}
	bo := browser.Open(t)
	signIn(bo, "/signin", "bo")
	entered(bo, "bo@example.com", "/")
	refused := browser.Open(t)
	signIn(refused, "/signin", "unverified")
	refused.Await(t, `document.body.innerText.includes("You have no account here: ask for an invitation.")`)

	if response, err := http.Post(issuer+"/rotate", "", nil); err != nil || response.Body.Close() != nil ||
		response.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	again := browser.Open(t)
	link := strings.TrimPrefix(w.as(t, "olga@example.com").invite(t, "cy@example.com", "admin"), w.url)
	again.Visit(t, w.url+link)
	isAccessible(t, again)
	signIn(again, link, "cy")
	again.Await(t, `document.body.innerText.includes("You have signed in with Corp.")`)
	again.Eval(t, `document.querySelector("form button").click()`, nil)
	again.Await(t, `location.pathname == "/" && document.readyState == "complete"`)
	entered(again, "cy@example.com", "/")
	if role := value[string](t, w, "SELECT m.role FROM public.members AS m JOIN private.users AS u ON u.id = "+
		"m.user_id WHERE u.email::text = 'cy@example.com' AND m.organization_id = $1", w.other.ID); role != "admin" {
		t.Errorf("cy is %s", role)
	}
}

// isAccessible has axe look at a page on a phone, in both themes.
func isAccessible(t *testing.T, page *browsertest.Page) {
	t.Helper()
	axe, err := os.ReadFile("web/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("axe-core is not here: run `make page-packages`: %v", err)
	}
	page.Command(t, "Runtime.evaluate", map[string]any{"expression": string(axe)}, nil)
	for _, scheme := range []string{"light", "dark"} {
		page.Show(t, 375, 800, scheme)
		var findings []string
		page.Eval(t, `axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.flatMap((v) => `+
			`v.nodes.map((n) => v.id + ": " + n.html.slice(0, 200))))`, &findings)
		var wide int
		page.Eval(t, "document.documentElement.scrollWidth - document.documentElement.clientWidth", &wide)
		if len(findings) > 0 || wide > 0 {
			t.Errorf("%s: %q, and %d pixels too wide", scheme, findings, wide)
		}
	}
}
