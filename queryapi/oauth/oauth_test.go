package oauth_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/queryapi"
)

const newApp = `{"client_name":"<b>Claude</b>","redirect_uris":["` + callback + `"],"application_type":"web",` +
	`"token_endpoint_auth_method":"client_secret_post","grant_types":["authorization_code","refresh_token"]}`

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// The whole way of an app, with a client that knows nothing of this server but its address.
func TestAnAppIsConnectedUsedAndDisconnected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	described := w.send(t, "GET", "/.well-known/oauth-authorization-server", "")
	for _, want := range []string{`"issuer":"` + public + `"`, `"code_challenge_methods_supported":["S256"]`,
		`"client_id_metadata_document_supported":true`, `"token_endpoint_auth_methods_supported":["none"]`} {
		if !strings.Contains(described.text, want) {
			t.Errorf("no %s in %s", want, described.text)
		}
	}
	registered := w.send(t, "POST", "/register", newApp)
	if registered.field(t, "token_endpoint_auth_method") != "none" || registered.field(t, "client_secret") != "" {
		t.Errorf("registered %s", registered.text)
	}
	client := oauth2.Config{ClientID: registered.field(t, "client_id"), RedirectURL: callback,
		Scopes: []string{"metrics:read", "tracking:write"}, Endpoint: oauth2.Endpoint{
			AuthURL: "/authorize", TokenURL: w.url + "/token", AuthStyle: oauth2.AuthStyleInParams}}
	secret := oauth2.GenerateVerifier()
	path := client.AuthCodeURL("a state", oauth2.S256ChallengeOption(secret),
		oauth2.SetAuthURLParam("resource", "https://Answers.Example/mcp/"))

	signIn := w.send(t, "GET", path, "")
	if to := signIn.location(t).Get("next"); to != path ||
		!strings.HasPrefix(signIn.header.Get("Location"), "/signin?") {
		t.Errorf("signed out: to %s", signIn.header.Get("Location"))
	}
	page := w.visit(t, "member", path)
	for _, want := range []string{"&lt;b&gt;Claude", "app.example", "Acme &amp; Sons", "member@acme.example",
		`<input type="checkbox" name="choice">`} {
		if !strings.Contains(page.text, want) {
			t.Errorf("the page lacks %s: %s", want, page.text)
		}
	}
	if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") ||
		!strings.Contains(policy, "default-src 'self'") || strings.Contains(policy, "form-action") {
		t.Errorf("policy %s", policy)
	}
	back := w.consent(t, "member", path, "")
	if q := back.location(t); q.Get("state") != "a state" || q.Get("iss") != public || len(q) != 3 ||
		!strings.HasPrefix(back.header.Get("Location"), callback+"?") {
		t.Errorf("back to %s", back.header.Get("Location"))
	}
	token, err := client.Exchange(t.Context(), back.location(t).Get("code"), oauth2.VerifierOption(secret))
	if err != nil || token.Extra("scope") != "metrics:read" || token.Type() != "Bearer" {
		t.Fatalf("token %+v, %v", token, err)
	}
	if a := w.who(t, token.AccessToken, ""); a.field(t, "UserID") != w.users["member"].ID.String() ||
		a.field(t, "OrganizationID") != w.acme.ID.String() {
		t.Errorf("/mcp: %d %s", a.status, a.text)
	}
	token.Expiry = time.Now().Add(-time.Minute)
	next, err := client.TokenSource(t.Context(), token).Token()
	if err != nil || next.RefreshToken == token.RefreshToken || w.who(t, next.AccessToken, "").status != http.StatusOK {
		t.Errorf("refreshed %+v, %v", next, err)
	}

	apps := w.visit(t, "member", "/app/api/apps")
	_, id, _ := strings.Cut(apps.text, `{"apps":[{"id":"`)
	if id = id[:36]; !strings.Contains(apps.text, `"scopes":["metrics:read"]`) {
		t.Errorf("apps %s", apps.text)
	}
	if a := w.visit(t, "viewer", "/app/api/apps"); a.text != `{"apps":[]}` {
		t.Errorf("a viewer sees %s", a.text)
	}
	for _, end := range []struct {
		role   string
		status int
	}{{"viewer", http.StatusNotFound}, {"admin", http.StatusNoContent}, {"admin", http.StatusNotFound}} {
		if a := w.send(t, "DELETE", "/app/api/apps/"+id, "", "Cookie: "+w.cookies[end.role]); a.status != end.status {
			t.Errorf("a %s ends it: %d %s", end.role, a.status, a.text)
		}
	}
	ended := w.who(t, next.AccessToken, "")
	if ended.status != http.StatusUnauthorized ||
		w.refresh(t, client.ClientID, next.RefreshToken).status != http.StatusBadRequest {
		t.Errorf("after its end: %d %s", ended.status, ended.text)
	}
	if want := []string{"app connected <b>Claude</b> member@acme.example",
		"app disconnected <b>Claude</b> admin@acme.example"}; !slices.Equal(w.logged(t), want) {
		t.Errorf("logged %q, want %q", w.logged(t), want)
	}
}

func TestPathsAreThereOnlyWhereItIsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for isOn, want := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		w.url = w.serve(t, isOn, func(server *httpd.Server, gate *queryapi.Gate) {
			mountWho(server, gate.Apps, gate.Keys)
		})
		for _, path := range []string{"protected-resource", "protected-resource/mcp", "authorization-server"} {
			a := w.send(t, "GET", "/.well-known/oauth-"+path, "", "Origin: https://inspector.example")
			if a.status != want || isOn && (a.header.Get("Access-Control-Allow-Origin") != "*" ||
				!strings.Contains(a.text, `"`+public+`"`)) {
				t.Errorf("on %v: %s is %d %s", isOn, path, a.status, a.text)
			}
		}
		for _, path := range []string{"/authorize", "/token", "/register", "/revoke"} {
			if a := w.send(t, "POST", path, ""); (a.status == http.StatusNotFound) == isOn {
				t.Errorf("on %v: %s is %d", isOn, path, a.status)
			}
		}
		list := []string{listTools, "Content-Type: application/json", "Accept: application/json, text/event-stream"}
		if a := w.send(t, "POST", "/mcp", list[0], append(list[1:], "Authorization: Bearer "+w.key)...); a.status !=
			http.StatusOK {
			t.Errorf("on %v: a key at /mcp: %d %s", isOn, a.status, a.text)
		}
		a := w.send(t, "POST", "/mcp", "")
		if a.status != http.StatusUnauthorized ||
			strings.Contains(a.header.Get("WWW-Authenticate"), `resource_metadata="`+public) != isOn {
			t.Errorf("on %v: %d %v", isOn, a.status, a.header)
		}
	}
}

// Errors for an app go to its own address; before the address is found to be its own, they stay here.
func TestWrongRequestsGetNoCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := w.register(t, newApp)
	tool := w.register(t, `{"redirect_uris":["http://localhost/cb","http://127.0.0.1:1/cb","cursor://x.y/cb"]}`)
	const good, other = "https://app.example/client.json", "https://app.example/other.json"
	w.documents[good] = `{"client_id":"` + good + `","client_name":"Doc","redirect_uris":["` + callback + `"]}`
	w.documents[other] = w.documents[good]
	for _, c := range []struct{ client, name, value, code string }{
		{client, "response_type", "token", "unsupported_response_type"},
		{client, "code_challenge", "-", "invalid_request"},
		{client, "code_challenge_method", "plain", "invalid_request"},
		{client, "code_challenge_method", "-", "invalid_request"},
		{client, "resource", "-", "invalid_target"},
		{client, "resource", "https://other.example/mcp", "invalid_target"},
		{client, "resource", public + "/api/v1", "invalid_target"},
		{client, "resource", public + "/mcp?x", "invalid_target"},
		{client, "scope", "admin", "invalid_scope"},
		{client, "scope", "-", ""},
		{tool, "redirect_uri", "http://127.0.0.1:54321/cb", ""},
		{tool, "redirect_uri", "http://localhost:8/cb", ""},
		{tool, "redirect_uri", "cursor://x.y/cb", ""},
		{good, "redirect_uri", callback, ""},
	} {
		path := request(c.client, c.name, c.value)
		a := w.visit(t, "member", path)
		if c.code == "" && a.status != http.StatusOK {
			t.Errorf("%s %s: %d %s", c.name, c.value, a.status, a.text)
		}
		posted := w.consent(t, "member", path, "").location(t)
		if posted.Get("error") != c.code || posted.Has("code") != (c.code == "") || posted.Get("iss") != public ||
			posted.Get("state") != "s&t" || c.code != "" && a.location(t).Get("error") != c.code {
			t.Errorf("%s %s: %v", c.name, c.value, posted)
		}
	}
	for _, c := range []struct{ client, redirect, text string }{
		{client, "https://evil.example/callback", "not its own"},
		{client, callback + "/", "not its own"},
		{client, "https://app.example:8443/callback", "not its own"},
		{client, "javascript:alert(1)", "not its own"},
		{client, "", "not its own"},
		{tool, "http://127.0.0.1:1@evil.example/cb", "not its own"},
		{tool, "http://localhost.evil.example/cb", "not its own"},
		{tool, "http://localhost/cb?x", "not its own"},
		{"00000000-0000-0000-0000-000000000000", callback, "not known"},
		{"' OR 1=1", callback, "not known"},
		{other, callback, "does not describe this app"},
		{"https://app.example/", callback, "not known"},
		{"https://app.example/a/../client.json", callback, "not known"},
		{"https://127.0.0.1/client.json", callback, "public address"},
		{"https://[::ffff:10.0.0.1]/client.json", callback, "public address"},
		{"https://169.254.169.254/client.json", callback, "public address"},
		{"http://app.example/client.json", callback, "not known"},
	} {
		path := request(c.client, "redirect_uri", c.redirect)
		for _, a := range []answer{w.visit(t, "member", path), w.consent(t, "member", path, "")} {
			if a.status/100 != 4 || a.header.Get("Location") != "" || !strings.Contains(a.text, c.text) {
				t.Errorf("%s at %s: %d %v %s", c.client, c.redirect, a.status, a.header, a.text)
			}
		}
	}
	refused := w.consent(t, "member", request(client), "answer=second").location(t)
	if refused.Get("error") != "access_denied" || refused.Get("iss") != public || refused.Has("code") {
		t.Errorf("refused: %v", refused)
	}
	far := w.consent(t, "member", request(client), "", "Sec-Fetch-Site: cross-site")
	if far.status != http.StatusForbidden {
		t.Errorf("from a page of another site: %d %v", far.status, far.header)
	}
	if a := w.consent(t, "nobody", request(client), ""); !strings.HasPrefix(a.header.Get("Location"), "/signin?next=") {
		t.Errorf("signed out: %d %v", a.status, a.header)
	}
}

func TestACodeWorksOnceForWhomItWasMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client, other := w.register(t, newApp), w.register(t, newApp)
	code := func() string { return w.consent(t, "member", request(client), "").location(t).Get("code") }
	for _, change := range [][2]string{
		{"redirect_uri", callback + "/2"}, {"redirect_uri", ""}, {"code_verifier", verifier + "x"},
		{"code_verifier", ""}, {"client_id", other}, {"client_id", ""}, {"client_id", "\x00"}, {"code", "x"},
	} {
		if a := w.redeem(t, client, code(), change[:]...); a.status != http.StatusBadRequest ||
			a.field(t, "error") != "invalid_grant" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%q: %d %s %v", change, a.status, a.text, a.header)
		}
	}
	for _, c := range [][3]string{{"resource", "https://other.example/mcp", "invalid_target"},
		{"grant_type", "password", "unsupported_grant_type"}} {
		if a := w.redeem(t, client, code(), c[:2]...); a.field(t, "error") != c[2] {
			t.Errorf("%q: %s", c, a.text)
		}
	}
	late := code()
	w.exec(t, "UPDATE private.oauth_grants SET created_at = now() - INTERVAL '61 seconds'")
	if a := w.redeem(t, client, late); a.field(t, "error") != "invalid_grant" {
		t.Errorf("after 61 seconds: %s", a.text)
	}
	twice := code()
	first := w.redeem(t, client, twice)
	if a := w.who(t, first.field(t, "access_token"), ""); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.text)
	}
	if a := w.redeem(t, client, twice); a.field(t, "error") != "invalid_grant" {
		t.Errorf("a second time: %s", a.text)
	}
	if a := w.who(t, first.field(t, "access_token"), ""); a.status != http.StatusUnauthorized {
		t.Errorf("what the first use got still works: %d", a.status)
	}
}

func TestAReusedRefreshTokenEndsTheApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client, other := w.register(t, newApp), w.register(t, newApp)
	_, first := w.connect(t, "member", client, "")
	if a := w.refresh(t, other, first); a.field(t, "error") != "invalid_grant" {
		t.Errorf("by another app: %s", a.text)
	}
	second := w.refresh(t, client, first)
	access, last := second.field(t, "access_token"), second.field(t, "refresh_token")
	if a := w.who(t, access, ""); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.text)
	}
	for _, token := range []string{first, last} {
		if a := w.refresh(t, client, token); a.field(t, "error") != "invalid_grant" {
			t.Errorf("after the reuse: %s", a.text)
		}
	}
	if a := w.who(t, access, ""); a.status != http.StatusUnauthorized {
		t.Errorf("after the reuse: %d %s", a.status, a.text)
	}
	for _, which := range []string{"access", "refresh"} {
		access, refresh := w.connect(t, "member", client, "")
		token := map[string]string{"access": access, "refresh": refresh}[which]
		for _, by := range []struct {
			client string
			left   int
		}{{other, http.StatusOK}, {client, http.StatusUnauthorized}} {
			form := url.Values{"token": {token}, "client_id": {by.client}}.Encode()
			if a := w.send(t, "POST", "/revoke", form, isForm); a.status != http.StatusOK {
				t.Errorf("revoke the %s token: %d %s", which, a.status, a.text)
			}
			if a := w.who(t, access, ""); a.status != by.left {
				t.Errorf("%s token revoked by %s: %d %s", which, by.client, a.status, a.text)
			}
		}
	}
}

// A grant never exceeds its user's rights, of the present.
func TestScopesAreTheUsersChoiceWithinTheirRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := w.register(t, newApp)
	if a := w.visit(t, "viewer", request(client, "scope", "tracking:write")); strings.Contains(a.text, "checkbox") {
		t.Errorf("a viewer is offered to start runs: %s", a.text)
	}
	allowed := w.consent(t, "viewer", request(client, "scope", "tracking:write"), "choice=on")
	if allowed.status != http.StatusForbidden {
		t.Errorf("a viewer allows it: %d %v", allowed.status, allowed.header)
	}
	reader, _ := w.connect(t, "member", client, "")
	if a := w.who(t, reader, "/track"); a.status != http.StatusForbidden {
		t.Errorf("without the box: %d %v", a.status, a.header)
	}
	if a := w.who(t, reader, "/forward"); a.text != "" {
		t.Errorf("without the box a request is forwarded with %s", a.text)
	}
	starter, refresh := w.connect(t, "member", client, "choice=on")
	if a := w.who(t, starter, "/track"); a.status != http.StatusOK {
		t.Errorf("with the box: %d %s", a.status, a.text)
	}
	forward := "Authorization: Bearer " + w.who(t, starter, "/forward").text
	if a := w.send(t, "GET", "/api/health", "", forward); a.status != http.StatusOK {
		t.Errorf("forwarded: %d %s", a.status, a.text)
	}
	w.exec(t, "UPDATE public.members SET role = 'viewer' WHERE user_id = $1", w.users["member"].ID)
	if a := w.who(t, starter, "/track"); a.status != http.StatusForbidden {
		t.Errorf("as a viewer since: %d %s", a.status, a.text)
	}
	w.exec(t, "UPDATE private.oauth_grants SET scopes = '{metrics:read}' WHERE client_id = $1", client)
	if a := w.send(t, "GET", "/api/health", "", forward); a.status != http.StatusUnauthorized {
		t.Errorf("forwarded for an app that may not start runs: %d %s", a.status, a.text)
	}
	if a := w.refresh(t, client, refresh); a.field(t, "scope") != "metrics:read" {
		t.Errorf("refreshed as a viewer: %s", a.text)
	}
	w.exec(t, "UPDATE private.users SET is_active = false WHERE id = $1", w.users["member"].ID)
	if a := w.who(t, starter, ""); a.status != http.StatusUnauthorized {
		t.Errorf("disabled: %d %s", a.status, a.text)
	}
	w.exec(t, "UPDATE private.users SET is_active = true WHERE id = $1", w.users["member"].ID)
	w.exec(t, "DELETE FROM public.members WHERE user_id = $1", w.users["member"].ID)
	w.exec(t, "INSERT INTO public.members (organization_id, user_id, role) VALUES ($1, $2, 'member')", w.acme.ID,
		w.users["member"].ID)
	if a := w.who(t, starter, ""); a.status != http.StatusUnauthorized {
		t.Errorf("removed and back: %d %s", a.status, a.text)
	}
}

func TestTokensOfAppsAreForMCPAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	access, refresh := w.connect(t, "admin", w.register(t, newApp), "choice=on")
	for _, path := range []string{"/api/v1/whoami", "/api/v1/brands", "/api/health", "/api/keys", "/api/apps",
		"/auth/v1/user", "/app/api/keys", "/app/api/v1/brands"} {
		if a := w.send(t, "GET", path, "", "Authorization: Bearer "+access); a.status != http.StatusUnauthorized &&
			a.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, a.status, a.text)
		}
	}
	a := w.send(t, "POST", "/auth/v1/token?grant_type=refresh_token", `{"refresh_token":"`+refresh+`"}`)
	if a.status != http.StatusBadRequest {
		t.Errorf("a session of a refresh token: %d %s", a.status, a.text)
	}
	a = w.send(t, "POST", "/auth/v1/token?grant_type=password",
		`{"email":"admin@acme.example","password":"`+password+`"}`)
	for whose, credential := range map[string]string{
		"a user's token": a.field(t, "access_token"), "a refresh token": refresh, "a changed token": access + "x",
		"a session's refresh token": a.field(t, "refresh_token"), "nothing": "",
	} {
		if a := w.who(t, credential, ""); a.status != http.StatusUnauthorized {
			t.Errorf("%s at /mcp: %d %s", whose, a.status, a.text)
		}
	}
	if a := w.refresh(t, "", a.field(t, "refresh_token")); a.field(t, "error") != "invalid_grant" {
		t.Errorf("a session's refresh token: %s", a.text)
	}
}

func TestAnybodyRegistersWithinLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	unused, used := w.register(t, newApp), w.register(t, newApp)
	w.connect(t, "member", used, "")
	w.exec(t, "UPDATE private.oauth_clients SET created_at = now() - INTERVAL '25 hours'")
	w.register(t, newApp)
	if a := w.visit(t, "member", request(unused)); a.status != http.StatusNotFound {
		t.Errorf("unused for a day: %d %s", a.status, a.text)
	}
	if a := w.visit(t, "member", request(used)); a.status != http.StatusOK {
		t.Errorf("used: %d %s", a.status, a.text)
	}
	for uris, code := range map[string]string{
		`[]`: "invalid_redirect_uri", `["http://a.example"]`: "invalid_redirect_uri", `"x"`: "invalid_client_metadata",
		`["https://a.example/","javascript://a/%0aalert(1)"]`:                       "invalid_redirect_uri",
		`["https://a.example/#f"]`:                                                  "invalid_redirect_uri",
		`["https://u@a.example/"]`:                                                  "invalid_redirect_uri",
		`["https://a.example/"],"client_name":"a\u202eb"`:                           "invalid_client_metadata",
		`["https://a.example/"` + strings.Repeat(`,"https://a.example/"`, 10) + `]`: "invalid_redirect_uri",
	} {
		a := w.send(t, "POST", "/register", `{"redirect_uris":`+uris+`}`)
		if a.status != http.StatusBadRequest || a.field(t, "error") != code {
			t.Errorf("%.80s: %d %s, want %s", uris, a.status, a.text, code)
		}
	}
	if a := w.send(t, "POST", "/register", strings.Repeat(" ", 17<<10)); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("17 KB: %d %s", a.status, a.text)
	}
	status := 0
	for range 100 {
		status = w.send(t, "POST", "/register", "x").status
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("the hundredth: %d", status)
	}
}
