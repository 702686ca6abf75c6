package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
)

// Who has no brand is led from the sign-in to first answers by the keys alone, in every browser, without a reload. In
// Chromium each step is looked at by axe.
func (d *dashboard) isSetUpByKeys(t *testing.T, kind string) {
	visitor := &dashboard{Server: d.Server, password: d.password, email: "ann@" + kind + ".example"}
	if kind == d.browser.Kind {
		visitor.page = d.browser.Open(t)
		visitor.page.Show(t, 1280, 900, "light")
	} else {
		visitor.open(t, kind)
	}
	organization := strings.TrimSpace(run.ToEnd(t, d.env, "", "org", "add", kind).Stdout)
	if r := run.ToEnd(t, d.env, d.password+"\n", "user", "add", visitor.email, "--org", kind,
		"--role", "owner"); r.Status != run.ExitDone {
		t.Fatalf("%s: %s", organization, r.Stderr)
	}
	visitor.page.Visit(t, d.URL+"/signin")
	visitor.page.Await(t, `document.activeElement.labels?.[0].textContent == "E-mail"`)
	look := 0
	at := func(step string) {
		t.Helper()
		visitor.page.Await(t, fmt.Sprintf(`document.querySelector("h2")?.textContent == %q`, step))
		if kind == "chromium" {
			visitor.hasNoFindings(t, step, looks[look%4], looks[look%4^1])
			look++
		}
	}
	visitor.setsUp(t, at)
	if len(visitor.strange) > 0 {
		t.Errorf("the page asks other hosts: %q", visitor.strange)
	}
}

func (d *dashboard) setsUp(t *testing.T, at func(step string)) {
	d.page.Insert(t, d.email)
	d.reach(t, "Password")
	d.page.Insert(t, d.password)
	d.page.Press(t, "Enter")
	d.settled(t, "Set up your first brand")
	add := func(label, act string, texts ...string) {
		t.Helper()
		d.reach(t, label)
		d.page.Insert(t, texts[0])
		for i, text := range texts {
			next := append(texts, "")[i+1]
			d.page.Press(t, "Enter")
			if next != "" {
				d.page.Insert(t, next) // while the one before is being saved
			}
			d.page.Await(t, fmt.Sprintf(`[...document.querySelectorAll(".added li")].some((li) => li.textContent == `+
				`%q) && document.querySelector("main input").value == %q`, text, next))
		}
		d.reach(t, act) // for those who look for it
	}
	on := func(control, key string) {
		t.Helper()
		d.reach(t, control)
		d.page.Press(t, key)
	}
	at("Brand and domains")
	d.reach(t, "Brand name")
	d.page.Insert(t, "Lumen")
	d.reach(t, "Domain")
	d.page.Insert(t, "https://lumen.example/")
	on("Continue", "Enter")
	at("Competitors")
	add("Competitor name", "Add competitor", "Glow", "Raye")
	on("Continue", "Enter")
	at("Prompts")
	add("Prompt", "Add prompt", "best desk lamp", "lamp for reading", "is Lumen good?", "lamp that dims")
	d.page.Await(t,
		`[...document.querySelectorAll(".added [type=search]")].map((box) => box.value).join() == "desk lamp,,,"`)
	d.page.Eval(t, `void document.querySelector("main input").focus()`, nil)
	d.page.Insert(t, "cheap lamp") // which Continue adds, with its topic
	on("Continue", "Enter")
	at("Platforms")
	// all has come: what comes later ends a scroll
	d.page.Await(t, `[...document.querySelectorAll("label.check")].some((l) => l.textContent == "simulator") && `+
		`!document.querySelector("main form button[aria-disabled=true], main form button:disabled")`)
	on("simulator", "Space")
	on("Continue", "Enter")
	at("Run")
	on("Run now", "Enter")
	d.settled(t, "Overview")
	if at := d.text(t, "location.pathname"); at != "/brands/lumen" {
		t.Errorf("it ends at %s", at)
	}
	const counts = `fetch("/app/api/rest/v1/topics?select=name,prompts(count)&order=name").then((r) => r.json())` +
		`.then((all) => all.map((t) => t.prompts[0].count + " " + t.name).join())`
	if topics := d.text(t, counts); topics != "1 desk lamp,3 lamp" {
		t.Errorf("its topics are %s", topics)
	}
	d.page.Await(t, `/n = [1-9]/.test(document.querySelector('figure[aria-label="Mention rate"]')?.textContent) `+
		`&& document.querySelector('figure[aria-label="Beside the leader"]')`)
}

// A set-up goes back, and on after a reload; what is typed is kept, and its prompts are asked once.
func (d *dashboard) goesOnWithASetUp(t *testing.T) {
	run.ToEnd(t, d.env, "", "org", "add", "later")
	if r := run.ToEnd(t, d.env, d.password+"\n", "user", "add",
		"lea@later.example", "--org", "later", "--role", "owner"); r.Status != run.ExitDone {
		t.Fatal(r.Stderr)
	}
	d.loads(t, "/signin", "Sign in")
	d.fill(t, "E-mail", "lea@later.example")
	d.fill(t, "Password", d.password)
	d.page.Press(t, "Enter")
	d.settled(t, "Set up your first brand")
	on := func(act, step string) {
		t.Helper()
		d.click(t, act)
		d.page.Await(t, fmt.Sprintf(
			`document.querySelector("h2")?.textContent == %q && !document.querySelector(".skeleton")`, step))
	}
	added := func(want string) {
		t.Helper()
		d.page.Await(t, fmt.Sprintf(
			`[...document.querySelectorAll(".added li")].map((li) => li.textContent).join() == %q`, want))
	}
	d.fill(t, "Brand name", "Halo")
	d.fill(t, "Domain", "https://halo.exmaple/")
	on("Continue", "Competitors")
	d.fill(t, "Competitor name", "Glow")
	on("Continue", "Prompts")
	d.click(t, "Continue")
	d.page.Await(t, alert+`?.startsWith("Add a prompt first")`)
	d.fill(t, "Prompt", "best desk lamp")
	d.click(t, "Add prompt")
	added("best desk lamp")
	d.page.Eval(t, "void location.reload()", nil)
	d.page.Await(t, `document.readyState == "complete"`)
	added("best desk lamp")
	on("Back", "Competitors")
	added("Glow")
	on("Back", "Brand and domains")
	d.page.Await(t, `[...document.querySelectorAll("main input")].map((i) => i.value).join() == "Halo,halo.exmaple"`)
	d.fill(t, "Domain", "https://halo.example/")
	for _, step := range []string{"Competitors", "Prompts", "Platforms"} {
		on("Continue", step)
	}
	d.click(t, "Continue")
	d.page.Await(t, alert+`?.startsWith("Choose a platform first")`)
	d.page.Eval(t,
		`void [...document.querySelectorAll("label.check")].find((l) => l.textContent == "simulator").click()`, nil)
	on("Continue", "Run")
	d.click(t, "Run now")
	d.settled(t, "Overview")
	d.loads(t, "/signin", "Sign in")
	d.fill(t, "E-mail", "lea@later.example")
	d.fill(t, "Password", d.password)
	d.page.Press(t, "Enter")
	d.settled(t, "Overview") // of the only brand
	var jobs int
	if d.page.Eval(t, `fetch("/app/api/tracking/jobs").then((r) => r.json()).then((page) => page.jobs.length)`,
		&jobs); jobs != 1 {
		t.Errorf("its prompts are asked by %d jobs", jobs)
	}
	const corrected = `fetch("/app/api/rest/v1/brand_domains?select=domain,is_primary").then((r) => r.text())`
	if domains := d.text(t, corrected); domains != `[{"domain":"halo.example","is_primary":true}]` {
		t.Errorf("a domain that was corrected leaves %s", domains)
	}
}

// focused is the name of what has the focus.
const focused = `(document.activeElement.ariaLabel || document.activeElement.labels?.[0]?.textContent || ` +
	`document.activeElement.textContent).trim()`

// visible says whether one sees where the focus is: an outline, or in the chart the ring of a point, within the window.
const visible = `(() => { const at = document.activeElement, box = at.getBoundingClientRect(),
	style = getComputedStyle(at), dot = at.querySelector("circle, rect")
	const ring = style.outlineStyle != "none" && parseFloat(style.outlineWidth) >= 2 || dot &&
		parseFloat(getComputedStyle(dot).strokeWidth) >= 2
	return !!ring && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth })()`

// reach presses Tab until what has that name has the focus.
func (d *dashboard) reach(t *testing.T, name string) {
	t.Helper()
	var passed []string
	for range 40 {
		at := d.text(t, focused)
		if at == name {
			d.page.Await(t, visible) // once it has scrolled there
			return
		}
		passed = append(passed, at)
		d.page.Press(t, "Tab")
	}
	t.Fatalf("Tab does not reach %s, but %q", name, passed)
}

// The first Tab leads to a link that skips to the content, and what each one after that leads to is seen.
func (d *dashboard) isReachedByKeys(t *testing.T) {
	d.loads(t, "/brands/fernwood", "Overview")
	d.page.Press(t, "Tab")
	if at := d.text(t, focused); at != "Skip to content" {
		t.Errorf("the first Tab leads to %q", at)
	}
	d.page.Press(t, "Enter")
	d.page.Await(t, `document.activeElement.id == "main"`)
	reached := map[string]bool{}
	for range 60 {
		d.page.Press(t, "Tab")
		at := d.text(t, `document.activeElement == document.body ? "" : `+focused)
		if at == "" || at == "Skip to content" {
			break
		}
		d.page.Await(t, visible)
		reached[at] = true
	}
	for _, name := range []string{
		"Notify me", "Weeks", "Show table: Visibility trend", "More: Visibility trend", "All competitors",
		"Download CSV: Beside the leader",
	} {
		if !reached[name] {
			t.Errorf("Tab does not reach %s", name)
		}
	}
	if reached["Overview"] {
		t.Error("after the skip one is still in the list of screens")
	}
}

// With reduced motion nothing moves, and without it what is awaited does.
func (d *dashboard) standsStill(t *testing.T) {
	const moves = `(() => { const box = document.createElement("div"); box.className = "skeleton";
		document.body.append(box)
		const { animationName, transitionProperty } = getComputedStyle(box); box.remove();
			return animationName + " " + transitionProperty })()`
	for preference, want := range map[string]string{
		"reduce": "none color, background-color, opacity", "no-preference": "breathe all",
	} {
		d.page.Command(t, "Emulation.setEmulatedMedia",
			map[string]any{"features": []map[string]string{{"name": "prefers-reduced-motion", "value": preference}}},
			nil)
		if got := d.text(t, moves); got != want {
			t.Errorf("with %s it has %q, want %q", preference, got, want)
		}
	}
	d.page.Show(t, 1280, 900, "light")
}
