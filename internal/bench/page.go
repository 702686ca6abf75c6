package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/browser"
)

// paging is how much data the page bench inserts, and how often it looks and asks.
var paging = struct {
	window    int // days of the large data's figures
	looks     int // loads of a page, each of other figures
	throttle  int // times that the browser's processor is slowed down
	questions int // different ones
	again     int // times that each is repeated
}{window: 90, looks: 15, throttle: 4, questions: 100, again: 5}

// page measures the dashboard in Chromium:
//
//   - the script and the style, in bytes as gzip sends them;
//   - how long after its address was entered an overview shows its chart, with nothing cached and the processor slowed
//     down, and how far what it showed moved: on the demo's data, 30 days, and over 10 M answers (those of query), 90
//     days. No two looks are at the same figures;
//   - how long after its data a screen of a heat map of 200 prompts on six platforms is painted;
//   - how long the list of an organization's brands takes, over 10 M answers, and how many requests;
//   - how long what an overview asks takes first and when it is repeated, over 10 M answers, one client.
func page(ctx context.Context, o Options, s *stack, r *Result) error {
	chromium, err := browser.Start(ctx, "chromium", "")
	if err != nil {
		return err
	}
	s.onClose(func(context.Context) error { chromium.Close(); return nil })
	demo, err := s.startDemo(ctx)
	if err != nil {
		return err
	}
	if err := demo.weigh(ctx, r); err != nil {
		return err
	}
	o.Progress("  the demo's overview")
	if err := demo.measure(ctx, chromium, r, "demo"); err != nil {
		return err
	}
	if err := demo.drawMatrix(ctx, chromium, r); err != nil {
		return err
	}
	if err := demo.stop(); err != nil {
		return err
	}
	large, err := s.startLarge(ctx, o.Progress)
	if err != nil {
		return err
	}
	o.Progress("  the overview of a brand of %d", asking.brands)
	if err := large.measure(ctx, chromium, r, "ten-million"); err != nil {
		return err
	}
	if err := large.listBrands(ctx, chromium, r); err != nil {
		return err
	}
	return large.repeat(ctx, r)
}

// measure looks at the overviews of a site.
func (d *dashboard) measure(ctx context.Context, chromium *browser.Browser, r *Result, name string) error {
	var addresses []string
	for i := range paging.looks {
		addresses = append(addresses, d.overview(i))
	}
	const curve = `document.querySelector('figure[aria-label="Visibility trend"] path.line[d]')`
	took, tab, err := d.look(ctx, chromium, fmt.Sprintf(paintWatch, curve), addresses)
	if err != nil {
		return err
	}
	defer tab.Close()
	r.addTimes(name+"_chart", name, "to the first chart", took)
	var shift float64
	err = tab.Await(ctx, `!document.querySelector(".skeleton")`)
	if err == nil {
		err = tab.Eval("window.shift", &shift)
	}
	if shift > 0 {
		r.Figures[name+"_layout_shift"] = shift
	}
	r.Lines = append(r.Lines, fmt.Sprintf("%-16s %8.3f layout shift", name, shift))
	return err
}

// listBrands looks at the list of an organization's brands.
func (d *dashboard) listBrands(ctx context.Context, chromium *browser.Browser, r *Result) error {
	rows := min(brandsOfOne, len(d.brands))
	all := fmt.Sprintf(`document.querySelectorAll('table[aria-label="Brands"] tbody tr').length == %d &&
		!document.querySelector(".skeleton")`, rows)
	took, tab, err := d.look(ctx, chromium, fmt.Sprintf(paintWatch, all), slices.Repeat([]string{"/"}, paging.looks))
	if err != nil {
		return err
	}
	defer tab.Close()
	r.addTimes("brands", "brands", fmt.Sprintf("to a list of %d", rows), took)
	var requests float64
	err = tab.Eval(`performance.getEntriesByType("resource").filter((e) => e.initiatorType == "fetch").length`, &requests)
	r.Figures["brands_requests"] = requests
	r.Lines = append(r.Lines, fmt.Sprintf("%-16s %8.0f requests", "brands", requests))
	return err
}

// drawMatrix looks at the first screen of a heat map that is grown to 200 prompts on six platforms.
func (d *dashboard) drawMatrix(ctx context.Context, chromium *browser.Browser, r *Result) error {
	const cells = `document.querySelectorAll(".heat td [data-at]").length >= 6 * 40`
	address := "/brands/fernwood/prompts"
	took, tab, err := d.look(ctx, chromium, fmt.Sprintf(paintWatch, cells)+growMatrix,
		slices.Repeat([]string{address}, paging.looks))
	if err != nil {
		return err
	}
	defer tab.Close()
	r.addTimes("heat_map", "heat map", "from its data to the first 40 of 200 × 6 cells", took)
	return nil
}

// addTimes adds percentiles of how long looks took.
func (r *Result) addTimes(figure, name, what string, took []time.Duration) {
	for _, p := range []int{50, 95} {
		r.Figures[fmt.Sprintf("%s_p%d_ms", figure, p)] = percentile(took, float64(p))
	}
	r.Lines = append(r.Lines, fmt.Sprintf("%-16s %8.0f ms %s at %d× throttle (p50), %.0f (p95)", name,
		percentile(took, 50), what, paging.throttle, percentile(took, 95)))
}

// look opens a tab of the site's user, slowed down, and returns, sorted, how long after each navigation, or after
// window.since, a script of the page set window.shown.
func (d *dashboard) look(
	ctx context.Context, chromium *browser.Browser, script string, addresses []string,
) (took []time.Duration, tab *browser.Page, err error) {
	if tab, err = chromium.Open(); err != nil {
		return nil, nil, err
	}
	if err := d.signIn(ctx, tab, script); err != nil {
		return nil, tab, err
	}
	for _, address := range addresses {
		var ms float64
		err := tab.Visit(ctx, d.url+address)
		if err == nil {
			err = tab.Await(ctx, "window.shown")
		}
		if err == nil {
			err = tab.Eval("window.shown - (window.since ?? 0)", &ms)
		}
		if err != nil {
			return nil, tab, err
		}
		took = append(took, time.Duration(ms*float64(time.Millisecond)))
	}
	slices.Sort(took)
	return took, tab, nil
}

// signIn gives a tab the session of the site's user, slows it down, and runs a script before those of each document.
func (d *dashboard) signIn(ctx context.Context, tab *browser.Page, script string) error {
	if err := tab.Visit(ctx, d.url+"/signin"); err != nil {
		return err
	}
	var status int
	err := tab.Eval(fmt.Sprintf(`fetch("/app/api/session", { method: "POST", headers: { "X-Answerscope": "1" },
		body: JSON.stringify({ email: %q, password: %q }) }).then((r) => r.status)`, d.email, d.password), &status)
	if err == nil && status != 204 {
		err = fmt.Errorf("sign in as %s: status %d", d.email, status)
	}
	for _, command := range []struct {
		method string
		params map[string]any
	}{
		{"Network.enable", nil},
		{"Network.setCacheDisabled", map[string]any{"cacheDisabled": true}},
		{"Page.enable", nil},
		{"Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script}},
		{"Emulation.setDeviceMetricsOverride", map[string]any{
			"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false,
		}},
		{"Emulation.setCPUThrottlingRate", map[string]any{"rate": paging.throttle}},
	} {
		if err == nil {
			err = tab.Command(command.method, command.params, nil)
		}
	}
	return err
}

// paintWatch keeps when what an expression finds was first painted, and how far what was there moved.
const paintWatch = `new MutationObserver((_, watch) => {
	if (!(%s)) return
	watch.disconnect()
	requestAnimationFrame(() => setTimeout(() => { window.shown = performance.now() }))
}).observe(document, { childList: true, subtree: true })
window.shift = 0
new PerformanceObserver((list) => {
	for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value
}).observe({ type: "layout-shift", buffered: true })
`

// growMatrix makes the prompts and platforms of a matrix more than the demo has, of its first cell.
const growMatrix = `
const send = fetch
window.fetch = async (url, init) => {
	const response = await send(url, init)
	if (!String(url).includes("/prompt-matrix")) return response
	const body = await response.json()
	body.columns = Array.from({ length: 6 }, (_, i) => ({ ...body.columns[0], key: "platform-" + i }))
	const [row] = body.rows
	const cells = body.columns.map(({ key }) => ({ ...row.cells[0], key }))
	body.rows = Array.from({ length: 200 }, (_, i) => (
		{ ...row, prompt_id: "p" + i, prompt_text: "prompt " + i, branded: false, topic_id: null, topic_name: null, cells }))
	body.next_cursor = null
	window.since = performance.now()
	return new Response(JSON.stringify(body), response)
}`

// repeat asks what an overview asks, and the same again.
func (d *dashboard) repeat(ctx context.Context, r *Result) error {
	at, client := &service{url: d.url}, newClient(1)
	defer client.CloseIdleConnections()
	var first, again []time.Duration
	for _, q := range questions(paging.questions, d.brands, asking.days, paging.window) {
		for _, path := range []string{"visibility-summary", "visibility-trend", "competitor-comparison"} {
			for i := range 1 + paging.again {
				begin := time.Now()
				if err := at.ask(ctx, client, api+path, q, io.Discard); err != nil {
					return err
				}
				if took := time.Since(begin); i == 0 {
					first = append(first, took)
				} else {
					again = append(again, took)
				}
			}
		}
	}
	slices.Sort(first)
	slices.Sort(again)
	r.Figures["repeated_p95_ms"], r.Ceilings["first_p95_ms"] = percentile(again, 95), percentile(first, 95)
	r.Ratios["repeated"] = percentile(again, 95) / percentile(first, 95)
	r.Lines = append(r.Lines, fmt.Sprintf("%-16s %8.1f ms (p95) for what an overview asks; %.1f the first time", "repeated", percentile(again, 95), percentile(first, 95)))
	return nil
}
