package dashboard

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
)

// What the page shows is what the API answers.
func (d *dashboard) showsTheAPIsFigures(t *testing.T) {
	type interval struct{ Low, High float64 }
	var summary struct {
		Totals struct {
			ResultCount         int
			MentionRatePct      float64
			MentionRateInterval interval
			AIVisibilityScore   float64
			Interval            interval
			PositionFactor      float64
		}
	}
	d.ask(t, "visibility-summary?brand_id="+d.brand, &summary)
	d.at(t, "/brands/fernwood", "Overview")
	totals := summary.Totals
	for name, want := range map[string][]string{
		"Mention rate": {number(totals.MentionRatePct) + "%",
			number(totals.MentionRateInterval.Low) + "–" + number(totals.MentionRateInterval.High),
			"n = " + number(float64(totals.ResultCount))},
		"Visibility score": {number(totals.AIVisibilityScore),
			number(totals.Interval.Low) + "–" + number(totals.Interval.High),
			"n = " + number(float64(totals.ResultCount)), number(totals.PositionFactor)},
	} {
		figure := d.text(t, fmt.Sprintf(`document.querySelector('figure[aria-label="%s"]').textContent`, name))
		for _, text := range want {
			if !strings.Contains(figure, text) {
				t.Errorf("%s is %q, and lacks %s", name, figure, text)
			}
		}
	}
}

// number is as the page writes it: in full, with commas.
func number(value float64) string {
	whole, decimals, _ := strings.Cut(fmt.Sprint(value), ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if decimals != "" {
		decimals = "." + decimals
	}
	return whole + decimals
}

// percent is a percentage as columns have it.
func percent(value float64) string { return fmt.Sprintf("%.1f%%", value) }

// The chart's axis names each day once, and its file has its font and its ground.
func (d *dashboard) drawsTheTrend(t *testing.T) {
	d.at(t, "/brands/fernwood", "Overview")
	for _, days := range []string{"7 days", "30 days"}[:testkit.Draws(1, 2)] {
		d.choosesWindow(t, days)
		d.settled(t, "Overview")
		var ticks []string
		d.page.Eval(t, `[...document.querySelectorAll("figure.lines text.day")].map((text) => text.textContent)`,
			&ticks)
		if unique := slices.Compact(slices.Clone(ticks)); len(unique) != len(ticks) || len(ticks) < 4 {
			t.Errorf("the days of %s are %q", days, ticks)
		}
	}
	var size int
	d.page.Eval(t, `new Promise((done) => {
		const make = URL.createObjectURL
		URL.createObjectURL = (blob) => {
			if (blob.type == "image/png") {
				URL.createObjectURL = make
				done(blob.size)
			}
			return make.call(URL, blob)
		}
		const click = HTMLAnchorElement.prototype.click
		HTMLAnchorElement.prototype.click = () => HTMLAnchorElement.prototype.click = click
		document.querySelector('[aria-label="Download PNG: Visibility trend"]').click()
	})`, &size)
	if size < 10_000 {
		t.Errorf("the picture has %d bytes", size)
	}
	if svg := d.saved(t,
		"Download SVG: Visibility trend"); !regexp.MustCompile(
		`<rect width="100%" height="100%" fill="rgb\(.*<text [^>]*font-family="[^"]+" font-size="\d+px"`).
		MatchString(svg) {
		t.Errorf("the chart is saved as %.600s", svg)
	}
}

// The chart is one tab stop; arrows go from point to point, each of which says its day and value.
func (d *dashboard) walksTheTrend(t *testing.T) {
	d.at(t, "/brands/fernwood?date_to=2026-01-30", "Overview")
	if empty := d.text(t, `document.querySelector("main").innerText`); !strings.Contains(empty, "No answers") {
		t.Errorf("an empty window shows %q", empty)
	}
	d.opensFilter(t)
	const since = `[...document.querySelectorAll("label")].find((l) => l.textContent == "From").control.value`
	if from := d.text(t, since); from != "2026-01-01" {
		t.Errorf("a window that ends with 30 January begins at %q", from)
	}
	d.at(t, "/brands/fernwood", "Overview")
	const chart = `document.querySelector('figure[aria-label="Visibility trend"]')`
	d.page.Await(t, chart+`?.querySelector("a")`)
	var stops int
	d.page.Eval(t, chart+`.querySelectorAll('a[tabindex="0"]').length`, &stops)
	var points []string
	d.page.Eval(t, fmt.Sprintf("[...%s.querySelectorAll('[data-key=%q]')].map((a) => a.ariaLabel)", chart, d.brand),
		&points)
	if stops != 1 || len(points) < 20 ||
		!regexp.MustCompile(`^Fernwood, [A-Z][a-z]{2} \d+, 20\d\d: [\d.]+% \([\d.]+–[\d.]+\), n = \d+`).
			MatchString(points[0]) {
		t.Fatalf("%d tab stops among %d points such as %q", stops, len(points), points[0])
	}
	d.page.Eval(t, `void document.querySelector('button[aria-label="More: Visibility trend"]').focus()`, nil)
	d.page.Press(t, "Tab")
	for i, key := range []string{"", "ArrowLeft", "ArrowLeft", "ArrowRight", "Home", "End", "ArrowRight"} {
		if key != "" {
			d.page.Press(t, key)
		}
		want := points[[]int{len(points) - 1, len(points) - 2, len(points) - 3, len(points) - 2, 0, len(points) - 1,
			len(points) - 1}[i]]
		if at := d.text(t, `document.activeElement.ariaLabel || ""`); at != want {
			t.Errorf("after %q the focus is on %q, want %q", key, at, want)
		}
	}
	d.page.Press(t, "Tab")
	var inside bool
	if d.page.Eval(t, chart+".contains(document.activeElement)", &inside); inside {
		t.Error("the chart is more than one tab stop")
	}
	d.page.Eval(t, "void "+chart+`.querySelector('a[tabindex="0"]').focus()`, nil)
	d.page.Press(t, "Home")
	first := d.text(t, `document.querySelector('table[aria-label="Visibility trend"] tbody th').textContent`)
	d.page.Press(t, "Enter")
	d.settled(t, "Answers")
	if at := d.text(t, "location.search"); at != "?date_from="+first+"&date_to="+first {
		t.Errorf("the point of %s leads to %s", first, at)
	}
}

// A week's point leads to the answers that it counts, also where the window has a part of the week. Weeks have a band.
func (d *dashboard) countsWeeks(t *testing.T) {
	today := time.Now().UTC()
	wednesday := today.AddDate(0, 0, -14-int(today.Weekday()+4)%7)
	d.at(t, "/brands/fernwood?granularity=week&date_from="+wednesday.Format(time.DateOnly)+"&date_to="+
		wednesday.AddDate(0, 0, 8).Format(time.DateOnly), "Overview")
	var points []struct{ Name, Query string }
	d.page.Await(t, `document.querySelector('figure[aria-label="Visibility trend"] a')`)
	d.page.Eval(t, fmt.Sprintf(`[...document.querySelectorAll('figure[aria-label="Visibility trend"] `+
		`[data-key=%q]')].map((a) => ({ Name: a.ariaLabel, Query: a.getAttribute("href").split("?")[1] }))`, d.brand),
		&points)
	for _, p := range points {
		if answers := fmt.Sprintf(", n = %s",
			number(float64(d.total(t, p.Query)))); !strings.HasSuffix(p.Name, answers) &&
			!strings.Contains(p.Name, answers+", ") {
			t.Errorf("the week %s leads to %q%s", p.Name, p.Query, answers)
		}
	}
	if len(points) != 2 {
		t.Errorf("nine days from a Wednesday on are in %d weeks", len(points))
	}
	if d.text(t, `document.querySelector("path.band").getAttribute("d")`) == "" {
		t.Errorf("the weeks %v have no band", points)
	}
}

// Every choice is an entry of the history; reload, back and another screen keep what they should.
func (d *dashboard) keepsItsStateInTheAddress(t *testing.T) {
	d.at(t, "/brands/fernwood", "Overview")
	choose := func(label, value string) {
		t.Helper()
		d.page.Await(t, fmt.Sprintf(`[...document.querySelectorAll("option")].some((o) => o.value == %q)`, value))
		d.page.Eval(t, fmt.Sprintf(`void ((s) => { s.value = %q; s.dispatchEvent(new Event("input", { bubbles: `+
			`true })) })([...document.querySelectorAll("label")].find((l) => l.firstChild.textContent == %q).control)`,
			value, label), nil)
	}
	rate := func() string {
		t.Helper()
		d.settled(t, "Overview")
		return d.text(t, `document.querySelector('figure[aria-label="Mention rate"]').textContent`)
	}
	whole := rate()
	d.opensFilter(t)
	choose("Platform", "perplexity-web")
	d.page.Await(t, `location.search == "?platform=perplexity-web"`)
	choose("Prompts", "false")
	d.page.Await(t, `location.search == "?platform=perplexity-web&branded=false"`)
	both := rate()
	d.page.Eval(t, "void location.reload()", nil)
	d.page.Await(t,
		`document.readyState == "complete" && document.querySelector('figure[aria-label="Mention rate"]')`)
	if again := rate(); again != both || both == whole {
		t.Errorf("unfiltered %q, filtered %q, and after a reload %q", whole, both, again)
	}
	d.click(t, "Competitors")
	d.settled(t, "Competitors")
	const next = "/brands/fernwood/competitors?platform=perplexity-web&branded=false"
	if at := d.text(t, "location.pathname + location.search"); at != next {
		t.Errorf("the next screen is at %s", at)
	}
	for _, want := range []string{"?platform=perplexity-web&branded=false", "?platform=perplexity-web", ""} {
		d.page.Eval(t, "void history.back()", nil)
		d.page.Await(t, fmt.Sprintf("location.pathname == '/brands/fernwood' && location.search == %q", want))
	}
	if back := rate(); back != whole {
		t.Errorf("back at the beginning it shows %q, want %q", back, whole)
	}
	d.at(t, "/brands/fernwood?platform=perplexity-web&branded=false", "Overview")
	d.click(t, "Traffic") // whose platforms are others
	d.page.Await(t, `location.pathname + location.search == "/brands/fernwood/traffic?branded=false"`)
	d.opensFilter(t)
	choose("Platform", "chatgpt")
	d.page.Await(t, `location.search == "?branded=false&platform=chatgpt"`)
	d.click(t, "Overview")
	d.page.Await(t, `location.pathname + location.search == "/brands/fernwood?branded=false"`)
}

// A table is sorted by the API, and by one column.
func (d *dashboard) sortsTables(t *testing.T) {
	d.at(t, "/brands/fernwood/prompts", "Prompts")
	d.click(t, "Mentions")
	d.page.Await(t, `location.search == "?sort_by=mentions&order=desc"`)
	d.settled(t, "Prompts")
	var performance struct {
		Prompts []struct {
			Text string `json:"prompt_text"`
		}
	}
	d.ask(t, "prompt-performance?sort_by=mentions&limit=100&brand_id="+d.brand, &performance)
	var names []string
	d.page.Eval(t, `[...document.querySelectorAll('table[aria-label="Performance"] tbody tr')].map((tr) => `+
		`tr.cells[0].textContent)`, &names)
	for i, p := range performance.Prompts {
		if len(names) != len(performance.Prompts) || names[i] != p.Text {
			t.Fatalf("row %d of %d is not %q: %q", i, len(performance.Prompts), p.Text, names)
		}
	}
	var sorted []string
	d.page.Eval(t, `[...document.querySelectorAll("[aria-sort]")].map((th) => th.textContent + th.ariaSort)`, &sorted)
	if !slices.Equal(sorted, []string{"Mentions↓descending"}) {
		t.Errorf("sorted by %q", sorted)
	}
}

// A key is shown once, and works until it is revoked.
func (d *dashboard) makesAndRevokesKeys(t *testing.T) {
	d.at(t, "/settings", "Organization")
	d.click(t, "Create key")
	d.page.Await(t, `document.querySelector("dialog[open] input")`)
	d.fill(t, "Name", "weekly report")
	d.page.Press(t, "Enter")
	d.page.Await(t, `document.querySelector("dialog .secret")`)
	d.page.Eval(t, `void Object.defineProperty(navigator, "clipboard", { value: undefined })`, nil) // as without TLS
	d.click(t, "Copy")
	d.page.Await(t,
		`document.querySelector("dialog [role=status]").textContent.includes("select the text and copy it")`)
	key := d.text(t, `document.querySelector("dialog .secret").textContent`)
	if status, _ := run.Fetch(t, d.URL+"/api/v1/whoami", key); !strings.HasPrefix(key, "svc_") ||
		status != http.StatusOK {
		t.Fatalf("the key %q is answered with %d", key, status)
	}
	d.click(t, "Done")
	d.settled(t, "Organization")
	d.page.Await(t, `document.activeElement.textContent == "Create key"`)
	const row = `[...document.querySelectorAll('table[aria-label="API Keys"] tbody tr')].find((tr) => ` +
		`tr.cells[0].textContent == "weekly report")`
	d.page.Await(t, row)
	page := d.text(t, "document.documentElement.innerHTML")
	if strings.Contains(page, key) || !strings.Contains(page, key[:8]+"…") {
		t.Error("the key is shown again, or not by its prefix")
	}
	d.page.Eval(t, "void "+row+`.querySelector("button").click()`, nil)
	d.page.Await(t, `document.querySelector("dialog[open]")`)
	d.click(t, "Revoke")
	d.settled(t, "Organization")
	d.page.Await(t, "!"+row+`.querySelector("button")`)
	if status, _ := run.Fetch(t, d.URL+"/api/v1/whoami", key); status != http.StatusUnauthorized {
		t.Errorf("revoked, the key is answered with %d", status)
	}
}

// The plan has the API's figures: how many more answers show a change, or why none do.
func (d *dashboard) plansAnswers(t *testing.T) {
	d.at(t, "/brands/fernwood/tracking", "Tracking")
	for _, points := range []string{"2", "20"} {
		d.pick(t, "Points", points)
		d.pick(t, "Days", "28")
		var plan struct {
			More   *float64 `json:"more_answers_per_day"`
			Now    float64  `json:"answers_per_day"`
			Reason *string
		}
		d.ask(t, "sampling-plan?brand_id="+d.brand+"&days=28&difference="+points, &plan)
		change := "a change of " + points + " points within 28 days"
		want := "Today's " + number(plan.Now) + " answers a day would show " + change + " in 4 of 5 cases"
		switch {
		case plan.Reason != nil:
			want = "No number of answers shows " + change
		case *plan.More > 0:
			want = number(*plan.More) + " more answer"
		}
		t.Log(want)
		d.page.Await(t, fmt.Sprintf(
			`[...document.querySelectorAll("section.card strong")].some((s) => s.textContent.includes(%q))`, want))
	}
}

// A run is started, followed to its end, and then counted; nothing is reloaded, also where an answer is lost.
func (d *dashboard) runsPrompts(t *testing.T) {
	d.click(t, "Tracking")
	d.settled(t, "Tracking")
	d.page.Await(t, `document.querySelector("main").innerText.includes("no default platform has a key")`)
	d.pick(t, "Platform to ask", "simulator")
	d.click(t, "Add platform")
	d.page.Await(t,
		`document.querySelector('table[aria-label="Schedule"]')?.rows[1].cells[0].textContent == "simulator"`)
	d.loses(t, "/tracking/job/")
	d.click(t, "Run now")
	d.page.Await(t, `document.querySelector('table[aria-label="Jobs"]')`)
	d.page.Await(t, `!document.querySelector("progress") && `+
		`document.querySelector('table[aria-label="Jobs"]').rows[1].cells[1].textContent == "completed"`)
	if runs := d.text(t,
		`document.querySelector('table[aria-label="Jobs"]').rows[1].cells[2].textContent`); !regexp.MustCompile(
		`^[1-9]\d* of \d+$`).MatchString(runs) {
		t.Errorf("the job has %q runs", runs)
	}
	d.click(t, "Overview")
	d.settled(t, "Overview")
	// its prompts have answers now
	d.page.Await(t, `/n = [1-9]/.test(document.querySelector('figure[aria-label="Mention rate"]')?.textContent)`)
	d.at(t, d.text(t, "location.pathname")+"?topic_id="+d.brand, "Overview")
	d.pick(t, "Brand", d.brand) // whose topics are others
	d.page.Await(t, `location.pathname + location.search == "/brands/fernwood"`)
}
