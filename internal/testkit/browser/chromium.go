package browser

import (
	"errors"
	"regexp"
	"strings"
)

// devtools is Chromium's protocol, https://chromedevtools.github.io/devtools-protocol.
type devtools struct{}

func (*devtools) start(dir, proxy string, secure []string) []string {
	return []string{
		"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--mute-audio",
		"--remote-debugging-port=0", "--user-data-dir=" + dir, "--proxy-server=http://" + proxy, "--proxy-bypass-list=<-loopback>",
		"--disable-component-update", "--disable-background-networking", "--disable-sync",
		"--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
		"--disable-blink-features=AutomationControlled", // navigator.webdriver is false, as where a person is
		"--unsafely-treat-insecure-origin-as-secure=" + strings.Join(secure, ","),
		"about:blank",
	}
}

func (*devtools) listening() (line *regexp.Regexp, path string) {
	return regexp.MustCompile(`^DevTools listening on (ws://\S+)`), ""
}

func (*devtools) handshake(*conn) error { return nil }

// open returns "target session".
func (*devtools) open(c *conn) (string, error) {
	var context struct{ BrowserContextID string }
	if err := c.call("", "Target.createBrowserContext", props{"disposeOnDetach": true}, &context); err != nil {
		return "", err
	}
	var target struct{ TargetID string }
	err := c.call("", "Target.createTarget", props{"url": "about:blank", "browserContextId": context.BrowserContextID}, &target)
	if err != nil {
		return "", err
	}
	var attached struct{ SessionID string }
	err = c.call("", "Target.attachToTarget", props{"targetId": target.TargetID, "flatten": true}, &attached)
	return target.TargetID + " " + attached.SessionID, err
}

func (*devtools) visit(c *conn, page, url string) error {
	_, session, _ := strings.Cut(page, " ")
	var went struct{ ErrorText string }
	if err := c.call(session, "Page.navigate", props{"url": url}, &went); err != nil {
		return err
	}
	if went.ErrorText != "" {
		return errors.New(went.ErrorText)
	}
	return nil
}

func (*devtools) eval(c *conn, page, expression string) (string, error) {
	_, session, _ := strings.Cut(page, " ")
	return c.evaluate(session, "Runtime.evaluate",
		props{"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true})
}

func (*devtools) close(c *conn, page string) error {
	target, _, _ := strings.Cut(page, " ")
	return c.call("", "Target.closeTarget", props{"targetId": target}, nil)
}
