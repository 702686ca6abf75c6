// Package browser drives real browsers, for tests, benches and the pictures of the documentation: Chromium by its
// DevTools protocol, Firefox by WebDriver BiDi. Both are JSON over a WebSocket, and a handful of their commands is all
// that is needed, so that there is no library between.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"
)

// Kinds are the browsers that there are drivers for.
var Kinds = []string{"chromium", "firefox"}

// timeout is for every single step of a browser: on two busy cores seconds are normal.
const timeout = 3 * time.Minute

// Await evaluates its expression after these pauses, each longer than the one before: what takes long needs the
// processor itself.
const minPause, maxPause = 10 * time.Millisecond, 100 * time.Millisecond

// A Browser is one process without a window.
type Browser struct {
	Kind string // of Kinds

	dir      string
	process  *exec.Cmd
	conn     *conn
	protocol protocol
}

// A Page is a tab, with a storage that no other page shares.
type Page struct {
	browser *Browser
	id      string // of the protocol
}

// A protocol drives one kind of browser.
type protocol interface {
	start(dir, proxy string, secure []string) []string // arguments of the command
	listening() (line *regexp.Regexp, path string)     // of stderr, with the address; and what is appended to that
	handshake(c *conn) error
	open(c *conn) (page string, err error)
	visit(c *conn, page, url string) error
	eval(c *conn, page, expression string) (string, error)
	press(c *conn, page string, key key) error
	insert(c *conn, page, text string) error
	close(c *conn, page string) error
}

// Start starts a browser of a kind. Every request of its pages goes to the proxy, host:port; "" is none. Chromium lets
// pages of the secure origins do what takes TLS elsewhere, such as prerendering another one.
func Start(ctx context.Context, kind, proxy string, secure ...string) (_ *Browser, err error) {
	b := &Browser{Kind: kind}
	var command string
	switch kind {
	case "chromium":
		b.protocol = &devtools{}
		command, err = find("chromium", "chromium-browser", "google-chrome")
	case "firefox":
		b.protocol = &bidi{}
		command, err = find("firefox-esr", "firefox")
	default:
		return nil, fmt.Errorf("no browser is called %s", kind)
	}
	if err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "answerscope-browser-"); err != nil {
		return nil, fmt.Errorf("make the browser's directory: %w", err)
	}
	if err := b.connect(ctx, command, b.protocol.start(b.dir, proxy, secure)); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// find returns the path of the first command that there is.
func find(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is missing: `make browsers` installs it; on Debian so does apt-get install %[1]s", names[0])
}

func (b *Browser) connect(ctx context.Context, command string, arguments []string) error {
	address, err := b.launch(ctx, command, arguments)
	if err != nil {
		return err
	}
	if b.conn, err = dial(address); err != nil {
		return fmt.Errorf("connect to %s: %w", b.Kind, err)
	}
	if err := b.protocol.handshake(b.conn); err != nil {
		return fmt.Errorf("shake hands with %s: %w", b.Kind, err)
	}
	return nil
}

// Close ends the browser, which has nothing to save.
func (b *Browser) Close() {
	if b.conn != nil {
		_ = b.conn.socket.CloseNow() // the browser is killed next
	}
	if b.process != nil {
		_ = syscall.Kill(-b.process.Process.Pid, syscall.SIGKILL)
		_ = b.process.Wait()
	}
	_ = os.RemoveAll(b.dir) // its last process may still write there
}

// Open opens a tab.
func (b *Browser) Open() (*Page, error) {
	id, err := b.protocol.open(b.conn)
	if err != nil {
		return nil, fmt.Errorf("open page: %w", err)
	}
	return &Page{b, id}, nil
}

// Close closes the tab.
func (p *Page) Close() { _ = p.browser.protocol.close(p.browser.conn, p.id) } // its browser may have ended

// Visit goes to an address, as one typed in, and returns once the page has loaded.
func (p *Page) Visit(ctx context.Context, url string) error {
	if err := p.browser.protocol.visit(p.browser.conn, p.id, url); err != nil {
		return fmt.Errorf("visit %s: %w", url, err)
	}
	return p.Await(ctx, fmt.Sprintf(`document.readyState == "complete" && location.href.startsWith(%q)`, url))
}

// Eval evaluates an expression, of which a promise is awaited, and reads its value as JSON into value; nil wants none.
func (p *Page) Eval(expression string, value any) error {
	text, err := p.browser.protocol.eval(p.browser.conn, p.id, "Promise.resolve("+expression+").then((v) => JSON.stringify(v) || 'null')")
	if err == nil && value != nil {
		err = json.Unmarshal([]byte(text), value)
	}
	if err != nil {
		return fmt.Errorf("evaluate %s: %w", expression, err)
	}
	return nil
}

// Await waits until an expression is true. Between two pages it cannot be evaluated.
func (p *Page) Await(ctx context.Context, expression string) error {
	limit := time.After(timeout)
	for pause := minPause; ; pause = min(pause*3/2, maxPause) {
		var holds bool
		err := p.Eval("!!("+expression+")", &holds)
		if err == nil && holds {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit:
			var at any
			_ = p.Eval("[location.href, document.readyState, document.title, (document.querySelector('dialog') ?? document.querySelector('main') ?? document.body)?.innerText.slice(0, 2000)]", &at)
			return errors.Join(fmt.Errorf("waited for %s on %v", expression, at), err)
		case <-time.After(pause):
		}
	}
}

// A key is one that writes nothing.
type key struct {
	name string
	code int    // of Windows, which Chromium wants
	bidi string // what WebDriver calls it
}

var keys = []key{
	{"Tab", 9, "\uE004"}, {"Enter", 13, "\uE007"}, {"Escape", 27, "\uE00C"}, {"Space", 32, " "}, {"End", 35, "\uE010"}, {"Home", 36, "\uE011"},
	{"ArrowLeft", 37, "\uE012"}, {"ArrowUp", 38, "\uE013"}, {"ArrowRight", 39, "\uE014"}, {"ArrowDown", 40, "\uE015"},
}

// Press presses a key that writes nothing, such as Tab, Enter or ArrowLeft.
func (p *Page) Press(name string) error {
	for _, k := range keys {
		if k.name == name {
			return p.browser.protocol.press(p.browser.conn, p.id, k)
		}
	}
	return fmt.Errorf("no key is called %s", name)
}

// Insert writes a text into what has the focus.
func (p *Page) Insert(text string) error {
	return p.browser.protocol.insert(p.browser.conn, p.id, text)
}
