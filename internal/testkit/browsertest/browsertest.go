// Package browsertest starts real browsers for tests: each ends with its test, and the test fails where the browser
// does. A browser reaches the network only through a proxy of the test, which answers for every host.
package browsertest

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/browser"
)

// A Browser is one process without a window.
type Browser struct{ *browser.Browser }

// A Page is a tab, with a storage that no other page of the test shares.
type Page struct{ page *browser.Page }

// Start starts a browser of a kind, which ends with the test. Every request of its pages goes to the proxy, host:port.
// Chromium lets pages of the secure origins do what takes TLS elsewhere, such as prerendering another one.
func Start(t testing.TB, kind, proxy string, secure ...string) *Browser {
	t.Helper()
	b, err := browser.Start(t.Context(), kind, proxy, secure...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return &Browser{b}
}

// Open opens a tab.
func (b *Browser) Open(t testing.TB) *Page {
	t.Helper()
	p, err := b.Browser.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return &Page{p}
}

// Visit goes to an address, as one typed in, and returns once the page has loaded.
func (p *Page) Visit(t testing.TB, url string) {
	t.Helper()
	if err := p.page.Visit(t.Context(), url); err != nil {
		t.Fatal(err)
	}
}

// Eval evaluates an expression, of which a promise is awaited, and reads its value as JSON into value; nil wants none.
func (p *Page) Eval(t testing.TB, expression string, value any) {
	t.Helper()
	if err := p.page.Eval(expression, value); err != nil {
		t.Fatal(err)
	}
}

// Await waits until an expression is true. Between two pages it cannot be evaluated.
func (p *Page) Await(t testing.TB, expression string) {
	t.Helper()
	if err := p.page.Await(t.Context(), expression); err != nil {
		t.Fatal(err)
	}
}

// Press presses a key that writes nothing, such as Tab, Enter or ArrowLeft.
func (p *Page) Press(t testing.TB, key string) {
	t.Helper()
	if err := p.page.Press(key); err != nil {
		t.Fatalf("press %s: %v", key, err)
	}
}

// Insert writes a text into what has the focus.
func (p *Page) Insert(t testing.TB, text string) {
	t.Helper()
	if err := p.page.Insert(text); err != nil {
		t.Fatalf("write %q: %v", text, err)
	}
}

// Command sends a command of Chromium's protocol for a page, and reads its result into value; nil wants none.
func (p *Page) Command(t testing.TB, method string, params map[string]any, value any) {
	t.Helper()
	if err := p.page.Command(method, params, value); err != nil {
		t.Fatal(err)
	}
}

// Show gives a page a size and a colour scheme, light or dark, and no motion, in Chromium.
func (p *Page) Show(t testing.TB, width, height int, scheme string) {
	t.Helper()
	if err := p.page.Show(width, height, scheme); err != nil {
		t.Fatal(err)
	}
}
