package dashboard

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/system/run"
)

// pick chooses an option of what has that label or name.
func (d *dashboard) pick(t *testing.T, label, value string) {
	t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("select")].findLast((s) => (s.ariaLabel || `+
		`s.closest("label").firstChild.textContent) == %q && !s.disabled && [...s.options].some((o) => o.value == %q))`,
		label, value)
	d.page.Await(t, find)
	d.page.Eval(t, fmt.Sprintf(
		`void ((s) => { s.value = %q; s.dispatchEvent(new Event("input", { bubbles: true })) })(%s)`, value, find), nil)
}

// row is what the row of that name shows, once the table is there; of a row that is not, "".
func (d *dashboard) row(table, name string) string {
	return fmt.Sprintf(`([...document.querySelectorAll('table[aria-label=%q] tbody tr')].find((tr) => `+
		`tr.cells[0].textContent == %q)?.textContent ?? "")`, table, name)
}

const alert = `document.querySelector("[role=alert]")?.textContent`

// An owner gives the organization keys of its own, budgets, and its members their roles.
func (d *dashboard) runsAnOrganization(t *testing.T) {
	t.Run("providers", d.setsKeysOfPlatforms)
	t.Run("budgets", d.setsBudgets)
	t.Run("members", d.changesMembers)
	t.Run("apps", d.endsApps)
	t.Run("audit log", d.pagesTheAuditLog)
}

// A key of a platform is never readable back.
func (d *dashboard) setsKeysOfPlatforms(t *testing.T) {
	d.at(t, "/settings?tab=providers", "Organization")
	d.page.Await(t, d.row("Providers", "OpenAI")+`.includes("missing")`)
	d.page.Await(t, d.row("Providers", "Google AI Mode")+`.includes("that of a capture provider")`)
	d.page.Await(t, d.row("Providers", "Cloro")+`.includes("captures surfaces")`)
	d.page.Await(t, d.row("Providers", "Simulator")+`.includes("none neededcan be asked")`)
	d.click(t, "Set key of OpenAI")
	d.page.Await(t, `document.querySelector("dialog[open] input[type=password]")`)
	d.fill(t, "API key", "two words")
	d.page.Press(t, "Enter")
	d.page.Await(t, alert+`?.includes("without spaces")`)
	d.fill(t, "API key", "sk-hunter2-0123456789wxyz")
	d.page.Press(t, "Enter")
	d.page.Await(t, d.row("Providers", "OpenAI")+`.includes("your own, …wxyzcan be asked")`)
	d.settled(t, "Organization")
	var all string
	d.page.Eval(t, `fetch("/app/api/providers").then((r) => r.text()).then((text) => `+
		`text + document.documentElement.outerHTML)`, &all)
	if strings.Contains(all, "hunter2") {
		t.Error("the key can be read back")
	}
	d.click(t, "Remove key of OpenAI")
	d.click(t, "Remove")
	d.page.Await(t, d.row("Providers", "OpenAI")+`.includes("missing")`)
}

func (d *dashboard) setsBudgets(t *testing.T) {
	d.click(t, "Budgets")
	d.page.Await(t, d.row("Budgets", "All platforms"))
	d.click(t, "Set budget")
	d.page.Await(t, `document.querySelector("dialog[open]")`)
	d.fill(t, "Runs a day", "many")
	d.page.Press(t, "Enter")
	d.page.Await(t, alert+`?.startsWith("Runs per day: want a whole number")`)
	d.fill(t, "Runs a day", "5000")
	d.fill(t, "US dollars a month", "40.5")
	d.page.Press(t, "Enter")
	d.page.Await(t, `/^All platforms[\d,]+ of 5,000[\d,]+[\d.]+[\d.]+ of 40.5/.test(`+
		d.row("Budgets", "All platforms")+`)`)
	d.settled(t, "Organization")
	d.click(t, "Set budget")
	d.pick(t, "Budget for", "openai")
	d.fill(t, "Runs a month", "0")
	d.page.Press(t, "Enter")
	d.page.Await(t, d.row("Budgets", "openai")+`.includes("0 of 0")`)
	d.settled(t, "Organization")
}

// The last owner stays, and the page says why.
func (d *dashboard) changesMembers(t *testing.T) {
	if r := run.ToEnd(t, d.env, d.password+"\n", "user", "add",
		"max@demo.example", "--org", run.DemoSlug, "--role", "viewer"); r.Status != run.ExitDone {
		t.Fatal(r.Stderr)
	}
	d.at(t, "/settings?tab=members", "Organization")
	d.click(t, "Leave organization")
	d.click(t, "Leave")
	d.page.Await(t, alert+`?.startsWith("The last owner of an organization stays")`)
	d.click(t, "Cancel")
	d.pick(t, "Role of max@demo.example", "member")
	role := func(email string) string {
		return fmt.Sprintf(`([...document.querySelectorAll("select")].find((s) => s.ariaLabel == "Role of %s" && `+
			`!s.disabled)?.value ?? "none")`, email)
	}
	d.page.Await(t, role("max@demo.example")+` == "member"`)
	d.settled(t, "Organization")
	d.pick(t, "Role of "+d.email, "viewer")
	d.page.Await(t, alert+`?.startsWith("The last owner of an organization stays")`)
	d.page.Await(t, role(d.email)+` == "owner"`)
	d.click(t, "Remove max@demo.example")
	d.click(t, "Remove")
	d.settled(t, "Organization")
	d.page.Await(t, role("max@demo.example")+` == "none" && `+role(d.email)+` == "owner"`)
}

// An app that was connected by OAuth is listed, with its name as a text, and ends by a button.
func (d *dashboard) endsApps(t *testing.T) {
	if err := run.InPostgres(t, d.env, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `
			INSERT INTO private.oauth_grants (user_id, organization_id, client_id, client_name, redirect_uri, scopes,
				challenge, code_hash, used_at)
			SELECT u.id, m.organization_id, 'x', '<b>Claude</b>', 'https://app.example/callback', '{metrics:read}',
				repeat('x', 43), sha256('x'), now()
			FROM private.users AS u JOIN public.members AS m ON m.user_id = u.id WHERE u.email::text = $1`, d.email)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	d.at(t, "/", "Brands")
	d.at(t, "/settings", "Organization")
	d.page.Await(t, d.row("Connected apps", "<b>Claude</b>")+`.includes("https://app.example/callback`+d.email+
		`read figures")`)
	d.click(t, "Disconnect <b>Claude</b>")
	d.click(t, "Disconnect")
	d.settled(t, "Organization")
	d.page.Await(t, `!document.querySelector('table[aria-label="Connected apps"]')`)
}

func (d *dashboard) pagesTheAuditLog(t *testing.T) {
	var changed int
	d.page.Eval(t, fmt.Sprintf(`(async () => { let n = 0; for (let i = 100; i >= 0; i--) {
		const r = await fetch("/app/api/rest/v1/brands?id=eq.%s", { method: "PATCH", headers: {
			"X-Answerscope": "1", "Content-Type": "application/json" }, body: JSON.stringify({ industry: "n" + i }) })
		n += r.ok } return n })()`, d.brand), &changed)
	if changed != 101 {
		t.Fatalf("%d changes", changed)
	}
	d.at(t, "/settings?tab=audit", "Organization")
	const lines = `[...document.querySelectorAll('table[aria-label="Audit log"] tbody tr')].map((tr) => ` +
		`tr.cells[1].textContent)`
	d.page.Await(t, lines+`.length == 100 && new Set(`+lines+`).size == 1`)
	d.click(t, "Next page")
	d.page.Await(t, `location.search == "?tab=audit&offset=100" && `+lines+
		`[0] == "brand changed" && ["member deleted", "budget set", "provider key removed"].every((what) => `+lines+
		`.includes(what))`)
	d.click(t, "First page")
	d.page.Await(t, `location.search == "?tab=audit" && `+lines+`.length == 100`)
}

// Two thousand prompts are pasted at once, and then shown a hundred at a time, and saved as one file, in which none is
// a formula.
func (d *dashboard) keepsManyPrompts(t *testing.T) {
	d.at(t, "/", "Brands")
	d.click(t, "Add brand")
	d.page.Await(t, `document.querySelector("dialog[open]")`)
	d.fill(t, "Brand name", "Bulk")
	d.page.Press(t, "Enter")
	d.settled(t, "Prompts")
	d.click(t, "Add prompt")
	d.page.Await(t, `document.querySelector("dialog[open] textarea")`)
	d.page.Eval(t, `void ((box) => { box.value = Array.from({ length: 2000 }, (_, n) => "Which lamp, number " + n + `+
		`"?\n").join("\n"); box.dispatchEvent(new Event("input", { bubbles: `+
		`true })) })(document.querySelector("dialog textarea"))`, nil)
	d.fill(t, "Or a new topic", "Lamps")
	d.click(t, "Add 2,000 prompts")
	const rows = `document.querySelectorAll('table[aria-label="Tracked prompts"] tbody tr')`
	d.page.Await(t, `location.search == "?show=tracked" && `+rows+
		`.length == 100 && document.querySelector("main").innerText.includes("2,000 of 2,000 prompts are asked")`)
	d.settled(t, "Prompts")
	d.click(t, "Next page")
	d.page.Await(t, `location.search == "?show=tracked&offset=100"`)
	d.settled(t, "Prompts")
	first := d.text(t, rows+`[0].cells[0].textContent`)
	d.click(t, "Edit "+first)
	d.page.Await(t, `document.querySelector("dialog[open] textarea")`)
	const torch = `=HYPERLINK("https://torch.example/","Which torch?")`
	d.fill(t, "Prompt", torch)
	d.pick(t, "Prompt's topic", "")
	d.click(t, "Save")
	d.page.Await(t, d.row("Tracked prompts", torch)+`.endsWith("?\")askedEditDeactivate")`)
	d.settled(t, "Prompts")
	d.click(t, "Deactivate "+torch)
	d.page.Await(t, `document.querySelector("main").innerText.includes("1,999 of 2,000 prompts are asked")`)
	d.settled(t, "Prompts")
	saved := d.saved(t, "Download CSV: Tracked prompts")
	if n := strings.Count(saved, `"Which lamp, number`); n != 1999 ||
		!strings.Contains(saved, "\r\n\"'"+strings.ReplaceAll(torch, `"`, `""`)+`",`) {
		t.Errorf("%d of 1999 prompts are saved: %.100s", n, saved)
	}
	d.at(t, "/brands/bulk/settings", "Settings")
	d.click(t, "Delete brand")
	d.page.Await(t, `document.querySelector("dialog[open] .danger:disabled")`)
	d.fill(t, "Type Bulk to delete it", "Bulk")
	d.page.Press(t, "Enter")
	d.settled(t, "Brands")
	if brands := d.text(t, `document.querySelector("main").innerText`); strings.Contains(brands, "Bulk") ||
		!strings.Contains(brands, "Fernwood") {
		t.Errorf("with one deleted, the brands are %q", brands)
	}
}

// What a page of prompts begins with is in the address.
func (d *dashboard) pagesPerformance(t *testing.T) {
	var page struct {
		Next string `json:"next_cursor"`
	}
	d.ask(t, "prompt-performance?sort_by=rate&metric=mention_rate&limit=10&brand_id="+d.brand, &page)
	d.at(t, "/brands/fernwood/prompts?cursor="+page.Next, "Prompts")
	const rows = `document.querySelectorAll('table[aria-label="Performance"] tbody tr').length`
	var rest, all int
	d.page.Eval(t, rows, &rest)
	d.click(t, "First page")
	d.page.Await(t, `location.search == ""`)
	d.settled(t, "Prompts")
	if d.page.Eval(t, rows, &all); rest == 0 || all != rest+10 {
		t.Errorf("%d prompts, and %d from the eleventh on", all, rest)
	}
	d.page.Eval(t, "void history.back()", nil)
	d.page.Await(t, `location.search.startsWith("?cursor=")`)
	d.click(t, "Mentions")
	d.page.Await(t, `location.search == "?sort_by=mentions&order=desc" && `+rows+fmt.Sprintf(" == %d", all))
}
