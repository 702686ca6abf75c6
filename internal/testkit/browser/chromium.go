package browser

import (
	"errors"
	"regexp"
	"strings"
)

// devtools is Chromium's protocol, https://chromedevtools.github.io/devtools-protocol.
type devtools struct{}

func (*devtools) start(dir, proxy string, secure []string) []string {
	arguments := []string{
		"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--mute-audio",
		"--remote-debugging-port=0", "--user-data-dir=" + dir,
		"--disable-component-update", "--disable-background-networking", "--disable-sync",
		// The omnibox's popups are pages of their own, half a second of work for each storage.
		"--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
		"--disable-software-rasterizer", "--no-startup-window", // nobody looks
		"--disable-blink-features=AutomationControlled", // navigator.webdriver is false, as where a person is
		"--unsafely-treat-insecure-origin-as-secure=" + strings.Join(secure, ","),
	}
	if proxy != "" {
		arguments = append(arguments, "--proxy-server=http://"+proxy, "--proxy-bypass-list=<-loopback>")
	}
	return arguments
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

// press is a real key press; the keys of writing have a text.
func (d *devtools) press(c *conn, page string, k key) error {
	_, session, _ := strings.Cut(page, " ")
	event := props{"type": "keyDown", "key": k.name, "code": k.name, "windowsVirtualKeyCode": k.code}
	switch k.name {
	case "Enter":
		event["text"] = "\r"
	case "Space":
		event["key"], event["text"] = " ", " "
	}
	if err := c.call(session, "Input.dispatchKeyEvent", event, nil); err != nil {
		return err
	}
	delete(event, "text")
	event["type"] = "keyUp"
	return c.call(session, "Input.dispatchKeyEvent", event, nil)
}

func (*devtools) insert(c *conn, page, text string) error {
	_, session, _ := strings.Cut(page, " ")
	return c.call(session, "Input.insertText", props{"text": text}, nil)
}

// Command sends a command of Chromium's protocol for a page, and reads its result into value; nil wants none.
func (p *Page) Command(method string, params map[string]any, value any) error {
	_, session, _ := strings.Cut(p.id, " ")
	return p.browser.conn.call(session, method, params, value)
}

// Screenshot is a picture of the whole page, as PNG, in Chromium.
func (p *Page) Screenshot() ([]byte, error) {
	var shot struct{ Data []byte }
	err := p.Command("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
	return shot.Data, err
}

// Show gives a page a size and a colour scheme, light or dark, and no motion, in Chromium.
func (p *Page) Show(width, height int, scheme string) error {
	err := p.Command("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	if err != nil {
		return err
	}
	return p.Command("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"},
	}}, nil)
}
