package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
)

// A user sees what fired, on which evidence, and what would have; and is mailed about it, as an admin's addresses are.
func (d *dashboard) alerts(t *testing.T) {
	var preview struct {
		Messages, Drops int
		Moves           []struct{ Day, Verdict string }
	}
	d.ask(t, "alert-preview?brand_id="+d.brand, &preview)
	if preview.Messages == 0 {
		t.Fatal("the demo's brand would have raised no alert")
	}
	const told = `
		SELECT private.emit(b.organization_id, e.brand, e.type, e.data
			|| jsonb_build_object('brands', jsonb_build_array(private.brand_of(b.id))))
		FROM public.brands AS b, (VALUES
			($1::uuid, 'visibility.moved', '{"window": {"date_from": "2026-01-01", "date_to": "2026-01-28"}, "moves": [
				{"platform": null, "verdict": "moved_down", "reach": "prompts", "rate": 31.2, "low": 28.1, "high": 34.3,
					"n": 1840, "from": {"rate": 42, "low": 39.7, "high": 44.3, "n": 1790}},
				{"platform": "chatgpt-web", "verdict": "recovered", "reach": "", "rate": 40.5, "low": null,
					"high": null, "n": 30, "from": {"rate": null, "low": null, "high": null, "n": 0}}]}'::jsonb),
			(NULL, 'platform.degraded', '{"platform": "gemini-web", "runs": 40, "gave_up": {"rate_limited": 9},
				"since": "2026-01-28T10:00:00Z"}'),
			($1, 'tracking.skipped', '{"reason": "no_prompts", "platforms": ["openai"], "until": null}'))
			AS e (brand, type, data)
		WHERE b.id = $1`
	if err := run.InPostgres(t, d.env, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, told, d.brand)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	d.loads(t, "/brands/fernwood/alerts", "Alerts")
	var lines [][2]string
	d.page.Eval(t, `[...document.querySelectorAll('table[aria-label=Alerts] tbody tr')].map((tr) => [[tr.cells[1], `+
		`tr.cells[2]].map((cell) => cell.textContent).join(": ").replaceAll("\u00a0", " "), `+
		`tr.querySelector("a").getAttribute("href")])`, &lines)
	slices.SortFunc(lines, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) }) // all happened at once
	want := [][2]string{
		{"! Degraded Gemini: 40 runs of a job; given up: rate limited 9, since Jan 28, 2026, 10:00 UTC",
			"/brands/fernwood/tracking"},
		{"! Not asked OpenAI: no prompt is active", "/brands/fernwood/prompts?show=tracked"},
		{"≈ Recovered ChatGPT: 40.5%, n = 30; before –, n = 0",
			"/brands/fernwood?date_from=2026-01-01&date_to=2026-01-28&platform=chatgpt-web"},
		{"▼ Moved down All answers, these prompts: 31.2% (28.1–34.3%), n = 1,840; before 42% (39.7–44.3%), n = 1,790",
			"/brands/fernwood?date_from=2026-01-01&date_to=2026-01-28"},
	}
	for _, line := range want { // beside what the demo's own answers have fired
		if !slices.Contains(lines, line) {
			t.Errorf("fired: %q, want %q", lines, line)
		}
	}
	expected := fmt.Sprintf("Would have fired %s in the last 90 days; %s because", times(preview.Messages),
		times(preview.Drops))
	if shown := d.text(t, `document.querySelector("main").textContent`); !strings.Contains(shown, expected) {
		t.Errorf("want %s in %s", expected, shown)
	}
	var moves int
	if d.page.Eval(t, `document.querySelectorAll('table[aria-label="Before you switch it on"] tbody tr').length`,
		&moves); moves != len(preview.Moves) {
		t.Errorf("%d moves, want %d", moves, len(preview.Moves))
	}
	d.subscribes(t, preview.Drops)
}

func times(n int) string {
	return strings.TrimSuffix(fmt.Sprintf("%d times", n), map[bool]string{true: "s"}[n == 1])
}

func (d *dashboard) subscribes(t *testing.T, drops int) {
	t.Helper()
	d.at(t, "/brands/fernwood", "Overview")
	d.click(t, "Notify me")
	d.page.Await(t, fmt.Sprintf(
		`document.querySelector("dialog form")?.textContent.includes("would have been %d mail")`, drops))
	check := func(name string) {
		d.page.Eval(t, fmt.Sprintf(`void [...document.querySelectorAll("dialog label")].find((l) => `+
			`l.textContent.trim() == %q).querySelector("input").click()`, name), nil)
	}
	check("The week, on Mondays")
	d.click(t, "Notify me")
	d.settled(t, "Overview")
	d.loads(t, "/brands/fernwood/alerts", "Alerts")
	own := d.row("Subscriptions", d.email)
	d.page.Await(t, own+`.includes("FernwoodThe mention rate moved, or is back; A platform gives up over a fifth of `+
		`its runs; That platform answers again; Prompts were due and not asked; without moves uponneverRemove")`)
	d.click(t, "Notify me")
	d.page.Await(t, `document.querySelector("dialog form")?.textContent.startsWith("No mail is sent from here yet")`)
	check("Leave out moves up")
	d.click(t, "Save")
	d.page.Await(t, own+`.includes("not askedon")`)
	d.page.Eval(t, `void (document.querySelector("meta[name=mails]").content = "sent")`, nil) // there is a relay
	d.at(t, "/brands/fernwood", "Overview")
	d.click(t, "You are notified ✓")
	d.page.Await(t, `document.querySelector("dialog form")?.textContent.includes("about Fernwood.")`)
	d.click(t, "Cancel")
	d.at(t, "/brands/fernwood/alerts", "Alerts")
	d.click(t, "You are notified ✓")
	d.click(t, "Stop these mails")
	d.page.Await(t, own+` == ""`)
	d.settled(t, "Alerts")
	d.click(t, "Add address")
	d.page.Await(t, `document.querySelector("dialog[open]")`)
	d.fill(t, "E-mail", "ann@example.org")
	d.page.Press(t, "Enter")
	d.page.Await(t, alert+`?.includes("ANSWERSCOPE_SMTP_URL")`)
	d.click(t, "Cancel")
}

// A receiver takes what is posted and answers with a status.
type receiver struct {
	*httptest.Server
	status atomic.Int32
	posts  chan received
}

type received struct {
	header http.Header
	body   []byte
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{posts: make(chan received, 100)}
	r.status.Store(http.StatusNoContent)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(int(r.status.Load()))
		r.posts <- received{request.Header, body}
	}))
	t.Cleanup(r.Close)
	return r
}

// next verifies the next request with a secret, and returns its id and type.
func (r *receiver) next(t *testing.T, secret string) (event struct{ ID, Type string }) {
	t.Helper()
	post := <-r.posts
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err == nil {
		err = verifier.Verify(post.body, post.header)
	}
	if err == nil {
		err = json.Unmarshal(post.body, &event)
	}
	if err != nil {
		t.Errorf("%s: %v", post.body, err)
	}
	return event
}

// An admin adds an endpoint, whose secret is shown once, and sees what became of each delivery. One that was switched
// off is switched on again and gets what it missed.
func (d *dashboard) sendsWebhooks(t *testing.T) {
	// the demo's own receiver
	d.change(t, "DELETE FROM public.webhook_endpoints")
	to := receive(t)
	url := to.URL + "/hook"
	d.loads(t, "/settings?tab=webhooks", "Organization")
	d.click(t, "Add webhook")
	d.page.Await(t, `document.querySelector("dialog[open] form")`)
	var types []string
	d.page.Eval(t, `[...document.querySelectorAll("dialog .check")].map((l) => l.textContent.trim())`, &types)
	var described struct{ Webhooks map[string]any }
	if _, body := run.Fetch(t, d.URL+"/api/openapi.json", ""); json.Unmarshal([]byte(body), &described) != nil {
		t.Fatal(body)
	}
	delete(described.Webhooks, "webhook.test") // gets there whatever is chosen
	if all := slices.Sorted(maps.Keys(described.Webhooks)); !slices.Equal(slices.Sorted(slices.Values(types)), all) {
		t.Errorf("one can choose %v, want %v", types, all)
	}
	d.fill(t, "URL", "https://user@example.org/")
	d.click(t, "Add")
	d.page.Await(t, alert+`?.startsWith("Url: want")`)
	d.fill(t, "URL", url)
	d.fill(t, "Description", "For the team")
	d.page.Eval(t, `void document.querySelector("dialog .check input").click()`, nil)
	d.click(t, "Add")
	secret := d.secret(t)
	d.page.Await(t, d.row("Webhooks", url)+`.startsWith("`+url+`tracking.completed For the team")`)
	d.click(t, "Test")
	tested := to.next(t, secret)
	delivered := `document.querySelector('table[aria-label=Deliveries] tbody tr')?.textContent.replaceAll(/\s/g, "")`
	d.page.Await(t, `/^webhook\.test.+delivered204,\d+ms1Redeliver$/.test(`+delivered+`)`)
	d.click(t, "Redeliver")
	if again := to.next(t, secret); again != tested || again.Type != "webhook.test" {
		t.Errorf("sent %v, then %v", tested, again)
	}
	d.click(t, "Rotate") // of the row, then of the dialog
	d.page.Await(t, `document.querySelector("dialog[open] form")`)
	d.click(t, "Rotate")
	if rotated := d.secret(t); rotated == secret {
		t.Error("the secret is the same")
	} else {
		secret = rotated
	}
	to.status.Store(http.StatusGone)
	d.page.Await(t, delivered+`?.includes("delivered")`)
	d.click(t, "Test")
	missed := to.next(t, secret)
	d.page.Await(t, alert+`?.includes("it answered 410 Gone")`)
	for i, look := range looks[:testkit.Draws(1, 2)] {
		d.hasNoFindings(t, "webhooks", look, looks[3-i])
	}
	d.page.Show(t, 1280, 900, "light")
	to.status.Store(http.StatusNoContent)
	d.click(t, "Switch on and resend")
	if again := to.next(t, secret); again != missed {
		t.Errorf("missed %v, and got %v", missed, again)
	}
	d.page.Await(t, `!document.querySelector("[role=alert]") && `+delivered+`.includes("delivered204")`)
	d.page.Eval(t, `void document.querySelector("main").focus()`, nil)
	if all := d.text(t, `document.documentElement.outerHTML`); strings.Contains(all, "whsec_") {
		t.Error("a secret is shown after Done")
	}
}

// secret reads what a dialog shows once, and closes it.
func (d *dashboard) secret(t *testing.T) string {
	t.Helper()
	d.page.Await(t, `document.querySelector("dialog[open] .secret") && `+
		`document.querySelector("dialog").contains(document.activeElement)`)
	text := d.text(t, `document.querySelector("dialog .secret").textContent`)
	d.click(t, "Done")
	d.settled(t, "Organization")
	return text
}

// An admin invites somebody by a link that is shown once, and revokes it.
func (d *dashboard) invites(t *testing.T) {
	d.at(t, "/settings?tab=members", "Organization")
	d.click(t, "Invite")
	d.page.Await(t, `document.querySelector("dialog[open]")`)
	d.fill(t, "E-mail", d.email)
	d.page.Press(t, "Enter")
	d.page.Await(t, alert+`?.includes("is in this organization already")`)
	d.fill(t, "E-mail", "bo@example.org")
	d.pick(t, "Role", "member")
	d.click(t, "Invite")
	_, path, ok := strings.Cut(d.secret(t), "/invite/")
	d.page.Await(t, d.row("Invitations", "bo@example.org")+`.startsWith("bo@example.orgmember")`)
	if status, _ := run.Fetch(t, d.URL+"/invite/"+path, ""); status != http.StatusOK || !ok {
		t.Errorf("the link's page is %d", status)
	}
	d.click(t, "Revoke bo@example.org")
	d.page.Await(t, `document.querySelector("dialog[open]")`)
	d.click(t, "Revoke")
	d.settled(t, "Organization")
	d.page.Await(t, d.row("Invitations", "bo@example.org")+` == ""`)
	if status, _ := run.Fetch(t, d.URL+"/invite/"+path, ""); status != http.StatusNotFound {
		t.Errorf("revoked, the link's page is %d", status)
	}
}
