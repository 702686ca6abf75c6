package queryapi_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/queryapi/auth"
)

// newLog logs requests too, which must not have a token.
func newLog(to *logbuffer.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// invite invites an address and returns the link.
func (c *client) invite(t *testing.T, email, role string) string {
	t.Helper()
	a := c.post(t, "/app/api/invitations", `{"email":"`+email+`","role":"`+role+`"}`)
	a.is(t, "invite "+email, http.StatusCreated, `"id":"`, `"expires_at":"`, `"mailed":true`)
	if strings.Contains(a.text, `"url"`) {
		t.Errorf("the inviter is shown the link of %s, and can be them: %s", email, a.text)
	}
	mails := c.w.mails(t, "invitation")
	return c.w.url + "/invite/" + mails[len(mails)-1]["token"].(string)
}

// mails returns what the mails of a template tell, the oldest first, by recipient.
func (w *users) mails(t *testing.T, template string) (told []map[string]any) {
	t.Helper()
	rows, err := w.db.Query(t.Context(),
		"SELECT recipient::text, sealed FROM private.mails WHERE template = $1 ORDER BY created_at", template)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var recipient, sealed string
		if err := rows.Scan(&recipient, &sealed); err != nil {
			t.Fatal(err)
		}
		plain, err := w.ring.Open(sealed, recipient)
		if err != nil {
			t.Fatal(err)
		}
		mail := map[string]any{}
		if err := json.Unmarshal(plain, &mail); err != nil {
			t.Fatal(err)
		}
		mail["to"] = recipient
		told = append(told, mail)
	}
	return told
}

// audit returns the lines of an organization's log, the oldest first.
func (w *users) audit(t *testing.T, organization uuid.UUID) (lines []string) {
	t.Helper()
	rows, err := w.db.Query(t.Context(), `SELECT action || '|' || subject || '|' || coalesce(u.email::text, '')
		FROM public.audit_log AS a LEFT JOIN private.users AS u ON u.id = a.actor_id
			WHERE organization_id = $1 ORDER BY at`, organization)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

// lasts checks for how long the newest link of a kind works.
func (w *users) lasts(t *testing.T, kind string, want time.Duration) {
	t.Helper()
	if left := value[time.Duration](t, w, "SELECT max(expires_at) - now() FROM private.one_time_links WHERE kind = $1",
		kind); left > want || left < want-10*time.Minute {
		t.Errorf("a link of kind %s works for %s, want %s", kind, left, want)
	}
}

const gone = "This link does not work."

func TestAnInvitationMakesAMember(t *testing.T) {
	t.Parallel()
	w := newUsers(t, nil)
	ann := w.as(t, "ann@example.com")
	ann.host = "evil.example"
	first := ann.invite(t, "bo@example.com", "viewer")
	link := ann.invite(t, "Bo@example.com", "member")
	if !strings.HasPrefix(link, w.url+"/invite/") {
		t.Errorf("the link of a request with another Host is %s", link)
	}
	w.lasts(t, "invitation", 7*24*time.Hour)
	mail := w.mails(t, "invitation")[1]
	if mail["to"] != "Bo@example.com" || w.url+"/invite/"+mail["token"].(string) != link ||
		mail["organization"] != "Acme" || mail["role"] != "member" || mail["by"] != "ann@example.com" {
		t.Errorf("mailed %v for %s", mail, link)
	}
	bo := w.client()
	for range 100 { // mail scanners follow links
		bo.get(t, link).is(t, "the page", http.StatusOK, "Join Acme", "as member", "Bo@example.com")
	}
	a := bo.get(t, link)
	for header, want := range map[string]string{
		"Referrer-Policy": "strict-origin", "Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow",
		"Content-Type": "text/html; charset=utf-8",
	} {
		if a.header.Get(header) != want {
			t.Errorf("%s: %s", header, a.header.Get(header))
		}
	}
	if policy := a.header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") ||
		strings.Contains(a.text, "<script") {
		t.Errorf("policy %s", policy)
	}
	bo.get(t, first).is(t, "the link that a newer one replaced", http.StatusNotFound, gone)
	bo.submit(t, link, "bo@example.com1").is(t, "a weak password", http.StatusBadRequest, "wrong, or too weak",
		`role="alert"`)
	far := w.client()
	far.far = true
	far.submit(t, link, otherPassword).is(t, "a form of another site", http.StatusForbidden, "another site")
	if a := bo.submit(t, link, otherPassword); a.status != http.StatusSeeOther || a.header.Get("Location") != "/" {
		t.Fatalf("accepted: %d %s", a.status, a.text)
	}
	if got := bo.whoAmI(t); got != "Bo@example.com member" {
		t.Errorf("signed in as %q", got)
	}
	if value[bool](t, w, "SELECT is_unproven FROM private.users WHERE email = 'Bo@example.com'") {
		t.Error("a mailed link proves no address")
	}
	w.client().signIn(t, "bo@example.com", otherPassword).is(t, "sign in later", http.StatusNoContent)
	bo.get(t, link).is(t, "a used link", http.StatusNotFound, gone)
	bo.submit(t, link, otherPassword).is(t, "a used link", http.StatusNotFound, gone)

	link = ann.invite(t, "cy@example.com", "admin")
	id := value[string](t, w, "SELECT id::text FROM public.invitations WHERE email = 'cy@example.com'")
	olga := w.as(t, "olga@example.com")
	olga.send(t, "DELETE", "/app/api/invitations/"+id, "", "").is(t, "revoked by another organization",
		http.StatusNotFound)
	ann.send(t, "DELETE", "/app/api/invitations/"+id, "", "").is(t, "revoked", http.StatusNoContent)
	ann.send(t, "DELETE", "/app/api/invitations/"+id, "", "").is(t, "revoked twice", http.StatusNotFound)
	w.client().submit(t, link, otherPassword).is(t, "a revoked link", http.StatusNotFound, gone)
	lines := w.audit(t, w.acme.ID)
	for _, line := range []string{
		"invitation added|bo@example.com as viewer|ann@example.com",
		"invitation revoked|bo@example.com as viewer|ann@example.com",
		"invitation accepted|Bo@example.com as member|Bo@example.com",
		"member added|Bo@example.com as member|Bo@example.com",
		"user added|Bo@example.com|Bo@example.com", "invitation revoked|cy@example.com as admin|ann@example.com",
	} {
		if !slices.Contains(lines, line) {
			t.Errorf("the audit log lacks %q: %q", line, lines)
		}
	}
	if token := mail["token"].(string); strings.Contains(w.log.String(), token) {
		t.Error("a token is in the log")
	}
}

// Who invites has the link too: it must give them no other account, and no role that they may not give.
func TestAnInvitationTakesNoAccount(t *testing.T) {
	t.Parallel()
	w := newUsers(t, nil)
	w.add(t, w.acme, "owner@example.com", "owner")
	kim := w.add(t, w.acme, "kim@example.com", "member")
	ann, thief := w.as(t, "ann@example.com"), w.client()

	link := ann.invite(t, "olga@example.com", "viewer")
	thief.submit(t, link, otherPassword).is(t, "another password of a user of another organization",
		http.StatusBadRequest, "wrong, or too weak")
	thief.submit(t, link, "short").is(t, "a weak one of theirs", http.StatusBadRequest, "wrong, or too weak")
	thief.submit(t, link, password).is(t, "hers", http.StatusConflict, "in an organization already")
	w.client().signIn(t, "olga@example.com", otherPassword).is(t, "the thief's password", http.StatusBadRequest)
	w.as(t, "olga@example.com")
	if len(thief.cookies) > 0 {
		t.Errorf("the thief has %v", thief.cookies)
	}

	w.exec(t, "DELETE FROM public.members WHERE user_id = $1", kim.ID)
	link = ann.invite(t, "kim@example.com", "viewer")
	thief.submit(t, link, otherPassword).is(t, "another password of a user in no organization", http.StatusBadRequest)
	w.exec(t, "UPDATE private.users SET is_active = false WHERE id = $1", kim.ID)
	thief.submit(t, link, password).is(t, "a disabled user", http.StatusBadRequest, "wrong, or too weak")
	w.exec(t, "UPDATE private.users SET is_active = true WHERE id = $1", kim.ID)
	back := w.client()
	back.submit(t, link, password).is(t, "the user's own password", http.StatusSeeOther)
	if got := back.whoAmI(t); got != "kim@example.com viewer" {
		t.Errorf("signed in as %q", got)
	}

	link = ann.invite(t, "di@example.com", "admin")
	w.exec(t, "UPDATE public.members SET role = 'member' WHERE user_id = $1", w.ann.ID)
	thief.submit(t, link, otherPassword).is(t, "a role above the inviter's now", http.StatusForbidden,
		"may not give the role admin")
	w.exec(t, "UPDATE public.members SET role = 'admin' WHERE user_id = $1", w.ann.ID)
	link = ann.invite(t, "di@example.com", "viewer")
	w.exec(t, "UPDATE public.members SET role = 'member' WHERE user_id = $1", w.ann.ID)
	thief.submit(t, link, otherPassword).is(t, "an inviter who is no admin any more", http.StatusForbidden,
		"may not give the role viewer")
	w.exec(t, "UPDATE public.members SET role = 'admin' WHERE user_id = $1", w.ann.ID)
	w.exec(t, "UPDATE private.users SET is_active = false WHERE id = $1", w.ann.ID)
	thief.submit(t, link, otherPassword).is(t, "an inviter who is disabled", http.StatusNotFound, gone)
	w.exec(t, "UPDATE private.users SET is_active = true WHERE id = $1", w.ann.ID)
	w.exec(t, "DELETE FROM private.users WHERE id = $1", w.ann.ID)
	thief.submit(t, link, otherPassword).is(t, "an inviter who was removed", http.StatusNotFound, gone)
	if n := value[int](t, w, "SELECT count(*) FROM private.users WHERE email = 'di@example.com'"); n != 0 {
		t.Error("di was added")
	}
}

func TestInvitationsAreRefused(t *testing.T) {
	t.Parallel()
	w := newUsers(t, nil)
	w.add(t, w.acme, "mo@example.com", "member")
	ann, mo := w.as(t, "ann@example.com"), w.as(t, "mo@example.com")
	for _, test := range []struct {
		what, body string
		status     int
		text       string
	}{
		{"no JSON", "email", http.StatusBadRequest, "want {"},
		{"text after the value", `{"email":"bo@example.com","role":"viewer"} and`, http.StatusBadRequest, "want {"},
		{"a value after it", `{"email":"bo@example.com","role":"viewer"}{}`, http.StatusBadRequest, "want {"},
		{"a field that does not exist", `{"email":"bo@example.com","role":"viewer","name":"Bo"}`,
			http.StatusBadRequest, "want {"},
		{"two addresses", `{"email":"bo@example.com, eve@example.com","role":"viewer"}`, http.StatusBadRequest,
			"want one address"},
		{"a second header", `{"email":"bo@example.com\r\nBcc: eve@example.com","role":"viewer"}`, http.StatusBadRequest,
			"want one address"},
		{"a name", `{"email":"Bo <bo@example.com>","role":"viewer"}`, http.StatusBadRequest, "want one address"},
		{"a zero byte", `{"email":"bo\u0000@example.com","role":"viewer"}`, http.StatusBadRequest, "want one address"},
		{"a long address", `{"email":"` + strings.Repeat("b", 310) + `@example.com","role":"viewer"}`,
			http.StatusBadRequest, "at most 320 bytes"},
		{"no role", `{"email":"bo@example.com"}`, http.StatusBadRequest, "want viewer, member, admin or owner"},
		{"a role above one's own", `{"email":"bo@example.com","role":"owner"}`, http.StatusForbidden,
			"at most your own, admin"},
		{"a member", `{"email":"MO@example.com","role":"viewer"}`, http.StatusConflict, "in this organization already"},
	} {
		ann.post(t, "/app/api/invitations", test.body).is(t, test.what, test.status, test.text)
	}
	mo.post(t, "/app/api/invitations", `{"email":"bo@example.com","role":"viewer"}`).is(t, "by a member",
		http.StatusForbidden, "admin or owner")
	ann.far = true
	ann.post(t, "/app/api/invitations", `{"email":"bo@example.com","role":"viewer"}`).is(t, "from another site",
		http.StatusForbidden)
	ann.far = false
	w.client().post(t, "/api/invitations", `{}`).is(t, "without a token", http.StatusUnauthorized)

	for n := range 20 {
		ann.invite(t, fmt.Sprintf("n%d@example.com", n), "viewer")
	}
	ann.post(t, "/app/api/invitations", `{"email":"bo@example.com","role":"viewer"}`).is(t, "the 21st of an hour",
		http.StatusTooManyRequests, "at most 20")
	w.exec(t, "UPDATE private.one_time_links SET created_at = created_at - INTERVAL '2 hours'")
	w.exec(t, `INSERT INTO public.invitations (organization_id, email, role, created_at)
		SELECT $1, 'm' || n || '@example.com', 'viewer', now() - INTERVAL '2 hours' FROM generate_series(1, 30) AS n`,
		w.acme.ID)
	ann.post(t, "/app/api/invitations", `{"email":"bo@example.com","role":"viewer"}`).is(t, "the 51st open one",
		http.StatusConflict, "at most 50")
	ann.invite(t, "M2@example.com", "viewer") // in place of the open one
	w.exec(t, "UPDATE public.invitations SET expires_at = now() WHERE email = 'm1@example.com'")
	ann.invite(t, "bo@example.com", "viewer")
}

func TestWithoutMailLinksAreShown(t *testing.T) {
	t.Parallel()
	w := newUsers(t, func(s *config.Settings) { s.Mail = config.Mail{} })
	ann := w.as(t, "ann@example.com")
	a := ann.post(t, "/app/api/invitations", `{"email":"bo@example.com","role":"viewer"}`)
	a.is(t, "invite", http.StatusCreated, w.url+"/invite/", `"mailed":false`)
	w.client().submit(t, between(t, a.text, `"url":"`, `"`), otherPassword).is(t, "accept", http.StatusSeeOther)
	w.askReset(t, "ann@example.com").is(t, "reset", http.StatusServiceUnavailable, "ask the operator",
		"ANSWERSCOPE_SMTP_URL")
	ann.post(t, "/app/api/subscriptions", `{"address":"bo@example.com"}`).is(t, "subscribe",
		http.StatusServiceUnavailable, "ANSWERSCOPE_SMTP_URL")
	if n := value[int](t, w, "SELECT count(*) FROM private.mails"); n != 0 {
		t.Errorf("%d mails", n)
	}
}

func TestLinksBeginWithThePublicURL(t *testing.T) {
	t.Parallel()
	w := newUsers(t, func(s *config.Settings) { s.PublicURL = "" })
	ann := w.as(t, "ann@example.com")
	ann.post(t, "/app/api/invitations", `{"email":"bo@example.com","role":"viewer"}`).is(t, "invite",
		http.StatusServiceUnavailable, "ANSWERSCOPE_PUBLIC_URL")
}

// With an issuer of the operator's, it alone invites and resets.
func TestWithAnOutsideIssuerThereAreNoInvitations(t *testing.T) {
	t.Parallel()
	w := newUsers(t, func(s *config.Settings) {
		s.Issuer = config.Issuer{Name: "https://issuer.example", Secret: config.NewSecret(strings.Repeat("s", 32))}
	})
	c := w.client()
	for _, request := range [][2]string{
		{"GET", "/invite/x"}, {"POST", "/invite/x"}, {"GET", "/reset/x"}, {"POST", "/app/api/reset"},
		{"POST", "/api/invitations"},
	} {
		c.send(t, request[0], request[1], "application/json", "{}").is(t, request[1], http.StatusNotFound)
	}
	c.get(t, "/unsubscribe/x").is(t, "unsubscribe", http.StatusNotFound, gone)
}

func TestAnAddressConfirmsAndStopsItsMails(t *testing.T) {
	t.Parallel()
	w := newUsers(t, nil)
	ann, olga := w.as(t, "ann@example.com"), w.as(t, "olga@example.com")
	brand := value[uuid.UUID](t, w,
		"INSERT INTO public.brands (organization_id, name) VALUES ($1, 'Anvils') RETURNING id", w.acme.ID)
	a := ann.post(t, "/app/api/subscriptions",
		`{"address":"bo@example.com","brand_id":"`+brand.String()+`","events":["report.weekly"],"drops_only":false}`)
	a.is(t, "subscribe", http.StatusCreated)
	id := between(t, a.text, `"id":"`, `"`)
	state := func() string {
		return value[string](t, w,
			`SELECT concat_ws(' ', array_to_string(events, ','), drops_only,
				(confirmed_at IS NOT NULL), (stopped_at IS NOT NULL), stopped_reason)
			FROM public.subscriptions WHERE id = $1`, id)
	}
	if got := state(); got != "report.weekly f f f" {
		t.Errorf("added as %s", got)
	}
	w.lasts(t, "confirmation", 7*24*time.Hour)
	mail := w.mails(t, "confirm")[0]
	link, bo := "/confirm/"+mail["token"].(string), w.client()
	if mail["to"] != "bo@example.com" || mail["organization"] != "Acme" {
		t.Errorf("mailed %v", mail)
	}
	for range 100 {
		bo.get(t, link).is(t, "the page", http.StatusOK, "Anvils of Acme", "bo@example.com")
		bo.get(t, "/unsubscribe/"+id).is(t, "the page", http.StatusOK, "Anvils of Acme", "bo@example.com")
	}
	if got := state(); got != "report.weekly f f f" {
		t.Errorf("GET has made it %s", got)
	}
	bo.submit(t, link, "").is(t, "confirm", http.StatusOK, "confirmed")
	bo.submit(t, link, "").is(t, "confirm twice", http.StatusNotFound, gone)
	if got := state(); got != "report.weekly f t f" {
		t.Errorf("confirmed: %s", got)
	}
	click := w.client() // of a mail program (RFC 8058)
	click.far = true
	for range 2 {
		click.send(t, "POST", "/unsubscribe/"+id, "application/x-www-form-urlencoded",
			"List-Unsubscribe=One-Click").is(t, "one click", http.StatusOK, "No more mails")
	}
	if got := state(); got != "report.weekly f t t unsubscribed" {
		t.Errorf("stopped: %s", got)
	}

	for _, test := range []struct {
		what, body string
		status     int
		text       string
	}{
		{"twice", `{"address":"BO@example.com","brand_id":"` + brand.String() + `"}`, http.StatusConflict,
			"subscribed already"},
		{"a type that does not exist", `{"address":"cy@example.com","events":["brand.sold"]}`, http.StatusBadRequest,
			"report.weekly"},
		{"a zero byte in a type", `{"address":"cy@example.com","events":["\u0000"]}`,
			http.StatusBadRequest, "zero byte"},
		{"two addresses", `{"address":"cy@example.com,eve@example.com"}`, http.StatusBadRequest, "want one address"},
		{"no UUID", `{"address":"cy@example.com","brand_id":"anvils"}`, http.StatusBadRequest, "want {"},
		{"a brand that does not exist", `{"address":"cy@example.com","brand_id":"` +
			uuid.Must(uuid.NewV4()).String() + `"}`, http.StatusNotFound, "no such brand"},
	} {
		ann.post(t, "/app/api/subscriptions", test.body).is(t, test.what, test.status, test.text)
	}
	w.exec(t, "SET LOCAL ROLE NONE; ALTER TABLE public.subscriptions ADD CONSTRAINT is_not_cy CHECK (address <> "+
		"'cy@example.com')")
	ann.post(t, "/app/api/subscriptions", `{"address":"cy@example.com"}`).is(t, "a check whose text is PostgreSQL's",
		http.StatusInternalServerError, "internal error")
	w.exec(t, "SET LOCAL ROLE NONE; ALTER TABLE public.subscriptions DROP CONSTRAINT is_not_cy")
	olga.post(t, "/app/api/subscriptions", `{"address":"cy@example.com","brand_id":"`+brand.String()+`"}`).is(t,
		"another organization's brand", http.StatusNotFound, "no such brand")
	for n := range 19 {
		ann.post(t, "/app/api/subscriptions", fmt.Sprintf(`{"address":"n%d@example.com"}`, n)).is(t, "subscribe",
			http.StatusCreated)
	}
	a = ann.post(t, "/app/api/subscriptions", `{"address":"cy@example.com"}`)
	a.is(t, "the 21st of an hour", http.StatusTooManyRequests, "at most 20")
	if a.header.Get("Retry-After") != "3600" {
		t.Errorf("the 21st of an hour: %v", a.header)
	}
	w.exec(t, "UPDATE private.one_time_links SET created_at = created_at - INTERVAL '2 hours'")
	ann.post(t, "/app/api/subscriptions", `{"address":"cy@example.com"}`).is(t, "the 20th of all brands",
		http.StatusCreated)
	ann.post(t, "/app/api/subscriptions", `{"address":"di@example.com"}`).is(t, "the 21st of all brands",
		http.StatusConflict, "at most 20")
}

// Whatever is wrong with a token, the page is one.
func TestEveryLinkThatDoesNotWorkHasOnePage(t *testing.T) {
	t.Parallel()
	w := newUsers(t, nil)
	ann := w.as(t, "ann@example.com")
	invitation := strings.TrimPrefix(ann.invite(t, "bo@example.com", "viewer"), w.url+"/invite/")
	pages := map[string]bool{}
	for _, path := range []string{"/invite/", "/reset/", "/confirm/", "/unsubscribe/"} {
		for _, token := range []string{
			"x", uuid.Must(uuid.NewV4()).String(), uuid.Nil.String(), "%00", invitation, invitation[1:],
			strings.Repeat("a", 4000),
		} {
			for _, method := range []string{"GET", "POST"} {
				if token == invitation && path == "/invite/" {
					continue
				}
				a := ann.send(t, method, path+token, "application/x-www-form-urlencoded", "password="+otherPassword)
				a.is(t, method+" "+path+token, http.StatusNotFound, gone)
				pages[a.text] = true
			}
		}
	}
	if len(pages) != 1 {
		t.Errorf("%d pages", len(pages))
	}
	ann.send(t, "DELETE", "/invite/"+invitation, "", "").is(t, "another method", http.StatusMethodNotAllowed, "</html>")
	if _, err := auth.VerifyPassword(value[string](t, w,
		"SELECT password_hash FROM private.users WHERE id = $1", w.ann.ID), password); err != nil {
		t.Error(err)
	}
}
