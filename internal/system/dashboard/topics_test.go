package dashboard

import (
	"fmt"
	"testing"
)

// Pasted prompts are proposed topics: two that ask nearly the same get one, and each can be changed or emptied. Prompts
// without a topic are proposed theirs later, one by one or all together.
func (d *dashboard) proposesTopics(t *testing.T) {
	d.at(t, "/", "Brands")
	d.click(t, "Add brand")
	d.page.Await(t, `document.querySelector("dialog[open]")`)
	d.fill(t, "Brand name", "Office")
	d.page.Press(t, "Enter")
	d.settled(t, "Prompts")
	d.click(t, "Add prompt")
	d.page.Await(t, `document.querySelector("dialog[open] textarea")`)
	d.page.Eval(t, `void ((box) => { box.value = "What is the best standing desk?\nbest standing desks under `+
		`500\nhow safe are desks?\nbest desk lamp for reading"; box.dispatchEvent(new Event("input", { bubbles: `+
		`true })) })(document.querySelector("dialog textarea"))`, nil)
	const fields = `[...document.querySelectorAll("dialog [type=search]")].map((i) => i.value).sort().join()`
	d.page.Await(t, fields+` == ",desk lamp,standing desk,standing desk"`)
	d.hasNoFindings(t, "proposed topics", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	name := func(prompt, topic string) {
		t.Helper()
		d.page.Eval(t, fmt.Sprintf(`void ((box) => { box.focus(); `+
			`box.select() })(document.querySelector('dialog [aria-label="Topic of %s"]'))`, prompt), nil)
		d.page.Insert(t, topic)
	}
	name("best desk lamp for reading", "Light at work ")
	d.page.Eval(t, `void ((box) => { box.value += "\nbest coffee machine"; box.dispatchEvent(new Event("input", `+
		`{ bubbles: true })) })(document.querySelector("dialog textarea"))`, nil)
	d.click(t, "Add 5 prompts") // before the topic of the fifth is shown
	const rows = `[...document.querySelectorAll('table[aria-label="Tracked prompts"] tbody tr')].map((r) => ` +
		`r.cells[0].textContent + ": " + r.cells[1].textContent).sort().join("; ")`
	given := func(want string) {
		t.Helper()
		d.page.Await(t, `!document.querySelector("dialog") && `+rows+fmt.Sprintf(" == %q", want))
	}
	given("What is the best standing desk?: standing desk; best coffee machine: coffee machine; " +
		"best desk lamp for reading: Light at work; best standing desks under 500: standing desk; " +
		"how safe are desks?: ")

	d.page.Eval(t, `fetch("/app/api/rest/v1/prompts?text=like.*standing*", { method: "PATCH", headers: `+
		`{ "X-Answerscope": "1", "Content-Type": "application/json" }, body: '{"topic_id":null}' }).then((r) => `+
		`r.status)`, new(int))
	d.loads(t, "/brands/office/prompts?show=tracked", "Prompts")
	d.click(t, "Propose topics")
	d.page.Await(t, `document.querySelector("dialog[open]")`)   // a field takes the focus only then
	d.page.Await(t, fields+` == "standing desk,standing desk"`) // nothing is proposed for the fourth prompt
	name("best standing desks under 500", "Desks")
	d.click(t, "Set the topic of best standing desks under 500")
	d.page.Await(t, fields+` == "standing desk"`)
	d.click(t, "Set all")
	given("What is the best standing desk?: standing desk; best coffee machine: coffee machine; " +
		"best desk lamp for reading: Light at work; best standing desks under 500: Desks; how safe are desks?: ")
	d.page.Await(t, `![...document.querySelectorAll("button")].some((b) => b.textContent == "Propose topics")`)
	var status int
	if d.page.Eval(t, `fetch("/app/api/rest/v1/brands?slug=eq.office", { method: "DELETE", headers: `+
		`{ "X-Answerscope": "1" } }).then((r) => r.status)`, &status); status != 204 {
		t.Errorf("the brand is deleted with %d", status)
	}
}
