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
//   - the script, in bytes as gzip sends them;
//   - how long after its address was entered an overview shows its chart, with nothing cached and the processor slowed
//     down: on the demo's data, 30 days, and over 10 M answers (those of query), 90 days. No two looks are at the same
//     figures;
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
	bytes, err := demo.scriptBytes(ctx)
	if err != nil {
		return err
	}
	r.Figures["script_bytes"] = float64(bytes)
	r.Lines = append(r.Lines, fmt.Sprintf("%-16s %8d bytes gzipped", "script", bytes))
	o.Progress("  the demo's overview")
	if err := demo.measure(ctx, chromium, r, "demo"); err != nil {
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
	return large.repeat(ctx, r)
}

// measure looks at the overviews of a site.
func (d *dashboard) measure(ctx context.Context, chromium *browser.Browser, r *Result, name string) error {
	tab, err := chromium.Open()
	if err != nil {
		return err
	}
	defer tab.Close()
	if err := d.signIn(ctx, tab); err != nil {
		return err
	}
	var took []time.Duration
	for i := range paging.looks {
		one, err := firstChart(ctx, tab, d.url+d.overview(i))
		if err != nil {
			return err
		}
		took = append(took, one)
	}
	slices.Sort(took)
	for _, p := range []int{50, 95} {
		r.Figures[fmt.Sprintf("%s_chart_p%d_ms", name, p)] = percentile(took, float64(p))
	}
	r.Lines = append(r.Lines, fmt.Sprintf("%-16s %8.0f ms to the first chart at %d× throttle (p50), %.0f (p95)", name,
		percentile(took, 50), paging.throttle, percentile(took, 95)))
	return nil
}

// signIn gives a tab the session of the site's user, and slows it down.
func (d *dashboard) signIn(ctx context.Context, tab *browser.Page) error {
	if err := tab.Visit(ctx, d.url+"/signin"); err != nil {
		return err
	}
	var status int
	err := tab.Eval(fmt.Sprintf(`fetch("/app/api/session", { method: "POST", headers: { "X-Answerscope": "1" }, body: JSON.stringify({ email: %q, password: %q }) }).then((r) => r.status)`, d.email, d.password), &status)
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
		{"Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": chartWatch}},
		{"Emulation.setDeviceMetricsOverride", map[string]any{"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false}},
		{"Emulation.setCPUThrottlingRate", map[string]any{"rate": paging.throttle}},
	} {
		if err == nil {
			err = tab.Command(command.method, command.params, nil)
		}
	}
	return err
}

// chartWatch keeps when the trend's curve was first painted.
const chartWatch = `new MutationObserver((_, watch) => {
	if (!document.querySelector('figure[aria-label="Visibility trend"] .curve[d]')) return
	watch.disconnect()
	requestAnimationFrame(() => setTimeout(() => { window.charted = performance.now() }))
}).observe(document, { childList: true, subtree: true })`

// firstChart is how long after a navigation began its chart was painted.
func firstChart(ctx context.Context, tab *browser.Page, url string) (time.Duration, error) {
	err := tab.Visit(ctx, url)
	if err == nil {
		err = tab.Await(ctx, "window.charted")
	}
	var ms float64
	if err == nil {
		err = tab.Eval("window.charted", &ms)
	}
	return time.Duration(ms * float64(time.Millisecond)), err
}

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
