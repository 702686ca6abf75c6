package dashboard

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
)

// A look is how a screen is shown.
type look struct {
	width  int
	scheme string
}

// looks are in pairs that differ in both.
var looks = []look{{1280, "light"}, {375, "dark"}, {375, "light"}, {1280, "dark"}}

// A shownScreen is a screen with what it offers.
type shownScreen struct {
	path, name string
	files      map[string]string // downloads, and what each of them has: see saves; nil: not looked at
	dialogs    []string          // the buttons that open one
}

func (d *dashboard) screens(t *testing.T) []shownScreen {
	t.Helper()
	var found struct {
		Answers []struct {
			ID     string
			Prompt string `json:"prompt_id"`
		}
	}
	d.ask(t, "answers?mentioned=true&limit=2&brand_id="+d.brand, &found)
	today := time.Now().UTC()
	// three pages of answers
	days := "date_from=" + today.AddDate(0, 0, -4).Format(time.DateOnly) + "&date_to=" + today.Format(time.DateOnly)
	window := d.window(t)
	const shown = "" // the columns of such a table are those shown
	list := []shownScreen{
		{"/", "Brands", map[string]string{"Brands": "brands-overview?table=brands"}, []string{"Add brand"}},
		{"/settings", "Organization", map[string]string{"API Keys": shown}, []string{"Create key", "Revoke"}},
		{"/settings?tab=members", "Organization", map[string]string{"Members": shown}, []string{"Invite"}},
		{"/settings?tab=audit", "Organization",
			map[string]string{"Audit log": "at,action,subject,actor_id,detail"}, nil},
		{"/settings?tab=providers", "Organization", map[string]string{"Providers": shown},
			[]string{"Set key of OpenAI"}},
		{"/settings?tab=budgets", "Organization", map[string]string{"Budgets": shown}, []string{"Set budget"}},
		{"/settings?tab=webhooks", "Organization", nil, []string{"Add webhook"}},
		{"/brands/fernwood", "Overview", map[string]string{
			"Visibility trend":  "visibility-trend?granularity=day&table=buckets",
			"Platforms":         "visibility-summary?group_by=platform&table=groups",
			"Beside the leader": "competitor-comparison?table=competitors",
			"What moved": "visibility-changes?group_by=platform,topic,prompt,competitor&metric=mention_rate" +
				"&table=changes"}, []string{"Notify me"}},
		{"/brands/fernwood/opportunities", "Opportunities", nil, nil},
		{"/brands/fernwood/searches", "Searches", map[string]string{ // simulated searches drop no word of their prompt
			"Searches": "fanout?limit=200&table=queries", "Added words": "fanout?limit=200&table=words.added",
			"Platforms": "fanout?limit=200&table=by_platform"}, nil},
		{"/brands/fernwood/alerts", "Alerts", map[string]string{
			"Alerts": shown, "Before you switch it on": "alert-preview?table=moves"}, []string{"Add address"}},
		{"/brands/fernwood/competitors", "Competitors", map[string]string{
			"Visibility":             "competitor-comparison?table=competitors",
			"Ranking":                "competitor-comparison?table=competitors",
			"Mention rate over time": "entity-trend?table=entities.buckets",
			"Share of voice":         "entity-trend?granularity=week&table=entities.buckets",
			"By platform":            "competitor-comparison?group_by=platform&table=groups.competitors",
			"Sentiment":              "sentiment?table=competitors"}, nil},
		{"/brands/fernwood/prompts", "Prompts", map[string]string{
			"Prompts by platform": "prompt-matrix?by=platform&limit=200&table=rows.cells",
			"Performance":         "prompt-performance?sort_by=rate&compare=previous&metric=mention_rate&limit=100"},
			[]string{"Add prompt"}},
		{"/brands/fernwood/prompts?show=tracked", "Prompts", map[string]string{
			"Tracked prompts": "text,is_active,created_at,topic"}, []string{"Edit best rain jacket for hiking"}},
		{"/brands/fernwood/answers?" + days, "Answers", map[string]string{"Answers": "answers?limit=200&" + days}, nil},
		{"/brands/fernwood/answers/" + found.Answers[0].ID, "Answers", nil, nil},
		{"/brands/fernwood/answers/" + found.Answers[0].ID + "?with=" + found.Answers[1].ID, "Answers", nil, nil},
		{"/brands/fernwood/sources", "Sources", map[string]string{
			"Source types":                 "citations?granularity=week&table=buckets",
			"Domains and brands":           "source-matrix?limit=100&table=domains.entities",
			"Where the brand is not named": "citations?mentioned=false&limit=200&table=top_domains",
			"Domains":                      "citations?limit=200&table=top_domains",
			"Pages":                        "citations?limit=200&table=top_urls"}, nil},
		{"/brands/fernwood/traffic", "Traffic", map[string]string{
			"Pages": "ai-pages?limit=200", "Platforms": "ai-traffic?table=platform_breakdown",
			"Goals":     "ai-traffic?table=goals",
			"Countries": "ai-traffic?table=country_breakdown", "AI crawlers": "ai-crawlers?table=crawler_breakdown",
			"Visits per day":      "ai-traffic?granularity=day&table=buckets",
			"AI crawlers per day": "ai-crawlers?granularity=day&table=buckets"}, nil},
		{"/brands/fernwood/shopping", "Shopping", map[string]string{
			"Shopping cards": "shopping-cards?limit=200&" + window,
			"Product lists":  "shopping-summary?table=brands&" + window,
			"Prices":         "shopping-summary?table=brands.prices&" + window}, nil},
		{"/brands/fernwood/tracking", "Tracking", nil, nil},
		{"/brands/fernwood/settings", "Settings", map[string]string{
			"Competitors": "name,aliases,domains", "Share links": shown},
			[]string{"Edit Altrek", "Remove Altrek", "Delete brand"}},
		{"/brands/fernwood/report?parts=Traffic", "Report", nil, nil},
		{"/brands/fernwood/nothing", "Not found", nil, nil},
	}
	if !testkit.All {
		return list
	}
	last := window[len(window)-len(time.DateOnly):] // a day has too little data
	return append(list, []shownScreen{
		{"/brands/fernwood/opportunities?kind=brief", "Opportunities", nil, nil},
		{"/brands/fernwood/prompts?date_from=" + last + "&date_to=" + last, "Prompts", nil, nil},
		{"/brands/fernwood/prompts?by=model&prompt=" + found.Answers[0].Prompt, "Prompts", nil, nil},
		{"/brands/fernwood/answers?mentioned=true&domain=fernwood.example", "Answers", nil, nil},
		{"/brands/fernwood/report?parts=Overview,Competitors,Prompts,Sources,Shopping,Traffic", "Report", nil, nil},
		{"/brands/fernwood?date_from=2026-01-01&date_to=2026-01-02", "Overview", nil, nil},
	}...)
}

// Each screen is served, has one heading and one main part, and axe finds nothing; `make test` looks at each in one
// theme and width. Its downloads have what they are named for. Its dialogs open and close by keys.
func (d *dashboard) showsItsScreens(t *testing.T) {
	titles := map[string]bool{}
	for i, screen := range d.screens(t) {
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
		var status int // of a load
		if d.page.Eval(t, fmt.Sprintf("fetch(%q).then((r) => r.status)", screen.path),
			&status); (status == http.StatusOK) == (screen.name == "Not found") {
			t.Errorf("%s is served with %d", screen.path, status)
		}
		titles[d.text(t, "document.title")] = true
		d.hasNoFindings(t, screen.path, first, second)
		if screen.files != nil {
			d.page.Await(t, fmt.Sprintf(`document.querySelectorAll('[aria-label^="Download CSV"]').length == %d`,
				len(screen.files)))
			d.saves(t, screen.files)
		}
		for _, opener := range screen.dialogs {
			d.opensADialog(t, screen.name, opener, first, second)
		}
	}
	d.page.Show(t, 1280, 900, "light")
	if len(titles) < 9 {
		t.Errorf("titles are %v", titles)
	}
}

// opensADialog opens a dialog by Enter, which holds the focus, and leaves it by Escape, after which the focus is where
// it was.
func (d *dashboard) opensADialog(t *testing.T, screen, name string, first, second look) {
	t.Helper()
	opener := fmt.Sprintf(
		`[...document.querySelectorAll("main button")].find((b) => (b.ariaLabel || b.textContent) == %q)`, name)
	d.page.Await(t, opener)
	d.page.Eval(t, "void "+opener+".focus()", nil)
	d.page.Press(t, "Enter")
	d.page.Await(t, `document.querySelector("dialog[open]")?.contains(document.activeElement)`)
	for range testkit.Draws(4, 8) {
		d.page.Press(t, "Tab")
		if inside := d.text(t, `document.activeElement == document.body || `+
			`document.querySelector("dialog[open]").contains(document.activeElement) ? "" : `+
			`document.activeElement.outerHTML`); inside != "" {
			t.Errorf("from %s Tab leads to %.100s", name, inside)
		}
	}
	d.hasNoFindings(t, name, first, second)
	d.page.Press(t, "Escape")
	d.settled(t, screen)
	d.page.Await(t, "document.activeElement == "+opener)
}

// Charts as tables, and screens whose figures are awaited, or have failed, are accessible, too.
func (d *dashboard) isAccessibleInOtherStates(t *testing.T) {
	d.at(t, "/brands/fernwood", "Overview")
	d.click(t, "Show table: Visibility trend")
	d.hasNoFindings(t, "table shown", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	for state, is := range map[string]struct{ answer, shown string }{
		"loading": {"new Promise(() => {})", `document.querySelector("main .skeleton")`},
		"failed": {`Promise.resolve(new Response("{}", { status: 503 }))`,
			`document.querySelector("main [role=alert]") && !document.querySelector("main .skeleton")`},
	} {
		d.loads(t, "/brands/fernwood/prompts", "Prompts")
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
// that the looks can change: under `make test-all`. Left out, for the time they take, are the rows of a table and the
// points of a chart that are as the three before them, and what is behind a dialog or an open menu.
func (d *dashboard) hasNoFindings(t *testing.T, what string, first, second look) {
	t.Helper()
	script, err := axe()
	if err != nil {
		t.Fatalf("axe-core is not here: run `make page-packages`: %v", err)
	}
	d.page.Command(t, "Runtime.evaluate", map[string]any{"expression": "window.axe || (() => {" + script + "})()"}, nil)
	for i, run := range []struct {
		look
		options string
	}{{first, "{}"}, {second, `{ runOnly: ["color-contrast", "scrollable-region-focusable", "target-size"] }`}} {
		if i > 0 && !testkit.All {
			break
		}
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
