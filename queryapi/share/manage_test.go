package share_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A wrong field is refused with what would be right; all wrong fields are named at once.
func TestWhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	many := `"https://a.example","https://b.example","https://c.example","https://d.example","https://e.example",` +
		`"https://f.example"`
	for _, c := range []struct {
		fields string
		want   string // of the message, between spaces
	}{
		{`"screens":["tracking"]`,
			"screens: want some of overview, competitors, sources, prompts, traffic, shopping, answers"},
		{`"screens":["overview",""]`, "screens: want some of"},
		{`"embed_origins":["http://a.example"]`, "embed_origins: want at most 5 origins such as https://example.com"},
		{`"embed_origins":["https://a.example/"]`, "embed_origins:"},
		{`"embed_origins":["https://a.example; script-src *"]`, "embed_origins:"},
		{`"embed_origins":["*"]`, "embed_origins:"},
		{`"embed_origins":[` + many + `]`, "embed_origins:"},
		{`"expires_at":"2020-01-01T00:00:00Z"`, "expires_at: want a time to come, or null for never"},
		{`"expires_at":"soon"`, `the body cannot be read: want {"brand_id": UUID}`},
		{`"password":"short"`, "password: want at least 8 characters"},
		{`"password":"` + password + `","embed_origins":["https://a.example"]`,
			"password: a frame of another site takes none"},
		{`"filters":{"plattform":"openai"}`, "platform"},
		{`"filters":{"brand_id":"01890a5d-ac96-774b-bcce-b302099a8057"}`, "filters:"},
		{`"filters":{"platform":["openai"]}`, `filters: "platform": want a text, a number, true or false`},
		{`"filters":{"topic_id":"x"}`, "topic_id: want the id of a topic, a UUID"},
		{`"filters":{"branded":"maybe"}`, "branded: want one of"},
		{`"filters":{"last_days":0}`, "last_days: want 1 to 731"},
		{`"filters":{"last_days":30,"date_from":"2026-01-01","date_to":"2026-01-31"}`,
			"last_days: want 1 to 731, in place of date_from and date_to"},
		{`"filters":{"date_from":"2026-01-01"}`, "want both of date_from and date_to"},
		{`"filters":{"date_from":"2026-02-01","date_to":"2026-01-01"}`, "date_from: want a day up to date_to"},
		{`"filters":{"platform":"openai"},"screens":["overview","traffic"]`, "share traffic by a link of its own"},
		{`"title":"a\u0000b"`, "title: want at most 512 bytes without control characters"},
		{`"colour":"red"`, "the body cannot be read: want"},
		{`"screens":"overview"`, "the body cannot be read: want"},
	} {
		status, _, text := w.ask(t, "POST", "/api/shares", `{"brand_id":"`+w.ours.ID.String()+`",`+c.fields+`}`,
			w.tokens["member"])
		if status != http.StatusBadRequest || !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), c.want) {
			t.Errorf("%s: %d %s, want %s", c.fields, status, text, c.want)
		}
	}
	_, _, text := w.ask(t, "POST", "/api/shares",
		`{"brand_id":"`+w.ours.ID.String()+`","screens":["x"],"password":"x","expires_at":"2020-01-01T00:00:00Z"}`,
		w.tokens["member"])
	for _, field := range []string{"screens:", "password:", "expires_at:"} {
		if !strings.Contains(text, field) {
			t.Errorf("%s is not named: %s", field, text)
		}
	}
	for _, body := range []string{"", "[]", `{"brand_id":"x"}`} {
		if status, _, text := w.ask(t, "POST", "/api/shares", body,
			w.tokens["member"]); status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", body, status, text)
		}
	}
}

// Members make links and revoke their own, admins revoke all; nobody those of another organization.
func TestWhoMakesAndRevokes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	brand := `{"brand_id":"` + w.ours.ID.String() + `"}`
	for credential, want := range map[string]int{
		w.tokens["viewer"]: 403, w.tokens["stranger"]: 404, "Authorization: Bearer " + w.key: 401, "X-None: x": 401,
		w.tokens["member"]: 201, w.tokens["admin"]: 201, w.tokens["owner"]: 201,
	} {
		if status, header, text := w.ask(t, "POST", "/api/shares", brand, credential); status != want ||
			status == 201 && header.Get("Cache-Control") != "no-store" {
			t.Errorf("made by %.60s: %d %s, want %d", credential, status, text, want)
		}
	}
	if status, _, text := w.ask(t, "POST", "/api/shares", `{"brand_id":"`+w.others.ID.String()+`"}`,
		w.tokens["owner"]); status != 404 {
		t.Errorf("another organization's brand: %d %s", status, text)
	}
	if status, _, _ := w.ask(t, "POST", "/app/api/shares", brand, w.tokens["owner"]); status != 403 && status != 401 {
		t.Errorf("a write without a session: %d", status)
	}
	shared := w.make(t, "member", `"screens":["overview"]`)
	for _, c := range []struct {
		user string
		want int
	}{{"viewer", 404}, {"colleague", 404}, {"stranger", 404}, {"member", 204}, {"member", 204}, {"admin", 204}} {
		if status, _, text := w.ask(t, "DELETE", "/api/shares/"+shared.ID.String(), "",
			w.tokens[c.user]); status != c.want {
			t.Errorf("revoked by %s: %d %s", c.user, status, text)
		}
	}
	for _, id := range []string{"x", "00000000-0000-0000-0000-000000000000"} {
		if status, _, text := w.ask(t, "DELETE", "/api/shares/"+id, "", w.tokens["owner"]); status != 404 {
			t.Errorf("revoked %s: %d %s", id, status, text)
		}
	}
	var lines []string
	rows, err := w.db.Query(t.Context(), "SELECT a.action || ' ' || a.subject || ' ' || "+
		"u.email FROM public.audit_log AS a JOIN private.users AS u ON u.id = a.actor_id WHERE a.action LIKE 'share "+
		"%' ORDER BY a.at")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if log := strings.Join(lines, "\n"); strings.Count(log, "share added lumen Lumen") != 4 ||
		strings.Count(log, "share revoked lumen Lumen member@example.com") != 1 {
		t.Errorf("the audit log has\n%s", log)
	}
}

// Fifty links of a brand work; revoked and expired ones do not count.
func TestABrandHasFiftyLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var last link
	for range 50 {
		last = w.make(t, "member", `"screens":["overview"]`)
	}
	status, _, text := w.ask(t, "POST", "/api/shares", `{"brand_id":"`+w.ours.ID.String()+`"}`, w.tokens["owner"])
	if status != http.StatusConflict || !strings.Contains(text, "at most 50 share links that work: revoke one first") {
		t.Errorf("the 51st: %d %s", status, text)
	}
	w.ask(t, "DELETE", "/api/shares/"+last.ID.String(), "", w.tokens["member"])
	w.make(t, "owner", fmt.Sprintf(`"expires_at":%s`, "null"))
	w.exec(t, "UPDATE public.share_links SET expires_at = now() WHERE expires_at IS NOT NULL")
	w.make(t, "owner", `"screens":["overview"]`)
}
