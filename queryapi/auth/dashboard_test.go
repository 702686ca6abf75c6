package auth

import (
	"net/http"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/httpd"
)

// newDashboard serves /app/api/session beside /auth/v1, and a path that takes writes.
func newDashboard(t *testing.T) *environment {
	t.Helper()
	w := newEnvironment(t)
	w.url = w.serveDashboard(t, w.config())
	return w
}

func (w *environment) serveDashboard(t *testing.T, cfg Config) (url string) {
	t.Helper()
	provider := NewProvider(cfg, w.db, ringOf(t, "k"), newLog(w))
	return w.serve(t, func(server *httpd.Server) {
		provider.Mount(server)
		provider.MountDashboard(server)
	})
}

// page sends a request as the dashboard's page does, whose cookie is that header, and more headers.
func (w *environment) page(t *testing.T, method, path, body, cookie string, headers ...string) answer {
	t.Helper()
	headers = append(headers, "X-Answerscope", "1", "Sec-Fetch-Site", "same-origin")
	if cookie != "" {
		headers = append(headers, "Cookie", cookie)
	}
	return w.ask(t, method, path, body, headers...)
}

const annSignsIn = `{"email":"ann@example.com","password":"` + rightPassword + `"}`

// enter signs ann in and returns her cookie.
func (w *environment) enter(t *testing.T, headers ...string) (cookie, attributes string) {
	t.Helper()
	a := w.page(t, "POST", "/app/api/session", annSignsIn, "", headers...)
	if a.status != http.StatusNoContent {
		t.Fatalf("sign in: %d %s", a.status, a.text)
	}
	cookie, attributes, _ = strings.Cut(a.header.Get("Set-Cookie"), ";")
	return cookie, strings.ToLower(attributes)
}

func TestTheDashboardHasASessionInACookie(t *testing.T) {
	t.Parallel()
	w := newDashboard(t)
	if a := w.page(t, "GET", "/app/api/session", "", ""); a.status != http.StatusUnauthorized {
		t.Errorf("without a cookie: %d %s", a.status, a.text)
	}
	cookie, attributes := w.enter(t)
	for _, want := range []string{"max-age=2592000", "path=/", "httponly", "samesite=lax"} {
		if !strings.Contains(attributes, want) {
			t.Errorf("the cookie lacks %s: %s", want, attributes)
		}
	}
	if name, _, _ := strings.Cut(cookie, "="); name != "answerscope" || strings.Contains(attributes, "secure") ||
		strings.Contains(attributes, "domain") {
		t.Errorf("without TLS the cookie is %s; %s", name, attributes)
	}
	a := w.page(t, "GET", "/app/api/session", "", cookie)
	if a.status != http.StatusOK || a.body["email"] != "ann@example.com" || a.body["userId"] != w.ann.ID.String() ||
		a.body["role"] != "admin" || a.body["organizationId"] == "" {
		t.Errorf("signed in: %d %s", a.status, a.text)
	}
	var kept int
	if err := w.db.QueryRow(t.Context(), "SELECT count(*) FROM private.sessions WHERE cookie_hash = sha256($1)",
		[]byte(strings.TrimPrefix(cookie, "answerscope="))).Scan(&kept); err != nil || kept != 1 {
		t.Errorf("%d sessions are kept by the hash of the cookie, %v", kept, err)
	}

	another, _ := w.enter(t)
	out := w.page(t, "DELETE", "/app/api/session", "", cookie)
	if out.status != http.StatusNoContent || !strings.HasPrefix(out.header.Get("Set-Cookie"), "answerscope=;") {
		t.Errorf("sign out: %d %v", out.status, out.header)
	}
	if a := w.page(t, "GET", "/app/api/session", "", cookie); a.status != http.StatusUnauthorized {
		t.Errorf("signed out, the cookie still works: %d", a.status)
	}
	if a := w.page(t, "GET", "/app/api/session", "", another); a.status != http.StatusOK {
		t.Errorf("another session of hers ended too: %d", a.status)
	}
	if a := w.page(t, "DELETE", "/app/api/session", "", cookie); a.status != http.StatusNoContent {
		t.Errorf("signed out twice: %d %s", a.status, a.text)
	}
}

// Who changes a password shows the current one. The session that does it goes on, the others end.
func TestAUserChangesTheirPassword(t *testing.T) {
	t.Parallel()
	w := newDashboard(t)
	const second, third = "opal-ferry-drum-47", "kiln-vapor-nest-26"
	change := func(current, next string) string {
		return `{"current_password":"` + current + `","password":"` + next + `"}`
	}
	signs := func(password string) int {
		return w.ask(t, "POST", "/auth/v1/token?grant_type=password",
			`{"email":"ann@example.com","password":"`+password+`"}`).status
	}
	cookie, _ := w.enter(t)
	tab := w.signIn(t, "ann@example.com")
	if a := w.page(t, "PUT", "/app/api/user", change("wrong", second), cookie); a.status != http.StatusBadRequest {
		t.Errorf("with a wrong password: %d %s", a.status, a.text)
	}
	if a := w.ask(t, "PUT", "/app/api/user", change(rightPassword, second), "Cookie",
		cookie); a.status != http.StatusForbidden {
		t.Errorf("by a page of another site: %d %s", a.status, a.text)
	}
	if a := w.page(t, "PUT", "/app/api/user", change(rightPassword, second), cookie); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.text)
	}
	w.with(t, "GET", "/auth/v1/user", tab.access).refused(t, "her other session", 403, "session_not_found")
	if a := w.page(t, "GET", "/app/api/session", "", cookie); a.status != http.StatusOK {
		t.Errorf("her session: %d %s", a.status, a.text)
	}
	if signs(rightPassword) != http.StatusBadRequest || signs(second) != http.StatusOK {
		t.Error("the old password signs in, or the new one does not")
	}
	tab = sessionOf(t, w.ask(t, "POST", "/auth/v1/token?grant_type=password",
		`{"email":"ann@example.com","password":"`+second+`"}`))
	a := w.ask(t, "PUT", "/auth/v1/user", change(second, third), "Authorization", "Bearer "+tab.access)
	if a.status != http.StatusOK || a.body["id"] != w.ann.ID.String() {
		t.Errorf("as GoTrue: %d %s", a.status, a.text)
	}
	if a := w.with(t, "GET", "/auth/v1/user", tab.access); a.status != http.StatusOK {
		t.Errorf("the session of the program: %d %s", a.status, a.text)
	}
	if a := w.page(t, "GET", "/app/api/session", "", cookie); a.status != http.StatusUnauthorized {
		t.Errorf("the dashboard's session: %d %s", a.status, a.text)
	}
	if log := w.log.String(); strings.Contains(log, second) || !strings.Contains(log, "password changed") {
		t.Error("the log has a password, or not that it was changed")
	}
}

const publicURL = "https://dashboard.example"

// Behind TLS only the cookie with the prefix __Host- is set and taken.
func TestBehindTLSTheCookieIsHeldToTheHost(t *testing.T) {
	t.Parallel()
	w := newDashboard(t)
	plain, _ := w.enter(t)
	cfg := w.config()
	cfg.PublicURL = publicURL
	w.url = w.serveDashboard(t, cfg)
	secure, attributes := w.enter(t, "Origin", publicURL)
	if !strings.HasPrefix(secure, "__Host-answerscope=") || !strings.Contains(attributes, "secure") ||
		!strings.Contains(attributes, "path=/") || strings.Contains(attributes, "domain") {
		t.Errorf("the cookie is %s; %s", secure, attributes)
	}
	if a := w.page(t, "GET", "/app/api/session", "", secure); a.status != http.StatusOK {
		t.Errorf("signed in: %d %s", a.status, a.text)
	}
	// A page on a sibling host sets a cookie without the prefix for the whole domain, with a session of its author.
	if a := w.page(t, "GET", "/app/api/session", "", plain); a.status != http.StatusUnauthorized {
		t.Errorf("a cookie that another host may have set: %d %s", a.status, a.text)
	}
	if a := w.page(t, "POST", "/app/api/session", annSignsIn, "", "Origin",
		"http://dashboard.example"); a.status != http.StatusForbidden || !strings.Contains(a.text, publicURL) ||
		a.header.Get("Set-Cookie") != "" {
		t.Errorf("a sign-in without TLS, whose cookie the browser would drop: %d %s", a.status, a.text)
	}
}

// The dashboard was used without TLS first, then TLS was added: the browser has a cookie of each name, and sends both.
func TestSignOutEndsEverySessionThatTheRequestShows(t *testing.T) {
	t.Parallel()
	w := newDashboard(t)
	plain, _ := w.enter(t)
	without := w.url
	cfg := w.config()
	cfg.PublicURL = publicURL
	w.url = w.serveDashboard(t, cfg)
	secure, _ := w.enter(t, "Origin", publicURL)
	out := w.page(t, "DELETE", "/app/api/session", "", plain+"; "+secure+"; answerscope=unknown; other=x")
	removed := out.header.Values("Set-Cookie")
	if out.status != http.StatusNoContent || len(removed) != 2 ||
		!strings.HasPrefix(removed[0], "__Host-answerscope=;") || !strings.HasPrefix(removed[1], "answerscope=;") {
		t.Errorf("sign out: %d %q", out.status, removed)
	}
	for url, cookie := range map[string]string{w.url: secure, without: plain} {
		w.url = url
		if a := w.page(t, "GET", "/app/api/session", "", cookie); a.status != http.StatusUnauthorized {
			t.Errorf("signed out, %s still works: %d", cookie, a.status)
		}
	}
}

// Where TLS ends at a proxy and the public URL is not set, the log says so, once.
func TestAnUnknownTLSIsWarnedOf(t *testing.T) {
	t.Parallel()
	w := newDashboard(t)
	for range 2 {
		w.enter(t, "Origin", publicURL)
	}
	if n := strings.Count(w.log.String(), "set ANSWERSCOPE_PUBLIC_URL"); n != 1 {
		t.Errorf("%d warnings: %s", n, w.log.String())
	}
}

// What ends a user's sessions ends these, and 30 days without use.
func TestADashboardSessionEndsWithTheNextRequest(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{
		"disabled": "UPDATE private.users SET is_active = false WHERE id = $1",
		"removed":  "DELETE FROM public.members WHERE user_id = $1",
		"deleted":  "DELETE FROM private.users WHERE id = $1",
		"not used": "UPDATE private.sessions SET refreshed_at = now() - INTERVAL '30 days 1 second' " +
			"WHERE user_id = $1",
		// as set_password.sql does
		"another password": "UPDATE private.sessions SET revoked_at = now() WHERE user_id = $1",
	} {
		t.Run(name, func(t *testing.T) {
			w := newDashboard(t)
			cookie, _ := w.enter(t)
			w.exec(t, end, w.ann.ID)
			if a := w.page(t, "GET", "/app/api/session", "", cookie); a.status != http.StatusUnauthorized {
				t.Errorf("%d %s", a.status, a.text)
			}
		})
	}
	w := newDashboard(t)
	cookie, _ := w.enter(t)
	if a := w.page(t, "GET", "/app/api/session", "", cookie); a.header.Get("Set-Cookie") != "" {
		t.Errorf("a new session is renewed: %v", a.header)
	}
	w.exec(t, "UPDATE private.sessions SET refreshed_at = now() - INTERVAL '29 days'")
	if a := w.page(t, "GET", "/app/api/session", "", cookie); a.status != http.StatusOK ||
		!strings.HasPrefix(a.header.Get("Set-Cookie"), cookie+";") {
		t.Errorf("used after 29 days: %d %v", a.status, a.header)
	}
	w.exec(t, "UPDATE private.sessions SET refreshed_at = refreshed_at - INTERVAL '29 days'")
	if a := w.page(t, "GET", "/app/api/session", "", cookie); a.status != http.StatusOK {
		t.Errorf("used after 58 days, and 29 days before: %d", a.status)
	}
}

func TestAWriteOfAnotherOriginIsForbidden(t *testing.T) {
	t.Parallel()
	w := newDashboard(t)
	cookie, _ := w.enter(t)
	host := strings.TrimPrefix(w.url, "http://")
	for _, test := range []struct {
		what    string
		headers []string
		want    int
	}{
		{"nothing", nil, http.StatusForbidden},
		{"no header", []string{"Sec-Fetch-Site", "same-origin"}, http.StatusForbidden},
		{"no origin", []string{"X-Answerscope", "1"}, http.StatusForbidden},
		{"cross-site", []string{"X-Answerscope", "1", "Sec-Fetch-Site", "cross-site", "Origin", "http://" + host},
			http.StatusForbidden},
		{"another site", []string{"X-Answerscope", "1", "Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		{"by hand", []string{"X-Answerscope", "1", "Sec-Fetch-Site", "none"}, http.StatusForbidden},
		{"another origin", []string{"X-Answerscope", "1", "Origin", "http://evil.example"}, http.StatusForbidden},
		{"an origin without a name", []string{"X-Answerscope", "1", "Origin", "null"}, http.StatusForbidden},
		{"this origin, without TLS", []string{"X-Answerscope", "1", "Origin", "http://" + host}, http.StatusNoContent},
	} {
		for _, write := range [][2]string{{"POST", annSignsIn}, {"DELETE", ""}} {
			a := w.ask(t, write[0], "/app/api/session", write[1], append(test.headers, "Cookie", cookie)...)
			if a.status != test.want || test.want == http.StatusForbidden &&
				!strings.Contains(a.text, `{"error":"a write needs`) {
				t.Errorf("%s, %s: %d %s", write[0], test.what, a.status, a.text)
			}
		}
		if test.want == http.StatusForbidden {
			if a := w.page(t, "GET", "/app/api/session", "", cookie); a.status != http.StatusOK {
				t.Errorf("%s ended the session", test.what)
			}
		}
	}
}

// One limit, one budget of hashes and one text, whichever way a password is tried.
func TestTheDashboardSignsInAsAuthDoes(t *testing.T) {
	t.Parallel()
	w := newDashboard(t)
	var texts []string
	for _, body := range []string{
		`{"email":"ann@example.com","password":"wrong"}`, `{"email":"nobody@example.com","password":"wrong"}`,
	} {
		a := w.page(t, "POST", "/app/api/session", body, "")
		if a.status != http.StatusBadRequest || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s", body, a.status, a.text)
		}
		texts = append(texts, a.text)
	}
	if texts[0] != texts[1] || texts[0] != `{"error":"Invalid login credentials"}` {
		t.Errorf("one address is known by its text: %q", texts)
	}
	if a := w.page(t, "POST", "/app/api/session", "no JSON", ""); a.status != http.StatusBadRequest {
		t.Errorf("no JSON: %d %s", a.status, a.text)
	}
	for range maxSignIns {
		w.ask(t, "POST", "/auth/v1/token?grant_type=password", `{}`)
	}
	if a := w.page(t, "POST", "/app/api/session", annSignsIn, ""); a.status != http.StatusTooManyRequests ||
		a.header.Get("Retry-After") == "" {
		t.Errorf("after %d tries at /auth/v1: %d %s", maxSignIns, a.status, a.text)
	}
}
