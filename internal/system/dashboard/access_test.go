package dashboard

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// A look is how a screen is shown.
type look struct {
	width  int
	scheme string
}

// looks are in pairs that differ in both.
var looks = []look{{1280, "light"}, {375, "dark"}, {375, "light"}, {1280, "dark"}}

// Each screen has one heading and one main part, and axe finds nothing, in both themes and on a phone.
func (d *dashboard) isAccessible(t *testing.T) {
	titles := map[string]bool{}
	var found struct {
		Answers []struct {
			ID     string
			Prompt string `json:"prompt_id"`
		}
	}
	d.ask(t, "answers?mentioned=true&limit=2&brand_id="+d.brand, &found)
	window := d.window(t)
	last := window[len(window)-len(time.DateOnly):] // a day has too little data
	for i, screen := range []struct{ path, name string }{
		{"/", "Brands"},
		{"/settings", "Settings"},
		{"/settings?tab=members", "Settings"},
		{"/settings?tab=audit", "Settings"},
		{"/settings?tab=providers", "Settings"},
		{"/settings?tab=budgets", "Settings"},
		{"/settings?tab=webhooks", "Settings"},
		{"/brands/fernwood", "Overview"},
		{"/brands/fernwood/opportunities", "Opportunities"},
		{"/brands/fernwood/opportunities?kind=brief", "Opportunities"},
		{"/brands/fernwood/searches", "Searches"},
		{"/brands/fernwood/alerts", "Alerts"},
		{"/brands/fernwood/competitors", "Competitors"},
		{"/brands/fernwood/prompts", "Prompts"},
		{"/brands/fernwood/prompts?show=tracked", "Prompts"},
		{"/brands/fernwood/prompts?date_from=" + last + "&date_to=" + last, "Prompts"},
		{"/brands/fernwood/prompts?by=model&prompt=" + found.Answers[0].Prompt, "Prompts"},
		{"/brands/fernwood/answers?mentioned=true&domain=fernwood.example", "Answers"},
		{"/brands/fernwood/answers/" + found.Answers[0].ID, "Answers"},
		{"/brands/fernwood/answers/" + found.Answers[0].ID + "?with=" + found.Answers[1].ID, "Answers"},
		{"/brands/fernwood/sources", "Sources"},
		{"/brands/fernwood/traffic", "Traffic"},
		{"/brands/fernwood/shopping", "Shopping"},
		{"/brands/fernwood/tracking", "Tracking"},
		{"/brands/fernwood/settings", "Settings"},
		{"/brands/fernwood/report?parts=Overview,Competitors,Prompts,Sources,Shopping,Traffic", "Report"},
		{"/brands/fernwood?date_from=2026-01-01&date_to=2026-01-02", "Overview"},
		{"/brands/fernwood/nothing", "Not found"},
	} {
		first, second := looks[i%4], looks[i%4^1]
		d.page.Show(t, first.width, 900, first.scheme)
		d.at(t, screen.path, screen.name)
		var parts [2]int
		d.page.Eval(t, `[document.querySelectorAll("h1").length, document.querySelectorAll("main").length]`, &parts)
		if parts != [2]int{1, 1} {
			t.Errorf("%s has %v headings and main parts", screen.path, parts)
		}
		if first.width < 500 {
			var seen bool
			if d.page.Eval(t, `(() => { const at = document.querySelector("nav `+
				`[aria-current]")?.getBoundingClientRect(); return !at?.width || at.left >= 0 && `+
				`at.right <= innerWidth })()`, &seen); !seen {
				t.Errorf("%s: the list of screens does not show the current one", screen.path)
			}
		}
		titles[d.text(t, "document.title")] = true
		d.hasNoFindings(t, screen.path, first, second)
	}
	d.page.Show(t, 1280, 900, "light")
	d.at(t, "/brands/fernwood", "Overview")
	d.click(t, "Show table: Visibility trend")
	d.hasNoFindings(t, "table shown", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	if len(titles) < 9 {
		t.Errorf("titles are %v", titles)
	}
	d.isAccessibleWithoutFigures(t)
}

// Screens whose figures are awaited, or have failed, are accessible, too.
func (d *dashboard) isAccessibleWithoutFigures(t *testing.T) {
	for state, is := range map[string]struct{ answer, shown string }{
		"loading": {"new Promise(() => {})", `document.querySelector("main .skeleton")`},
		"failed": {`Promise.resolve(new Response("{}", { status: 503 }))`,
			`document.querySelector("main [role=alert]") && !document.querySelector("main .skeleton")`},
	} {
		d.at(t, "/brands/fernwood/prompts", "Prompts")
		d.page.Eval(t, fmt.Sprintf(`void ((ask) => window.fetch = (url, options) => url.includes("/app/api/v1/") ? `+
			`%s : ask(url, options))(fetch)`, is.answer), nil)
		for i, screen := range []string{"Sources", "Overview"} {
			d.click(t, screen)
			d.page.Await(t, fmt.Sprintf(`document.querySelector("h1").textContent == %q && %s`, screen, is.shown))
			d.hasNoFindings(t, screen+" "+state, looks[i], looks[i^1])
		}
	}
	d.page.Show(t, 1280, 900, "light")
}

// axe is what is injected where findings are looked for.
var axe = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("../../../queryapi/web/node_modules/axe-core/axe.min.js")
	return string(text), err
})

// hasNoFindings runs every rule of axe in the first look. In the second, of the other width and theme, it runs those
// that the looks can change. Left out, for the time they take, are the rows of a table and the points of a chart that
// are as the three before them, and what is behind a dialog or an open menu.
func (d *dashboard) hasNoFindings(t *testing.T, what string, first, second look) {
	t.Helper()
	script, err := axe()
	if err != nil {
		t.Fatalf("axe-core is not here: run `make page-packages`: %v", err)
	}
	d.page.Command(t, "Runtime.evaluate", map[string]any{"expression": "window.axe || (() => {" + script + "})()"}, nil)
	for _, run := range []struct {
		look
		options string
	}{{first, "{}"}, {second, `{ runOnly: ["color-contrast", "scrollable-region-focusable", "target-size"] }`}} {
		d.page.Show(t, run.width, 900, run.scheme)
		var findings []string
		d.page.Eval(t, fmt.Sprintf(`new Promise((done) => requestAnimationFrame(() => done()))
			.then(() => axe.run(document.querySelector("dialog[open], .panel:not([hidden])") ??
				{ exclude: ["tbody tr:nth-child(n+4)", "svg :nth-child(n+4 of a)"] },
				Object.assign({ resultTypes: ["violations"], preload: false }, %s)))
			.then((r) => r.violations.flatMap((v) => v.nodes.map((n) =>
				v.id + ": " + n.html.slice(0, 200) + " " + n.failureSummary)))`, run.options), &findings)
		for _, f := range findings {
			t.Errorf("%s, %s, %d px: %s", what, run.scheme, run.width, f)
		}
		var wide bool
		if d.page.Eval(t, "document.documentElement.scrollWidth > document.documentElement.clientWidth", &wide); wide {
			t.Errorf("%s is wider than %d px", what, run.width)
		}
	}
}

// A dialog opens by Enter, holds the focus, is left by Escape, and the focus is where it was.
func (d *dashboard) opensDialogs(t *testing.T) {
	for i, dialog := range []struct{ path, screen, opener string }{
		{"/", "Brands", "Add brand"},
		{"/settings", "Settings", "Create key"},
		{"/settings", "Settings", "Revoke"},
		{"/settings?tab=members", "Settings", "Invite"},
		{"/settings?tab=webhooks", "Settings", "Add webhook"},
		{"/settings?tab=providers", "Settings", "Set key of OpenAI"},
		{"/brands/fernwood", "Overview", "Notify me"},
		{"/brands/fernwood/alerts", "Alerts", "Add address"},
		{"/settings?tab=budgets", "Settings", "Set budget"},
		{"/brands/fernwood/prompts", "Prompts", "Add prompt"},
		{"/brands/fernwood/prompts?show=tracked", "Prompts", "Edit best rain jacket for hiking"},
		{"/brands/fernwood/settings", "Settings", "Edit Altrek"},
		{"/brands/fernwood/settings", "Settings", "Remove Altrek"},
		{"/brands/fernwood/settings", "Settings", "Delete brand"},
	} {
		d.page.Show(t, looks[i%4].width, 900, looks[i%4].scheme)
		d.at(t, dialog.path, dialog.screen)
		opener := fmt.Sprintf(
			`[...document.querySelectorAll("main button")].find((b) => (b.ariaLabel || b.textContent) == %q)`,
			dialog.opener)
		d.page.Await(t, opener)
		d.page.Eval(t, "void "+opener+".focus()", nil)
		d.page.Press(t, "Enter")
		d.page.Await(t, `document.querySelector("dialog[open]")?.contains(document.activeElement)`)
		for range 8 {
			d.page.Press(t, "Tab")
			if inside := d.text(t, `document.activeElement == document.body || `+
				`document.querySelector("dialog[open]").contains(document.activeElement) ? "" : `+
				`document.activeElement.outerHTML`); inside != "" {
				t.Errorf("from %s Tab leads to %.100s", dialog.opener, inside)
			}
		}
		d.hasNoFindings(t, dialog.opener, looks[i%4], looks[i%4^1])
		d.page.Press(t, "Escape")
		d.settled(t, dialog.screen)
		d.page.Await(t, "document.activeElement == "+opener)
	}
	d.page.Show(t, 1280, 900, "light")
}
