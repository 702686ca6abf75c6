package queryapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// askReset asks for another password from an address of its own.
func (w *users) askReset(t *testing.T, email string) answer {
	t.Helper()
	return w.client().post(t, "/app/api/reset", `{"email":"`+email+`"}`)
}

func TestAPasswordIsReset(t *testing.T) {
	t.Parallel()
	w := newUsers(t, nil)
	w.add(t, w.acme, "off@example.com", "member")
	w.exec(t, "UPDATE private.users SET is_active = false WHERE email = 'off@example.com'")
	session := w.as(t, "ann@example.com")
	key := between(t, session.post(t, "/app/api/keys", `{"name":"reports"}`).text, `"key":"`, `"`)
	poisoned := w.client()
	poisoned.host = "evil.example"
	first := poisoned.post(t, "/app/api/reset", `{"email":"ann@example.com"}`)
	wait.For(t, "the first mail", func() bool { return len(w.mails(t, "reset")) == 1 })
	for _, email := range []string{"nobody@example.com", "off@example.com", "ANN@example.com"} {
		if a := w.askReset(t, email); a.status != http.StatusAccepted || a.text != first.text ||
			a.status != first.status {
			t.Errorf("%s: %d %s, of another address %s", email, a.status, a.text, first.text)
		}
	}
	wait.For(t, "the second mail", func() bool { return len(w.mails(t, "reset")) == 2 })
	mails := w.mails(t, "reset")
	if mails[0]["to"] != "ann@example.com" || mails[1]["to"] != "ann@example.com" {
		t.Errorf("mailed %v", mails)
	}
	w.lasts(t, "password_reset", time.Hour)
	old, link := w.url+"/reset/"+mails[0]["token"].(string), w.url+"/reset/"+mails[1]["token"].(string)
	ann := w.client()
	for range 100 {
		ann.get(t, link).is(t, "the page", http.StatusOK, "ann@example.com", "New password")
	}
	ann.submit(t, old, otherPassword).is(t, "the link that a newer one voids", http.StatusNotFound, gone)
	ann.submit(t, link, "short").is(t, "a weak password", http.StatusBadRequest, "at least 8 characters")
	if session.whoAmI(t) == "" {
		t.Error("her session ended before the password was set")
	}
	ann.submit(t, link, otherPassword).is(t, "set", http.StatusOK, "signed out everywhere")
	ann.submit(t, link, password).is(t, "a used link", http.StatusNotFound, gone)
	if got := session.whoAmI(t); got != "" {
		t.Errorf("a session of before is still %s", got)
	}
	w.client().signIn(t, "ann@example.com", password).is(t, "the old password", http.StatusBadRequest)
	w.client().signIn(t, "ann@example.com", otherPassword).is(t, "the new one", http.StatusNoContent)
	if n := value[int](t, w, "SELECT count(*) FROM public.api_keys WHERE prefix = $1 AND revoked_at IS NULL",
		key[:8]); n != 1 {
		t.Error("her key was revoked")
	}
	if changed := w.mails(t, "password_changed"); len(changed) != 1 || changed[0]["to"] != "ann@example.com" {
		t.Errorf("mailed of the change %v", changed)
	}
	lines := w.audit(t, w.acme.ID)
	for _, line := range []string{
		"password reset asked|ann@example.com|", "password set|ann@example.com|ann@example.com",
	} {
		if !slices.Contains(lines, line) {
			t.Errorf("the audit log lacks %q: %q", line, lines)
		}
	}
	if strings.Contains(w.log.String(), mails[1]["token"].(string)) {
		t.Error("a token is in the log")
	}

	w.askReset(t, "ann@example.com") // the third of this hour, and the fourth, which is not mailed
	w.askReset(t, "ann@example.com")
	w.askReset(t, "olga@example.com")
	wait.For(t, "olga's mail", func() bool { return strings.Contains(fmt.Sprint(w.mails(t, "reset")), "olga") })
	if n := len(w.mails(t, "reset")); n != 4 {
		t.Errorf("%d mails", n)
	}
	link = w.url + "/reset/" + w.mails(t, "reset")[2]["token"].(string)
	w.exec(t, "UPDATE private.one_time_links SET expires_at = now()")
	ann.submit(t, link, password).is(t, "an expired link", http.StatusNotFound, gone)
}

// The answer does not wait for the look-up of the address, so its time tells nothing: it comes while nobody can read
// the users. The eleventh request of a client mails nothing, and is answered as the others.
func TestTheTimeOfAResetTellsNothing(t *testing.T) {
	t.Parallel()
	w := newUsers(t, nil)
	tx, err := w.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(),
		"SET LOCAL ROLE answerscope_owner; LOCK TABLE private.users IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	times := map[bool]time.Duration{}
	texts := map[string]bool{}
	for n := range 11 {
		known := n%2 == 1
		email := fmt.Sprintf("n%d@example.com", n)
		if known {
			email = "olga@example.com"
		}
		if n == 10 {
			email = "ann@example.com"
		}
		began := time.Now()
		a := w.askReset(t, email)
		times[known] += time.Since(began)
		texts[fmt.Sprint(a.status, a.text)] = true
	}
	if len(texts) != 1 {
		t.Errorf("answers %v", texts)
	}
	t.Logf("6 unknown addresses in %s, 5 known ones in %s", times[false], times[true])
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "three mails", func() bool { return len(w.mails(t, "reset")) == 3 })
	if told := fmt.Sprint(w.mails(t, "reset")); strings.Contains(told, "ann@") {
		t.Errorf("the eleventh was mailed: %s", told)
	}
}
