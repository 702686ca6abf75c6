package browser

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// bidi is WebDriver BiDi, https://w3c.github.io/webdriver-bidi.
type bidi struct{ profile error }

func (b *bidi) start(dir, proxy string, _ []string) []string {
	settings := `user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("dom.security.https_first", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.safebrowsing.update.enabled", false);
user_pref("extensions.update.enabled", false);
`
	if host, port, ok := strings.Cut(proxy, ":"); ok {
		settings += `user_pref("network.proxy.type", 1);
user_pref("network.proxy.http", "` + host + `");
user_pref("network.proxy.http_port", ` + port + `);
user_pref("network.proxy.ssl", "` + host + `");
user_pref("network.proxy.ssl_port", ` + port + `);
`
	}
	b.profile = os.WriteFile(filepath.Join(dir, "user.js"), []byte(settings), 0o644)
	return []string{"--headless", "--no-remote", "--profile", dir, "--remote-debugging-port=0", "about:blank"}
}

func (*bidi) listening() (line *regexp.Regexp, path string) {
	return regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)`), "/session"
}

func (b *bidi) handshake(c *conn) error {
	if b.profile != nil {
		return b.profile
	}
	if err := c.call("", "session.new", props{"capabilities": props{}}, nil); err != nil {
		return err
	}
	// As where a person is, before any script of a page.
	return c.call("", "script.addPreloadScript", props{"functionDeclaration": `() => Object.defineProperty(Navigator.prototype, "webdriver", { get: () => false, configurable: true })`}, nil)
}

func (*bidi) open(c *conn) (string, error) {
	var user struct{ UserContext string }
	if err := c.call("", "browser.createUserContext", props{}, &user); err != nil {
		return "", err
	}
	var tab struct{ Context string }
	err := c.call("", "browsingContext.create", props{"type": "tab", "userContext": user.UserContext}, &tab)
	return tab.Context, err
}

func (*bidi) visit(c *conn, page, url string) error {
	return c.call("", "browsingContext.navigate", props{"context": page, "url": url, "wait": "complete"}, nil)
}

func (*bidi) eval(c *conn, page, expression string) (string, error) {
	return c.evaluate("", "script.evaluate",
		props{"expression": expression, "target": props{"context": page}, "awaitPromise": true, "userActivation": true})
}

func (*bidi) press(c *conn, page string, k key) error { return typed(c, page, []string{k.bidi}) }

// insert types a text, a letter after the other.
func (*bidi) insert(c *conn, page, text string) error { return typed(c, page, strings.Split(text, "")) }

func typed(c *conn, page string, keys []string) error {
	var actions []props
	for _, k := range keys {
		actions = append(actions, props{"type": "keyDown", "value": k}, props{"type": "keyUp", "value": k})
	}
	return c.call("", "input.performActions", props{"context": page, "actions": []props{{"type": "key", "id": "keyboard", "actions": actions}}}, nil)
}

func (*bidi) close(c *conn, page string) error {
	return c.call("", "browsingContext.close", props{"context": page}, nil)
}
