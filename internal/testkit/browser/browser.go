// Package browser drives real browsers for tests: Debian's Chromium by its DevTools protocol, Firefox by WebDriver
// BiDi. Both are JSON over a WebSocket, and a test needs four of their commands, so that there is no library between.
//
// A browser reaches the network only through a proxy of the test, which answers for every host.
package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Kinds are the browsers that tests are run in.
var Kinds = []string{"chromium", "firefox"}

// timeout is for every single step of a browser: on two busy cores seconds are normal.
const timeout = time.Minute

// A Browser is one process without a window.
type Browser struct {
	Kind string // of Kinds

	conn     *conn
	protocol protocol
}

// A Page is a tab, with a storage that no other page of the test shares.
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
	close(c *conn, page string) error
}

// Start starts a browser of a kind, which ends with the test. Every request of its pages goes to the proxy,
// host:port. Chromium lets pages of the secure origins do what takes TLS elsewhere, such as prerendering another one.
func Start(t testing.TB, kind, proxy string, secure ...string) *Browser {
	t.Helper()
	var p protocol
	var command string
	switch kind {
	case "chromium":
		command, p = find(t, "chromium", "chromium-browser", "google-chrome"), &devtools{}
	case "firefox":
		command, p = find(t, "firefox-esr", "firefox"), &bidi{}
	default:
		t.Fatalf("no browser is called %s", kind)
	}
	dir, err := os.MkdirTemp("", "answerscope-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a browser's last process may still write there
	address := launch(t, command, p, p.start(dir, proxy, secure), dir)
	c, err := dial(address)
	if err != nil {
		t.Fatalf("connect to %s: %v", kind, err)
	}
	t.Cleanup(func() { _ = c.socket.CloseNow() }) // the browser is killed next
	if err := p.handshake(c); err != nil {
		t.Fatalf("shake hands with %s: %v", kind, err)
	}
	return &Browser{kind, c, p}
}

func find(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("%s is missing: make browsers installs it, or says how", names[0])
	return ""
}

// launch starts the command and returns the address that it listens on.
func launch(t testing.TB, command string, p protocol, arguments []string, dir string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, arguments...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "MOZ_CRASHREPORTER_DISABLE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it has processes of its own
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it has nothing to save
		_ = cmd.Wait()
	})
	line, path := p.listening()
	found, ended := make(chan string, 1), make(chan string, 1)
	go func() {
		var said strings.Builder
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if m := line.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1] + path
			}
			if said.Len() < 16<<10 {
				fmt.Fprintln(&said, lines.Text())
			}
		}
		ended <- said.String()
	}()
	select {
	case address := <-found:
		return address
	case said := <-ended:
		t.Fatalf("%s ended:\n%s", filepath.Base(command), said)
	case <-time.After(timeout):
		t.Fatalf("%s does not say where it listens", filepath.Base(command))
	}
	return ""
}

// Open opens a tab.
func (b *Browser) Open(t testing.TB) *Page {
	t.Helper()
	id, err := b.protocol.open(b.conn)
	if err != nil {
		t.Fatalf("open page: %v", err)
	}
	p := &Page{b, id}
	t.Cleanup(func() { _ = b.protocol.close(b.conn, p.id) }) // its browser may have ended
	return p
}

// Visit goes to an address, as one typed in, and returns once the page has loaded.
func (p *Page) Visit(t testing.TB, url string) {
	t.Helper()
	if err := p.browser.protocol.visit(p.browser.conn, p.id, url); err != nil {
		t.Fatalf("visit %s: %v", url, err)
	}
	p.Await(t, fmt.Sprintf(`document.readyState == "complete" && location.href.startsWith(%q)`, url))
}

// Eval evaluates an expression, of which a promise is awaited, and reads its value as JSON into value; nil wants none.
func (p *Page) Eval(t testing.TB, expression string, value any) {
	t.Helper()
	if err := p.eval(expression, value); err != nil {
		t.Fatalf("evaluate %s: %v", expression, err)
	}
}

func (p *Page) eval(expression string, value any) error {
	text, err := p.browser.protocol.eval(p.browser.conn, p.id, "Promise.resolve("+expression+").then((v) => JSON.stringify(v) || 'null')")
	if err != nil || value == nil {
		return err
	}
	return json.Unmarshal([]byte(text), value)
}

// Await waits until an expression is true. Between two pages it cannot be evaluated.
func (p *Page) Await(t testing.TB, expression string) {
	t.Helper()
	limit := time.After(timeout)
	for {
		var holds bool
		err := p.eval("!!("+expression+")", &holds)
		if err == nil && holds {
			return
		}
		select {
		case <-limit:
			var at any
			_ = p.eval("[location.href, document.readyState, document.title]", &at)
			t.Fatalf("waited for %s on %v: %v", expression, at, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
