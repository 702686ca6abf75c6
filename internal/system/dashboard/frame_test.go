package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
)

// opensFilter opens the popover of the filters.
func (d *dashboard) opensFilter(t *testing.T) {
	t.Helper()
	d.click(t, "Filter")
	d.page.Await(t, `document.querySelector("[aria-label=Filter][aria-expanded=true]")`)
}

// choosesWindow chooses one of the windows that end today, such as "7 days".
func (d *dashboard) choosesWindow(t *testing.T, days string) {
	t.Helper()
	d.page.Eval(t, `void document.querySelector("[aria-label^='Window: ']").click()`, nil)
	d.click(t, days)
}

// strikes presses a key that writes a character.
func (d *dashboard) strikes(t *testing.T, character string) {
	t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		d.page.Command(t, "Input.dispatchKeyEvent",
			map[string]any{"type": kind, "key": character, "text": character}, nil)
	}
}

// The filters are in a popover, and each that is set is a chip in the first line, which takes it away again.
func (d *dashboard) filtersInAPopover(t *testing.T) {
	d.at(t, "/brands/fernwood", "Overview")
	d.opensFilter(t)
	d.page.Await(t, `(([button, panel]) => Math.abs(panel.top - button.bottom - 4) < 1 && Math.abs(panel.right - `+
		`button.right) < 1)([...document.querySelectorAll("[aria-label=Filter]")].map((e) => `+
		`e.getBoundingClientRect()))`)
	d.hasNoFindings(t, "Filter", looks[0], looks[1])
	if testkit.All {
		d.hasNoFindings(t, "Filter", looks[2], looks[3])
	}
	d.page.Show(t, 1280, 900, "light")
	var labels []string
	d.page.Eval(t, `[...document.querySelectorAll("[aria-label=Filter] label")].map((l) => l.firstChild.textContent)`,
		&labels)
	if got := strings.Join(labels, ", "); got != "Platform, Model, Region, Topic, Prompts, From, To" {
		t.Errorf("Filter has %s", got)
	}
	d.pick(t, "Platform", "chatgpt-web")
	d.page.Await(t, `location.search == "?platform=chatgpt-web" && `+
		`document.querySelector("[aria-label=Filters] li")?.textContent == "Platform: ChatGPT"`)
	d.page.Press(t, "Escape")
	d.page.Await(t, `!document.querySelector(".panel:not([hidden])") && `+focused+` == "Filter"`)
	d.click(t, "Remove Platform: ChatGPT")
	d.page.Await(t, `location.search == "" && !document.querySelector("[aria-label=Filters] li")`)
	d.settled(t, "Overview")
	d.click(t, "Window: 30 days")
	d.hasNoFindings(t, "Window", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	d.click(t, "7 days")
	d.page.Await(t, `!document.querySelector(".panel:not([hidden])") && `+focused+` == "Window: 7 days"`)
	d.settled(t, "Overview")
	d.click(t, "More")
	d.hasNoFindings(t, "More", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	d.page.Press(t, "Escape")
	d.typesADate(t)
}

// typesADate types a day, whose year is 0002, 0020 and 0202 on the way: the address has the whole one, as one entry.
func (d *dashboard) typesADate(t *testing.T) {
	t.Helper()
	day := time.Now().UTC().AddDate(0, 0, -20)
	d.opensFilter(t)
	d.page.Eval(t, `void [...document.querySelectorAll("label")].find((l) => l.textContent == "From").control.focus()`,
		nil)
	d.page.Eval(t, `void ((push) => { // the history's length ends at 50
		window.entries = 0
		history.pushState = function () { window.entries++; push.apply(this, arguments) }
	})(history.pushState)`, nil)
	for _, digit := range day.Format("01022006") {
		d.strikes(t, string(digit))
	}
	d.page.Press(t, "Enter")
	d.page.Await(t, fmt.Sprintf(`location.search.includes("date_from=%s&")`, day.Format(time.DateOnly)))
	if entries := d.text(t, `entries + ""`); entries != "1" {
		t.Errorf("a date that is typed is %s entries of the history", entries)
	}
	d.page.Press(t, "Escape")
	d.page.Await(t, `!document.querySelector(".panel:not([hidden])")`)
}

// Single keys lead to screens and filters; in fields, and where they are switched off, they are what one types.
func (d *dashboard) answersSingleKeys(t *testing.T) {
	d.at(t, "/brands/fernwood", "Overview")
	for _, search := range []string{"?compare=none", ""} {
		d.strikes(t, "x")
		d.page.Await(t, fmt.Sprintf("location.search == %q", search))
	}
	d.strikes(t, "/")
	d.page.Await(t, `document.activeElement.closest("label")?.firstChild.textContent == "Platform"`)
	d.strikes(t, "x") // in a field
	d.page.Press(t, "Escape")
	d.strikes(t, "g")
	d.strikes(t, "c")
	d.settled(t, "Competitors")
	d.page.Await(t, `document.activeElement.id == "main"`)
	if search := d.text(t, "location.search"); search != "" {
		t.Errorf("x in a field makes the address %s", search)
	}
	d.strikes(t, "?")
	d.page.Await(t, `document.querySelector("dialog[open] h2")?.textContent == "Keys"`)
	d.hasNoFindings(t, "Keys", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	d.strikes(t, "x") // in a dialog
	d.click(t, "Close")
	for _, search := range []string{"", "?compare=none"} {
		d.click(t, "Account: "+d.email)
		d.page.Eval(t, `void [...document.querySelectorAll(".panel label")].find((l) => l.textContent.trim() == `+
			`"Single keys").control.click()`, nil)
		d.page.Press(t, "Escape")
		d.strikes(t, "x")
		d.page.Await(t, fmt.Sprintf("location.search == %q", search))
	}
	if search := d.text(t, `localStorage.getItem("hotkeys")`); search != "" {
		t.Errorf("switched on again, single keys are %q", search)
	}
}

// A theme is chosen beside the system's, and stays when the page is loaded again.
func (d *dashboard) choosesATheme(t *testing.T) {
	const ground = "getComputedStyle(document.body).backgroundColor"
	d.at(t, "/", "Brands")
	light := d.text(t, ground)
	d.click(t, "Account: "+d.email)
	d.hasNoFindings(t, "Account", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	d.changesItsPassword(t)
	d.pick(t, "Theme", "dark")
	d.page.Await(t, fmt.Sprintf("%s != %q", ground, light))
	dark := d.text(t, ground)
	d.loads(t, "/", "Brands")
	d.page.Await(t, fmt.Sprintf("%s == %q", ground, dark))
	d.page.Show(t, 1280, 900, "dark")
	d.click(t, "Account: "+d.email)
	d.pick(t, "Theme", "")
	d.page.Await(t, fmt.Sprintf("%s == %q && localStorage.length == 0", ground, dark))
	d.page.Show(t, 1280, 900, "light")
	d.page.Await(t, fmt.Sprintf("%s == %q", ground, light))
}

// changesItsPassword does it in the account's menu, which stays open.
func (d *dashboard) changesItsPassword(t *testing.T) {
	t.Helper()
	const next = "opal-ferry-drum-47"
	d.click(t, "Change password")
	d.page.Await(t, `document.querySelector("dialog[open] input")`)
	d.hasNoFindings(t, "Change password", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	for _, current := range []string{"wrong", d.password} {
		d.fill(t, "Current password", current)
		d.fill(t, "New password", next)
		d.fill(t, "New password again", next)
		d.page.Press(t, "Enter")
		if current == "wrong" {
			d.page.Await(t, alert+` == "The current password is wrong."`)
		}
	}
	d.page.Await(t, `!document.querySelector("dialog")`)
	d.password = next
}

// A brand of a long name, one word or many, makes no screen wider than a phone.
func (d *dashboard) fitsALongName(t *testing.T) {
	d.page.Command(t, "Page.enable", nil, nil)
	for _, name := range []string{strings.Repeat("Fernwood", 9), strings.Repeat("Fernwood ", 9)} {
		var script struct{ Identifier string }
		d.page.Command(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": fmt.Sprintf(
			`window.fetch = ((ask) => async (...to) => { const r = await ask(...to)
				return new Response((await r.text()).replaceAll("Fernwood", %q), r) })(fetch)`, name)}, &script)
		for path, heading := range map[string]string{
			"": "Overview", "/competitors": "Competitors", "/sources": "Sources",
		} {
			d.loads(t, "/brands/fernwood"+path, heading)
			d.page.Await(t, fmt.Sprintf(`document.body.innerText.includes(%q)`, name[:len(name)-1]))
			d.opensFilter(t)
			for _, width := range []int{320, 375} {
				d.page.Show(t, width, 800, "light")
				d.page.Await(t, `new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(true))))`)
				var wide int
				if d.page.Eval(t, `document.documentElement.scrollWidth`, &wide); wide > width {
					t.Errorf("%s is %d px wide on %d", heading, wide, width)
				}
			}
			d.page.Show(t, 1280, 900, "light")
		}
		d.page.Command(t, "Page.removeScriptToEvaluateOnNewDocument",
			map[string]any{"identifier": script.Identifier}, nil)
	}
	d.loads(t, "/brands/fernwood", "Overview")
}

// On a phone a button opens the list of screens, and closes it once one is chosen.
func (d *dashboard) opensItsMenu(t *testing.T) {
	d.page.Show(t, 375, 800, "dark")
	d.at(t, "/brands/fernwood", "Overview")
	const shown = `document.querySelector("header nav").getBoundingClientRect().height > 0`
	d.page.Await(t, "!("+shown+")")
	d.page.Eval(t, `void [...document.querySelectorAll("button")].find((b) => b.textContent.trim() == "Menu").click()`,
		nil)
	d.page.Await(t, shown)
	d.hasNoFindings(t, "Menu", looks[1], looks[2])
	d.page.Show(t, 375, 800, "dark")
	d.click(t, "Sources")
	d.settled(t, "Sources")
	d.page.Await(t, "!("+shown+")")
	d.page.Show(t, 1280, 900, "light")
}

// A report has parts of other screens, in the order in which they were chosen; on paper, the filters are words.
func (d *dashboard) printsAReport(t *testing.T) {
	const chapters = `[...document.querySelectorAll(".chapter > h2")].map((h) => h.textContent).join()`
	d.at(t, "/brands/fernwood", "Overview")
	d.click(t, "More")
	d.page.Eval(t,
		`void [...document.querySelectorAll("a")].find((a) => a.textContent.trim() == "Print report").click()`, nil)
	d.settled(t, "Report")
	if got := d.text(t, chapters); got != "Overview,Competitors,Prompts,Sources,Traffic" {
		t.Errorf("the report has %s", got)
	}
	d.loads(t, "/brands/fernwood/report?parts=Traffic&platform=chatgpt-web&by=region&cursor=x&sort_by=visits", "Report")
	d.page.Await(t, `location.search == "?parts=Traffic&platform=chatgpt-web"`) // parts mean other things by one name
	d.page.Eval(t, `void [...document.querySelectorAll("label")].find((l) => l.textContent.trim() == `+
		`"Competitors").control.click()`, nil)
	d.page.Await(t, chapters+` == "Traffic,Competitors"`)
	d.settled(t, "Report")
	d.page.Command(t, "Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	var shown []string
	d.page.Eval(t, `["header.side", ".toolbar .button", ".toolbar .printed", "main fieldset", `+
		`"main .card"].filter((s) => document.querySelector(s).checkVisibility())`, &shown)
	if got := strings.Join(shown, " "); got != ".toolbar .printed main .card" {
		t.Errorf("on paper are %s", got)
	}
	if text := d.text(t, `document.querySelector(".printed").textContent`); !strings.HasPrefix(text, "Fernwood · ") ||
		!strings.HasSuffix(text, " · Platform: ChatGPT") {
		t.Errorf("on paper the filters are %q", text)
	}
	d.page.Eval(t, `void dispatchEvent(new Event("beforeprint"))`, nil)
	d.page.Await(t, `document.querySelectorAll(".footnotes li").length > 5`)
	var wrong []string
	d.page.Eval(t, `[...document.querySelectorAll("a[data-note]")].filter((a) => `+
		`!decodeURIComponent(a.href).endsWith(document.querySelectorAll(".footnotes li")[a.dataset.note - `+
		`1].textContent.replace("…", ""))).map((a) => a.href + " has " + a.dataset.note)`, &wrong)
	if len(wrong) > 0 {
		t.Errorf("footnotes are of other addresses: %q", wrong)
	}
	d.page.Eval(t, `void dispatchEvent(new Event("afterprint"))`, nil)
	const foot = `[...document.styleSheets[0].cssRules].at(-1).cssText`
	if text := d.text(t, foot); !strings.HasPrefix(text, "@page") || !strings.Contains(text, `"Fernwood · `) {
		t.Errorf("at the foot of a page is %s", text)
	}
	d.page.Command(t, "Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
	d.page.Show(t, 1280, 900, "light")
}
